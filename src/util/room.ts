import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Descriptors that must be free before a start. Three pipes and the channel on which a failed `exec` is
 * reported take eight; past that Node emits an error that nobody can catch.
 */
const DESCRIPTOR_HEADROOM = 10;

/**
 * Makes sure that a child can be started without running out of file descriptors half-way.
 *
 * @throws the system's error (EMFILE or ENFILE) when there are too few
 */
export function assertDescriptorHeadroom(): void {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < DESCRIPTOR_HEADROOM) descriptors.push(openSync(devNull, 'r'));
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/**
 * Loads a module at the first call. Only while there are descriptors for it, since Node keeps a load that failed for
 * the rest of the process; so the next call tries again.
 *
 * @returns what loads it; rejects with the system's error (EMFILE or ENFILE) when there are too few descriptors
 */
export function onDemand<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return async () => {
    if (!loading) {
      assertDescriptorHeadroom();
      loading = load();
      loading.catch(() => (loading = undefined));
    }
    return loading;
  };
}

/** How long to wait for others to close their files, in ms. */
const SHORTAGE_LIMIT_MS = 1000;
const SHORTAGE_PAUSE_MS = 20;

/** Does what needs a descriptor; while there is none, again and again for a second. */
export async function waitForDescriptors<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + SHORTAGE_LIMIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isShortage(error) || performance.now() >= deadline) throw error;
      await sleep(SHORTAGE_PAUSE_MS);
    }
  }
}

/** Whether an error says that there are no descriptors left. */
export function isShortage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EMFILE' || code === 'ENFILE';
}

/** Commands of this host that run. What they take of descriptors and processes comes back. */
let running = 0;

/** Starts that the system had no room for, those that waited longest first. Each is called when it may try again. */
const waiting: (() => void)[] = [];

/** Notes that a command runs that was started ahead, or is about to end. */
export function noteStart(): void {
  running += 1;
}

/** Notes that a command has ended and let go of its pipes. */
export function noteEnd(): void {
  running -= 1;
  letNextTry();
}

/** Lets whoever waited longest try again, because there may be room. */
export function letNextTry(): void {
  waiting.shift()?.();
}

/** What ends something that only waits for its next use, and says whether there was any. */
type GiveUp = () => boolean;

const idle = new Set<GiveUp>();

/**
 * Offers the room of something that takes some while it waits for its next use.
 *
 * @param giveUp ends it, with `noteStart` before and `noteEnd` after
 * @returns what takes the offer back
 */
export function offerRoom(giveUp: GiveUp): () => void {
  idle.add(giveUp);
  return () => idle.delete(giveUp);
}

function giveUpIdle(): boolean {
  return [...idle].filter((giveUp) => giveUp()).length > 0;
}

/** Whether a command waits for room, so that nothing is to be started ahead. */
export function isShortOfRoom(): boolean {
  return waiting.length > 0;
}

/** What ends the waiting for room. */
export interface Patience {
  /** A time of `performance.now()`. */
  readonly until: number;
  readonly signal?: AbortSignal;
}

/**
 * Starts a command, which runs until `noteEnd`. Where the system has no descriptors, processes or memory left for it,
 * while commands of this host have some, it is tried again as they end.
 *
 * It counts before it is known whether it succeeds, as others that are started in this instant have to know. In the end
 * one that waits may try: there may be room for more than one, and where there is none, nobody is left waiting.
 *
 * @param makeRoom called first: lets go of what is only kept ready, and says whether there was any. Then what has offered
 *   its room is given up
 * @throws what `start` throws, once waiting is of no use, or its time is over
 */
export async function startWithRoom<T>(
  start: () => Promise<T>,
  makeRoom: () => boolean,
  patience: Patience,
): Promise<T> {
  running += 1;
  try {
    return await start();
  } catch (error) {
    running -= 1;
    return await startAgain(error, start, makeRoom, patience);
  } finally {
    if (waiting.length > 0) setImmediate(letNextTry);
  }
}

async function startAgain<T>(
  error: unknown,
  start: () => Promise<T>,
  makeRoom: () => boolean,
  patience: Patience,
): Promise<T> {
  for (let latest = error; ;) {
    const mayHelp =
      isOutOfRoom(latest) && (makeRoom() || giveUpIdle() || (await untilOneEnds(patience)));
    if (!mayHelp) throw latest;
    running += 1;
    try {
      return await start();
    } catch (again) {
      running -= 1;
      latest = again;
    }
  }
}

function isOutOfRoom(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && SHORTAGES.has(code);
}

const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/** Says whether one has ended, as opposed to the patience. */
async function untilOneEnds({ until, signal }: Patience): Promise<boolean> {
  if (running === 0) return false;
  return new Promise((resolve) => {
    const settle = (hasEnded: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      const index = waiting.indexOf(tryAgain);
      if (index >= 0) waiting.splice(index, 1);
      resolve(hasEnded);
    };
    const tryAgain = () => settle(true);
    const giveUp = () => settle(false);
    const timer = setTimeout(giveUp, Math.max(0, until - performance.now()));
    signal?.addEventListener('abort', giveUp, { once: true });
    waiting.push(tryAgain);
    if (signal?.aborted) giveUp();
  });
}
