import type { Content, GenerateContentParameters, Part } from '@google/genai';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSpecificHookOutput } from '../../middleware/aggregator.js';
import { isAnswerText } from '../../src/protocol/response.js';
import {
  applyHookLLMResponse,
  defaultHookTranslator,
  type LLMMessage,
  type LLMRequest,
  type LLMResponse,
} from '../../src/protocol/hookTranslator.js';
import { toContents } from '../../src/protocol/messages.js';
import { readHookOutput } from '../../src/protocol/readHookOutput.js';
import { HookEventName } from '../../src/protocol/types.js';
import * as any from './arbitraries.js';

const runs = { numRuns: 1_000 };

/** The request to send after a hook printed this one. */
function print(llm_request: Partial<LLMRequest>, request: GenerateContentParameters) {
  const { output = {}, problems } = readHookOutput(
    JSON.stringify({ hookSpecificOutput: { llm_request } }),
  );
  expect(problems).toEqual([]);
  return createSpecificHookOutput(output, HookEventName.BeforeModel).applyLLMRequestModifications(
    request,
  );
}

const show = (request: GenerateContentParameters) =>
  defaultHookTranslator.toHookLLMRequest(request);
const partsOf = (contents: readonly Content[]) => contents.flatMap(({ parts }) => parts ?? []);
const isVisible = (part: Part) => !part.thought;

/** Everything that hooks do not see and no edit may touch. */
function hiddenParts(request: GenerateContentParameters): Part[] {
  return partsOf(toContents(request.contents)).filter((part) => !isAnswerText(part));
}

/** A request with messages, the position of one of them, and another text for it. */
const edit = any.request
  .filter((request) => show(request).messages.length > 0)
  .chain((request) =>
    fc.record({
      request: fc.constant(request),
      position: fc.nat({ max: show(request).messages.length - 1 }),
      text: fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'c'), minLength: 1, maxLength: 6 }),
    }),
  );

function withText(messages: readonly LLMMessage[], position: number, text: string): LLMMessage[] {
  return messages.map((each, index) => (index === position ? { ...each, content: text } : each));
}

describe('a hook that returns the request that it was given', () => {
  it('changes nothing that is sent', () => {
    fc.assert(
      fc.property(any.request, (request) => {
        const before = structuredClone(request);
        expect(print(show(request), request)).toEqual(before);
        expect(request).toEqual(before);
      }),
      runs,
    );
  });
});

describe('a hook that edits one text of a request', () => {
  it('changes exactly that text', () => {
    fc.assert(
      fc.property(edit, ({ request, position, text }) => {
        const shown = show(request);
        const messages = withText(shown.messages, position, text);
        const sent = print({ ...shown, messages }, request);
        expect(show(sent)).toEqual({ ...shown, messages });
        expect(hiddenParts(sent)).toEqual(hiddenParts(request));
        expect({ ...sent, contents: [] }).toEqual({ ...request, contents: [] });
      }),
      runs,
    );
  });

  it('leaves every other content, and the order of its own parts', () => {
    fc.assert(
      fc.property(edit, ({ request, position, text }) => {
        const { messages } = show(request);
        const before = toContents(request.contents);
        const after = toContents(
          print({ messages: withText(messages, position, text) }, request).contents,
        );
        expect(after).toHaveLength(before.length);
        const changed = before.filter((content, index) => content !== after[index]);
        expect(changed.length).toBeLessThanOrEqual(1);
        for (const [index, content] of before.entries()) {
          expect(after[index]?.role).toBe(content.role);
          expect(calls(after[index])).toEqual(calls(content));
        }
      }),
      runs,
    );
  });
});

/** The parts of a content that are not text of an answer, in order. */
function calls(content: Content | undefined): Part[] {
  return (content?.parts ?? []).filter((part) => !isAnswerText(part));
}

describe('a hook that returns any messages at all', () => {
  const role = fc.constantFrom<LLMMessage['role']>('user', 'model', 'system');
  const messages = fc.array(fc.record({ role, content: fc.string({ maxLength: 4 }) }), {
    maxLength: 8,
  });

  it('has the model read exactly these, and loses or reorders no call, response or file', () => {
    fc.assert(
      fc.property(any.request, messages, (request, returned) => {
        const sent = print({ messages: returned }, request);
        expect(show(sent).messages.map(({ content }) => content)).toEqual(
          returned.map(({ content }) => content).filter((content) => content !== ''),
        );
        expect(hiddenParts(sent).filter(isVisible)).toEqual(hiddenParts(request).filter(isVisible));
      }),
      runs,
    );
  });

  it('makes no message without parts, which the model would refuse', () => {
    fc.assert(
      fc.property(any.request, messages, (request, returned) => {
        const sent = toContents(print({ messages: returned }, request).contents);
        expect(sent.filter(({ parts = [] }) => parts.length === 0)).toEqual(
          toContents(request.contents).filter(({ parts = [] }) => parts.length === 0),
        );
      }),
      runs,
    );
  });
});

const reread = (shown: LLMResponse): LLMResponse =>
  readHookOutput(JSON.stringify({ hookSpecificOutput: { llm_response: shown } })).output
    ?.hookSpecificOutput?.['llm_response'] as LLMResponse;

describe('a hook of a response', () => {
  it('that returns what it was given changes nothing', () => {
    fc.assert(
      fc.property(any.response, (response) => {
        const shown = defaultHookTranslator.toHookLLMResponse(response);
        expect(applyHookLLMResponse(reread(shown), response)).toEqual(response);
      }),
      runs,
    );
  });

  it('that edits the text changes exactly that text', () => {
    const edited = fc.record({ response: any.response, text: fc.string({ minLength: 1 }) });
    fc.assert(
      fc.property(edited, ({ response, text }) => {
        const [first, ...others] = response.candidates ?? [];
        fc.pre(first !== undefined);
        const shown = defaultHookTranslator.toHookLLMResponse(response);
        const applied = applyHookLLMResponse({ ...reread(shown), text }, response);
        expect(applied.text).toBe(text);
        expect(calls(applied.candidates?.[0]?.content)).toEqual(calls(first?.content));
        expect(applied.candidates?.slice(1)).toEqual(others);
      }),
      runs,
    );
  });
});
