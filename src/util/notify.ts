import type { DebugLogger } from './debugLogger.js';

/** Calls an observer, and does not wait for it. What it throws, at once or later, is only logged. */
export function notify<T extends readonly unknown[]>(
  logger: DebugLogger,
  observer: ((...facts: T) => unknown) | undefined,
  ...facts: T
): void {
  const report = (error: unknown) => logger.warn('An observer failed; the work goes on', { error });
  try {
    const given = observer?.(...facts);
    if (given !== undefined) Promise.resolve(given).catch(report);
  } catch (error) {
    report(error);
  }
}
