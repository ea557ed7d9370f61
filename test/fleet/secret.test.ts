import { describe, expect, it } from 'vitest';
import { answerWithoutSecret, withoutSecret } from '../../src/fleet/secret.js';

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

describe('an answer that repeats a secret', () => {
  const secret = 'decision-word';
  const mask = (answer: object) =>
    JSON.parse(answerWithoutSecret(JSON.stringify(answer), secret)) as object;

  it('has it masked in its texts', () => {
    const said = {
      reason: `not with ${secret}`,
      hookSpecificOutput: { additionalContext: secret },
    };
    expect(mask(said)).toEqual({
      reason: 'not with [token]',
      hookSpecificOutput: { additionalContext: '[token]' },
    });
    expect(answerWithoutSecret(String.raw`{"reason":"decision\u002dword"}`, secret)).toBe(
      '{"reason":"[token]"}',
    );
    expect(answerWithoutSecret(`<p>${secret}</p>`, secret)).toBe('<p>[token]</p>');
  });

  it('is the same in all else: keys, arguments of tools, requests, the note', () => {
    const said = {
      [secret]: 1,
      hookSpecificOutput: {
        tool_input: { command: `run ${secret}` },
        llm_request: { model: secret },
        llm_response: { text: secret },
      },
      hookstack: { foreign: { contextOfResult: secret } },
    };
    expect(mask(said)).toEqual(said);
  });
});
