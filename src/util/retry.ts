import { setTimeout as sleep } from 'node:timers/promises';

export interface RetryOptions {
  /** Ms before each further attempt, asked for after a failure. Where there is none, that is thrown. */
  readonly pauses: Iterable<number>;
  /** Ends it: what it throws then is its reason. */
  readonly signal?: AbortSignal;
  /** Whether the process stays for the next attempt. Default true. */
  readonly ref?: boolean;
  /** Called with each failure that is not the last. What it throws ends it. */
  readonly onFailure?: (error: unknown) => void;
}

/** Does work until it succeeds, or has failed for the last time. */
export async function retry<T>(
  work: () => Promise<T>,
  { pauses, signal, ref = true, onFailure }: RetryOptions,
): Promise<T> {
  const each = pauses[Symbol.iterator]();
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      const pause = each.next();
      if (pause.done) throw error;
      onFailure?.(error);
      await sleep(pause.value, undefined, { signal, ref });
    }
  }
}

/** The same pause again and again. */
export function* every(ms: number): Generator<number, never> {
  for (;;) yield ms;
}
