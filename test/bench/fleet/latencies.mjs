import { formatAmount } from '../report.mjs';

/**
 * @param {readonly number[]} latencies in ms
 * @returns {[string, string]} the median, and what 99 of 100 take at most
 */
export function formatLatency(latencies) {
  const sorted = Float64Array.from(latencies).toSorted();
  const at = (fraction) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))];
  return [formatAmount(at(0.5), 'ms'), formatAmount(at(0.99), 'ms')];
}
