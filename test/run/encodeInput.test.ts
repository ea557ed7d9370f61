import type { Content } from '@google/genai';
import { array, assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeInput } from '../../src/run/encodeInput.js';
import { defaultHookTranslator } from '../../src/protocol/hookTranslator.js';
import { HookEventName, type BeforeModelInput, type HookInput } from '../../src/protocol/types.js';

const common: HookInput = {
  session_id: 's',
  cwd: '/project',
  timestamp: '2026-01-01T00:00:00.000Z',
  hook_event_name: HookEventName.BeforeModel,
  transcript_path: '',
};

function inputOf(contents: Content[], extra: object = {}): BeforeModelInput {
  const request = defaultHookTranslator.toHookLLMRequest({
    model: 'm',
    contents,
    config: { temperature: 0.5 },
  });
  return { ...common, llm_request: request, ...extra };
}

function said(role: string, text: string): Content {
  return { role, parts: [{ text }] };
}

describe('encodeInput', () => {
  it('writes what JSON.stringify writes, whatever the messages say', () => {
    const text = string({ unit: 'binary' });
    assert(
      property(array(text), text, (texts, other) => {
        const input = inputOf(
          texts.map((each) => said('user', each)),
          { more: other, '\u0000messages': '\u0000messages' },
        );
        for (let round = 0; round < 2; round++) {
          expect(encodeInput(input).toString()).toBe(Buffer.from(JSON.stringify(input)).toString());
        }
      }),
    );
  });

  it('writes a message anew when its content was changed in place', () => {
    const content = said('user', 'before');
    encodeInput(inputOf([content]));
    content.parts = [{ text: 'after' }];
    expect(encodeInput(inputOf([content])).toString()).toContain('"content":"after"');
    content.role = 'model';
    expect(encodeInput(inputOf([content])).toString()).toContain(
      '{"role":"model","content":"after"}',
    );
  });

  it('hands out messages that cannot be changed behind its back', () => {
    const [message] = inputOf([said('user', 'as it is')]).llm_request.messages;
    expect(() => {
      if (message) message.content = 'changed';
    }).toThrow(TypeError);
  });

  it('writes the messages of an input that a middleware made', () => {
    const input = inputOf([said('user', 'a')]);
    const changed = {
      ...input,
      llm_request: { ...input.llm_request, messages: [{ role: 'user' as const, content: 'b' }] },
    };
    expect(encodeInput(changed).toString()).toBe(JSON.stringify(changed));
  });

  it('keeps the same message for the same content', () => {
    const contents = [said('user', 'a'), said('model', 'b')];
    const [first, second] = [inputOf(contents), inputOf([...contents, said('user', 'c')])];
    expect(second.llm_request.messages[0]).toBe(first.llm_request.messages[0]);
    expect(second.llm_request.messages[1]).toBe(first.llm_request.messages[1]);
  });
});
