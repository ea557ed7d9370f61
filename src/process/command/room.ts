import { firstOf } from './outputCollector.js';

/** Commands of this process that run. What they take of descriptors and processes comes back. */
let running = 0;

/** Starts that the system had no room for, those that waited longest first. Each is called when it may try again. */
const waiting: (() => void)[] = [];

/** Counts a command that runs, until `leaveRoom`. */
export function enterRoom(): void {
  running += 1;
}

/** Says that a command has ended and let go of its pipes. */
export function leaveRoom(): void {
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
 * @param giveUp ends it, with `enterRoom` before and `leaveRoom` after
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
 * Starts a command, which runs until `leaveRoom`. Where the system has no descriptors, processes or memory left for it,
 * while commands of this process have some, it is tried again as they end.
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
  try {
    for (;;) {
      enterRoom();
      try {
        return await start();
      } catch (error) {
        running -= 1;
        const mayHelp =
          isOutOfRoom(error) && (makeRoom() || giveUpIdle() || (await untilOneEnds(patience)));
        if (!mayHelp) throw error;
      }
    }
  } finally {
    if (waiting.length > 0) setImmediate(letNextTry);
  }
}

function isOutOfRoom(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return SHORTAGES.has(code);
}

const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/** Says whether one has ended, as opposed to the patience. */
async function untilOneEnds({ until, signal }: Patience): Promise<boolean> {
  if (running === 0) return false;
  let tryAgain: () => void = letNextTry;
  const hasRoom = new Promise<void>((resolve) => waiting.push((tryAgain = resolve)));
  const timeoutMs = Math.max(0, until - performance.now());
  const interruption = await firstOf(hasRoom, { timeoutMs, signal });
  const index = waiting.indexOf(tryAgain);
  if (index >= 0) waiting.splice(index, 1);
  return interruption === undefined;
}
