/** Deeper values are left out. */
const MAX_DEPTH = 60;

/** As JSON would have it; cyclic or too deep values become a word. `write` changes each text, keys included. */
export function plainCopy(value: unknown, write: (text: string) => string): unknown {
  return copy(value, { write, above: [] });
}

interface Place {
  readonly write: (text: string) => string;
  readonly above: readonly object[];
}

function copy(value: unknown, { write, above }: Place): unknown {
  if (typeof value === 'string') return write(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[cyclic]';
  if (above.length >= MAX_DEPTH) return '[nested too deeply]';
  const place = { write, above: [...above, value] };
  if (Array.isArray(value)) return value.map((item) => copy(item, place));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  // Defines keys instead of assigning them, so that `__proto__` is a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [write(key), copy(item, place)]),
  );
}
