import { describe, expect, it } from 'vitest';
import { withoutSecret } from '../../src/fleet/secret.js';

describe('a secret that somebody repeats', () => {
  it.each([
    ['a token', 'a-long-token', 'you said a-long-token', 'you said [token]'],
    ['user and password', 'policy:pass-word', 'wrong: policy:pass-word', 'wrong: [token]'],
    ['the password alone', 'policy:pass-word', 'wrong: pass-word', 'wrong: [token]'],
    ['a password with a colon', 'policy:pass:word', 'wrong: pass:word', 'wrong: [token]'],
    ['a line of a file', 'BEGIN\nSUABCDEF\nEND', 'wrong: SUABCDEF', 'wrong: [token]'],
  ])('is masked: %s', (_, secret, text, masked) => {
    expect(withoutSecret(text, secret)).toBe(masked);
  });

  it('is not the name of its user, which is a word like any other', () => {
    expect(withoutSecret('against the policy', 'policy:pass-word')).toBe('against the policy');
  });

  it('is not a word of it, however short the secret is', () => {
    expect(withoutSecret('an apple', 'a')).toBe('an apple');
  });
});
