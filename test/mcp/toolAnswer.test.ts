import { describe, expect, it } from 'vitest';
import type { ToolAnswer } from '../../src/mcp/sdk.js';
import { readToolAnswer } from '../../src/mcp/toolAnswer.js';

const DENY = '{"decision": "deny", "reason": "No."}';
const text = (said: string) => ({ type: 'text', text: said });
const resource = (said: string) => ({ type: 'resource', resource: { uri: 'a:b', text: said } });
const BARE = '{"decision":"deny"}';
const ASK = '{"decision":"ask"}';
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

describe('the answer of a tool', () => {
  it.each<[string, ToolAnswer, string]>([
    ['a text', { content: [text(DENY)] }, DENY],
    ['an embedded resource', { content: [image, resource(DENY)] }, DENY],
    ['the first of two texts', { content: [text(DENY), text('I looked at it.')] }, DENY],
    ['the second of two texts', { content: [text('I looked at it.'), text(DENY)] }, DENY],
    ['a question behind an allow', { content: [text('{"decision":"allow"}'), text(ASK)] }, ASK],
    [
      'a structured question in the words of Claude Code',
      {
        content: [text('{}')],
        structuredContent: { hookSpecificOutput: { permissionDecision: 'ask' } },
      },
      '{"hookSpecificOutput":{"permissionDecision":"ask"}}',
    ],
    ['a denial in a "result"', { structuredContent: { result: { decision: 'deny' } } }, BARE],
    [
      'what says something before what does not',
      { content: [text('{}'), text('{"a":1}')] },
      '{"a":1}',
    ],
    ['a denial behind a question', { content: [text(ASK), text(DENY)] }, DENY],
    ['a denial behind another object', { content: [text('{}'), resource(DENY)] }, DENY],
    [
      'a structured denial behind a text',
      { content: [text('Denied.')], structuredContent: { decision: 'block' } },
      '{"decision":"block"}',
    ],
    [
      'a structured denial that the text contradicts',
      { content: [text('{"decision": "allow"}')], structuredContent: { continue: false } },
      '{"continue":false}',
    ],
    [
      'a denial in the words of Claude Code',
      {
        content: [text('{}'), text('{"hookSpecificOutput":{"permissionDecision":"deny"}}')],
      },
      '{"hookSpecificOutput":{"permissionDecision":"deny"}}',
    ],
    [
      'a denial in a text that what is structured contradicts',
      { content: [text(DENY)], structuredContent: { decision: 'allow' } },
      DENY,
    ],
    ['all of a text', { content: [text('One.'), image, text('Two.')] }, 'One.\nTwo.'],
  ])('is %s', (_what, answer, said) => {
    expect(readToolAnswer(answer, false)).toBe(said);
    expect(readToolAnswer(answer, true)).toBe(said);
  });

  it.each<[string, ToolAnswer]>([
    ['no content', {}],
    ['an empty list', { content: [] }],
    ['blank texts', { content: [text(''), resource(' \n')] }],
    ['an image', { content: [image] }],
    ['audio', { content: [{ ...image, type: 'audio' }] }],
    ['a link', { content: [{ type: 'resource_link', uri: 'a:b', name: 'a' } as never] }],
    ['bytes', { content: [{ type: 'resource', resource: { uri: 'a:b', blob: 'AAAA' } } as never] }],
  ])('says nothing: %s, which is an error of a guard alone', (_what, answer) => {
    expect(readToolAnswer(answer, false)).toBe('');
    expect(() => readToolAnswer(answer, true)).toThrow('let a guard that has no objection');
  });

  it('is the first object, and of a guard none of several', () => {
    const answer = { content: [text('{"a": 1}'), text('{"b": 2}')] };
    expect(readToolAnswer(answer, false)).toBe('{"a": 1}');
    expect(() => readToolAnswer(answer, true)).toThrow('say different things');
    const same = { content: [text('{"a": 1}')], structuredContent: { a: 1 } };
    expect(readToolAnswer(same, true)).toBe('{"a": 1}');
  });

  it('of a guard is a text beside an object that says nothing', () => {
    const answer = { content: [text('{}'), text('DENIED: no')] };
    expect(readToolAnswer(answer, false)).toBe('{}');
    expect(readToolAnswer(answer, true)).toBe('{}\nDENIED: no');
  });

  it('of a guard is no object beside broken JSON, which may have been a denial', () => {
    const answer = { content: [text(DENY.slice(0, -1)), text('{}')] };
    expect(readToolAnswer(answer, false)).toBe('{}');
    expect(() => readToolAnswer(answer, true)).toThrow('is no JSON object');
  });

  it.each([true, false])('is an error or a task, guard or not: %s', (isGuard) => {
    const failed = { content: [text('The disk is full.')], isError: true };
    expect(() => readToolAnswer(failed, isGuard)).toThrow('with an error: The disk is full.');
    const later = { task: { taskId: 't', status: 'working' } };
    expect(() => readToolAnswer(later, isGuard)).toThrow('it answered with a task');
  });
});
