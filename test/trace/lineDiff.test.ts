import { expect, it } from 'vitest';
import { diffLines } from '../../src/trace/diff.js';

it.each([
  { what: 'nothing', before: 'a\nb\n', after: 'a\nb\n', diff: [] },
  { what: 'a new text', before: '', after: 'a\nb\n', diff: [['+a', '+b']] },
  { what: 'an added line', before: 'a\nc\n', after: 'a\nb\nc\n', diff: [[' a', '+b', ' c']] },
  { what: 'a changed line', before: 'a\nb\nc', after: 'a\nB\nc', diff: [[' a', '-b', '+B', ' c']] },
  { what: 'no end of the last line', before: 'a\nb\n', after: 'a\nb', diff: [] },
  { what: 'another end of a line', before: 'a\r\n', after: 'a\n', diff: [['-a\r', '+a']] },
  {
    what: 'changes far apart',
    before: '1\n2\n3\n4\n5\n6\n7\n8\n9\n',
    after: '0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n',
    diff: [
      ['+0', ' 1', ' 2', ' 3'],
      [' 7', ' 8', ' 9', '+10'],
    ],
  },
])('shows $what', ({ before, after, diff }) => {
  expect(diffLines(before, after, 3, 1000)).toEqual(diff);
});

/** The same at both ends, and nowhere else for another word. */
const linesWith = (word: string) => [
  '1',
  '2',
  '3',
  ...Array.from({ length: 50 }, (_, index) => word + index),
  '7',
  '8',
  '9',
];

it('leaves out what is the same before and after too many changes', () => {
  const [hunk, ...others] = diffLines(linesWith('a').join('\n'), linesWith('b').join('\n'), 2, 10);
  expect(others).toEqual([]);
  expect(hunk).toHaveLength(104);
  expect([hunk?.slice(0, 3), hunk?.slice(-3)]).toEqual([
    [' 2', ' 3', '-a0'],
    ['+b49', ' 7', ' 8'],
  ]);
});

it('shows two texts that have too little in common one after the other, and soon', () => {
  const [before = '', after = ''] = ['a', 'b'].map((word) =>
    Array.from({ length: 20_000 }, (_, index) => `${word}${index}\n`).join(''),
  );
  const [hunk, ...others] = diffLines(before, after, 3, 1000);
  expect(others).toEqual([]);
  expect(hunk).toHaveLength(40_000);
  expect([hunk?.[0], hunk?.at(-1)]).toEqual(['-a0', '+b19999']);
});
