import { inspect } from 'node:util';
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from './limits.js';

/**
 * Makes a usable deadline of the `timeout` in a hook's settings.
 *
 * @param value what the settings hold: a finite number above 0, in ms, or `undefined` for the default
 * @param defaultMs what counts where they say nothing
 * @returns `timeoutMs`, at most 2^31 - 1, which is the default for anything unusable; and then `problem`, a
 *   sentence for a warning
 */
export function normalizeTimeout(
  value: unknown,
  defaultMs = DEFAULT_TIMEOUT_MS,
): { timeoutMs: number; problem?: string } {
  if (value === undefined) return { timeoutMs: defaultMs };
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) {
    return { timeoutMs: Math.min(value, MAX_TIMEOUT_MS) };
  }
  return {
    timeoutMs: defaultMs,
    problem:
      `timeout is ${inspect(value, INSPECT_BRIEFLY)}, and ${defaultMs} ms are used instead: ` +
      'write a number of milliseconds above 0',
  };
}

const INSPECT_BRIEFLY = { depth: 0, breakLength: Infinity, maxStringLength: 40, maxArrayLength: 3 };
