import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { readText } from '../../src/util/guardedRead.js';
import type { Scenario } from './types.js';

/** Ms within which what ends with a turn is to have ended. */
const END_MS = 5_000;

/** The end of a turn from outside, once something has begun. */
export class Abortion {
  readonly #controller = new AbortController();
  readonly #when: Scenario['aborts'];
  abortedAt: number | undefined;
  wasTold = false;

  constructor(when: Scenario['aborts']) {
    this.#when = when;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begun(what: NonNullable<Scenario['aborts']>): void {
    if (what !== this.#when || this.signal.aborted) return;
    this.abortedAt = performance.now();
    this.#controller.abort();
  }

  /** Something is at work, with the signal that the host gave it, and notices the end of the turn. */
  async work(what: NonNullable<Scenario['aborts']>, given?: AbortSignal): Promise<void> {
    if (what !== this.#when) return;
    // The host is to be busy with it.
    await sleep(1);
    if (what !== 'stream') this.begun(what);
    const limit = AbortSignal.timeout(END_MS);
    const either = AbortSignal.any([given ?? this.signal, limit]);
    if (!either.aborted) await once(either, 'abort');
    this.wasTold = given?.aborted ?? false;
  }
}

/** Whether the process that is named in a file still runs when it should have ended long since. */
export async function outlives(file: string): Promise<boolean> {
  const pid = Number(await readText(file).catch(() => undefined));
  if (!(pid > 0)) return false;
  const limit = performance.now() + END_MS;
  while (isRunning(pid)) {
    if (performance.now() > limit) return true;
    await sleep(10);
  }
  return false;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
