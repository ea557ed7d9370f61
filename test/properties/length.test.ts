import { describe, expect, it } from 'vitest';
import { READERS, textOf } from './readers.js';

/** Made once for all readers: to make one of them takes longer than most readers do. */
const texts = new Map<string, string>();

function longText(piece: Parameters<typeof textOf>[0]): string {
  const text = texts.get(piece) ?? textOf(piece, 17_000_000);
  texts.set(piece, text);
  return text;
}

describe.each(Object.keys(READERS))('%s', (name) => {
  it.each(['zero-width', 'wide blank', 'emoji', 'digit'] as const)(
    'overflows no stack: %s',
    { timeout: 60_000 },
    (piece) => {
      expect(() => READERS[name]!(longText(piece))).not.toThrow();
    },
  );
});
