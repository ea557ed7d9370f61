/** Levels below which a value is left out. */
const MAX_DEPTH = 60;

/**
 * A copy of a value as JSON would have it, whatever it holds: what is cyclic or nested too deeply is replaced by a
 * word.
 *
 * @param write what becomes of each text in it
 */
export function plainCopy(value: unknown, write: (text: string) => string): unknown {
  return copy(value, { write, above: [] });
}

interface Place {
  readonly write: (text: string) => string;
  /** The objects that the value is in. */
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
  // Defines keys and assigns none, so that `__proto__` is a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [write(key), copy(item, place)]),
  );
}
