import type { DebugLogger } from './debugLogger.js';

/** Calls an observer with `told`, and does not wait. What it throws, at once or later, is only logged. */
export function notify<T extends readonly unknown[]>(
  logger: DebugLogger,
  observer: ((...told: T) => unknown) | undefined,
  ...told: T
): void {
  const report = (error: unknown) => logger.warn('An observer failed; the work goes on', { error });
  try {
    const given = observer?.(...told);
    if (given !== undefined) Promise.resolve(given).catch(report);
  } catch (error) {
    report(error);
  }
}
