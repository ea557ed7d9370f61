import { expect, it } from 'vitest';
import { findControl, removeControls } from '../../src/protocol/sanitizeText.js';
import { maskSecrets } from '../../src/run/hookEnvironment.js';

const CHARACTERS = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code));

it('removes each character that it would find', () => {
  const left = CHARACTERS.filter(
    (character) => findControl(character) !== undefined && removeControls(character) === character,
  );
  expect(left).toEqual([]);
  expect(removeControls('a\r\nb\u2028c\u2029d')).toBe('a\nb\nc\nd');
  expect(removeControls('a\u001b[31mb\u009b31mc')).toBe('abc');
});

it('finds a secret whatever character without a picture stands in it', () => {
  const host = { API_TOKEN: 'sesame-street' };
  const hidden = CHARACTERS.filter(
    (character) => /\p{Cf}/u.test(character) || findControl(character) !== undefined,
  );
  const told = [...hidden, String.raw`\u200b`, '\u{e0001}'].filter((character) =>
    maskSecrets(`a sesame${character}-street b`, { redact: ['*_TOKEN'] }, host).includes('street'),
  );
  expect(told).toEqual([]);
  expect(hidden.length).toBeGreaterThan(60);
});
