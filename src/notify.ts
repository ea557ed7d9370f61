import type { DebugLogger } from './debugLogger.js';

/**
 * Tells an observer something. What it throws concerns nobody else: it is reported, and the work goes on.
 *
 * @param observer called with `told`; nothing happens where it is missing
 */
export function notify<T extends readonly unknown[]>(
  logger: DebugLogger,
  observer: ((...told: T) => void) | undefined,
  ...told: T
): void {
  try {
    observer?.(...told);
  } catch (error) {
    logger.warn('An observer failed; the work goes on', {
      error,
    });
  }
}
