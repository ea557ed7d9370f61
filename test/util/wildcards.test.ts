import { expect, it } from 'vitest';
import { wildcards } from '../../src/util/wildcards.js';

it.each([
  ['a', 'a', true],
  ['a', 'ab', false],
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['a*', 'abc', true],
  ['*c', 'abc', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['a*b*c', 'a-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['*b*', 'abc', true],
  ['ab*bc', 'abc', false],
  ['a*bc*c', 'abc', false],
  ['a**c', 'ac', true],
  ['a.c', 'abc', false],
  ['a*c', 'a\nc', true],
])('%j against %j: %s', (pattern, text, fits) => {
  expect(wildcards(pattern)(text)).toBe(fits);
});

it('takes no longer for a text that almost fits again and again', () => {
  const fits = wildcards('*write*file');
  const text = 'write'.repeat(1_000_000);
  expect(fits(text)).toBe(false);
  expect(fits(`${text}file`)).toBe(true);
});
