import { setImmediate } from 'node:timers/promises';

/** Waits for `event`, at most `ms`; says whether it came in time. */
export async function settlesWithin(event: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      event.then(() => true),
      new Promise<false>((resolve) => {
        timer = setTimeout(resolve, ms, false);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Lets reads and exits through that have happened but were not yet reported. On a host that was busy, a
 * timer fires before them, however long ago they were.
 */
export async function letPendingEventsThrough(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
