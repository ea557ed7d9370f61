/**
 * What a promise comes to, but no longer than some time after a signal: code that does not heed the signal may wait for
 * what never comes.
 *
 * @throws the reason of the signal, once the time is over
 */
export async function notLongAfter<T>(
  signal: AbortSignal,
  ms: number,
  work: Promise<T>,
): Promise<T> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const wait = () => {
      timer = setTimeout(() => reject(signal.reason as Error), ms);
    };
    if (signal.aborted) wait();
    else signal.addEventListener('abort', wait, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
