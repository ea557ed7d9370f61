import { describe, expect, it } from 'vitest';
import { PIECES, READERS, textOf } from './readers.js';

const pieces = Object.keys(PIECES) as (keyof typeof PIECES)[];

describe.each(Object.keys(READERS))('%s', (name) => {
  const read = READERS[name]!;

  it.each(pieces)('takes time in proportion to the length of its text: %s', (piece) => {
    const [short, long] = [50_000, 400_000].map((length) => timeFor(read, piece, length));
    // Eight times as long: 64 times as much would be quadratic. What takes no time at all is not compared.
    expect(long! / Math.max(short!, 2)).toBeLessThan(32);
  });
});

/** The best of three, in ms of the processor, of which other processes take nothing away. */
function timeFor(read: (text: string) => unknown, piece: keyof typeof PIECES, length: number) {
  const times = [1, 2, 3].map(() => {
    const text = textOf(piece, length);
    const before = process.cpuUsage();
    read(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
