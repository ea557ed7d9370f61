import type { OutputCollector } from './outputCollector.js';
import { letPendingEventsThrough, settlesWithin } from './waiting.js';

/**
 * Reads what is left: until `ended` settles, `quietMs` pass without a byte, or `drainMs` are over.
 * A host that is too busy to read meanwhile does not count as silence.
 *
 * @param canEnd silence counts once it says so
 */
export async function drain(
  outputs: readonly OutputCollector[],
  ended: Promise<unknown>,
  { quietMs, drainMs }: { quietMs: number; drainMs: number },
  canEnd = () => true,
): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const now = performance.now();
    const quietSince = Math.max(startedAt, ...outputs.map((output) => output.lastReadAt));
    const quietUntil = Math.max(quietSince, canEnd() ? 0 : now) + quietMs;
    const remainingMs = Math.min(quietUntil, startedAt + drainMs) - now;
    if (remainingMs <= 0 || (await settlesWithin(ended, remainingMs))) return;
    await letPendingEventsThrough();
  }
}
