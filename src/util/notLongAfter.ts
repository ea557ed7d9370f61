import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What a promise comes to, but no longer than some time after a signal: code that ignores the signal may wait for what
 * never comes.
 *
 * @throws the reason of the signal, once the time is over
 */
export async function notLongAfter<T>(
  signal: AbortSignal,
  ms: number,
  work: Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = async (): Promise<never> => {
    if (!signal.aborted) await once(signal, 'abort', { signal: over.signal });
    await sleep(ms, undefined, { signal: over.signal });
    throw signal.reason as Error;
  };
  try {
    return await Promise.race([work, late()]);
  } finally {
    over.abort();
  }
}
