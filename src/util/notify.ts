import type { DebugLogger } from './debugLogger.js';

/**
 * Tells an observer something, and waits for nothing. What it throws, at once or later, concerns nobody else: it is
 * reported, and the work goes on.
 *
 * @param observer called with `told`; nothing happens where it is missing
 */
export function notify<T extends readonly unknown[]>(
  logger: DebugLogger,
  observer: ((...told: T) => unknown) | undefined,
  ...told: T
): void {
  const report = (error: unknown) =>
    logger.warn('An observer failed; the work goes on', {
      error,
    });
  try {
    const given = observer?.(...told);
    if (given !== undefined) Promise.resolve(given).catch(report);
  } catch (error) {
    report(error);
  }
}
