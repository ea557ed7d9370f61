import { describe, expect, it } from 'vitest';
import { diffValues } from '../../src/trace/diff.js';

const numbers = (first: number) => Array.from({ length: 1001 }, (_, index) => first + index);
const lines = (...items: readonly string[]) => items.join('\n');

describe('the difference of two values', () => {
  it.each<{ what: string; before: unknown; after: unknown; diff: string[] }>([
    { what: 'the same', before: { a: [1, { b: 2 }] }, after: { a: [1, { b: 2 }] }, diff: [] },
    {
      what: 'a changed field',
      before: { path: 'a', same: 1 },
      after: { path: 'b', same: 1 },
      diff: ['@@ it.path', '- a', '+ b'],
    },
    {
      what: 'a field that was added, and one that was removed',
      before: { old: true },
      after: { new: { deep: 1 } },
      diff: ['@@ it.old', '- true', '@@ it.new', '+ {"deep":1}'],
    },
    {
      what: 'an item that was put in between',
      before: { items: ['a', 'c'] },
      after: { items: ['a', 'b', 'c'] },
      diff: ['@@ it.items[1]', '+ b'],
    },
    {
      what: 'a line of a text, with two lines around it',
      before: lines('1', '2', '3', 'old', '5', '6', '7'),
      after: lines('1', '2', '3', 'new', '5', '6', '7'),
      diff: ['@@ it', '  2', '  3', '- old', '+ new', '  5', '  6'],
    },
    {
      what: 'an empty text that was added, and an end of a line',
      before: { a: 'x' },
      after: { a: 'x\n', b: '' },
      diff: ['@@ it.a', '  x', '+ ', '@@ it.b', '+ '],
    },
    {
      what: 'changes far apart in a text',
      before: lines('a', '2', '3', '4', '5', '6', 'b'),
      after: lines('A', '2', '3', '4', '5', '6', 'B'),
      diff: ['@@ it', '- a', '+ A', '  2', '  3', '@@ it', '  5', '  6', '- b', '+ B'],
    },
    {
      what: 'a value in place of one of another type',
      before: { a: [1] },
      after: { a: 'one' },
      diff: ['@@ it.a', '- [1]', '+ one'],
    },
    {
      what: 'keys that objects have by themselves',
      before: {},
      after: JSON.parse('{"__proto__":1,"toString":2}'),
      diff: ['@@ it.__proto__', '+ 1', '@@ it.toString', '+ 2'],
    },
  ])('is told for $what', ({ before, after, diff }) => {
    expect(diffValues('it', before, after)).toEqual(diff);
  });

  it('is told line by line where there are more places than somebody reads', () => {
    const items = diffValues('it', { some: numbers(0) }, { some: numbers(5000) });
    expect(items.filter((line) => line.startsWith('@@'))).toEqual(['@@ it.some']);
    expect(items).toContain('+   5000,');
    const fields = (value: number) =>
      Object.fromEntries(numbers(0).map((key) => [`k${key}`, value]));
    expect(diffValues('it', fields(1), { ...fields(1), k500: 2 })).toEqual([
      '@@ it',
      '    "k498": 1,',
      '    "k499": 1,',
      '-   "k500": 1,',
      '+   "k500": 2,',
      '    "k501": 1,',
      '    "k502": 1,',
    ]);
  });
});
