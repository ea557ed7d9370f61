/** Deeper values are left out. */
const MAX_DEPTH = 60;

/** As JSON would have it; cyclic or too deep values become a word. `write` changes each text, keys included. */
export function plainCopy(value: unknown, write: (text: string) => string): unknown {
  return copy(value, write, []);
}

/** @param above the objects that the value is in */
function copy(value: unknown, write: (text: string) => string, above: readonly object[]): unknown {
  if (typeof value === 'string') return write(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[cyclic]';
  if (above.length >= MAX_DEPTH) return '[nested too deeply]';
  const within = [...above, value];
  if (Array.isArray(value)) return value.map((item) => copy(item, write, within));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  // Defines keys instead of assigning them, so that `__proto__` is a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [write(key), copy(item, write, within)]),
  );
}
