import type { OutputCollector } from './outputCollector.js';
import { letPendingEventsThrough, settlesWithin } from './waiting.js';

/**
 * Reads what is left: until `ended` settles, `quietMs` pass without a byte, or `drainMs` are over.
 * A host that is too busy to read meanwhile does not count as silence.
 */
export async function drain(
  outputs: readonly OutputCollector[],
  ended: Promise<unknown>,
  { quietMs, drainMs }: { quietMs: number; drainMs: number },
): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const quietSince = Math.max(startedAt, ...outputs.map((output) => output.lastReadAt));
    const remainingMs = Math.min(quietSince + quietMs, startedAt + drainMs) - performance.now();
    if (remainingMs <= 0 || (await settlesWithin(ended, remainingMs))) return;
    await letPendingEventsThrough();
  }
}
