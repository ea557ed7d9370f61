/** A replacer for `JSON.stringify`, which would write NaN and Infinity as `null`. */
export function nameNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
