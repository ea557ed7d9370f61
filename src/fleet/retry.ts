import { setTimeout as sleep } from 'node:timers/promises';

export interface RetryOptions {
  /** Ms before each further attempt. After the last of them, a failure is thrown. */
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
  for (const pause of pauses) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      onFailure?.(error);
    }
    await sleep(pause, undefined, { signal, ref });
  }
  return work();
}

/** The same pause again and again. */
export function* every(ms: number): Generator<number, never> {
  for (;;) yield ms;
}
