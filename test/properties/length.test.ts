import { describe, expect, it } from 'vitest';
import { READERS, textOf } from './readers.js';

describe.each(Object.keys(READERS))('%s', (name) => {
  it.each(['zero-width', 'wide blank', 'emoji', 'digit'] as const)(
    'overflows no stack: %s',
    { timeout: 60_000 },
    (piece) => {
      expect(() => READERS[name]!(textOf(piece, 17_000_000))).not.toThrow();
    },
  );
});
