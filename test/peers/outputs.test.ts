import type { GenerateContentParameters, GenerateContentResponse, ToolConfig } from '@google/genai';
import { describe, expect, it } from 'vitest';
import {
  AfterModelHookOutput,
  BeforeModelHookOutput,
  BeforeToolSelectionHookOutput,
  createHookOutput,
  DefaultHookOutput,
  defaultHookTranslator,
  HookEventName,
  HookTranslatorGenAIv1,
  HookType,
  type HookDecision,
  type HookOutput,
} from '../../src/index.js';

// What the output classes and the translators of Gemini CLI and LLxprt are tested for. Where ours differ, see
// differences.test.ts.

const specific = (hookSpecificOutput: Record<string, unknown>) => ({ hookSpecificOutput });
const hello: GenerateContentParameters = {
  model: 'small',
  contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
};
const answer = (...parts: string[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
});

describe('names', () => {
  it('are those of all events, and of the one type', () => {
    expect(Object.values(HookEventName).join(' ')).toBe(
      'BeforeTool AfterTool BeforeModel AfterModel BeforeToolSelection BeforeAgent AfterAgent SessionStart SessionEnd PreCompress Notification SubagentStart SubagentStop PostCompress ModelError ToolBatchEnd',
    );
    expect(HookType.Command).toBe('command');
  });

  it.each([
    ['BeforeModel', BeforeModelHookOutput],
    ['AfterModel', AfterModelHookOutput],
    ['BeforeToolSelection', BeforeToolSelectionHookOutput],
    ['UnknownEvent', DefaultHookOutput],
  ])('of the event %s lead to the class of its outputs', (event, expected) => {
    expect(createHookOutput(event, {}).constructor).toBe(expected);
  });
});

describe('an output', () => {
  it('has the fields that it was made of', () => {
    const fields: HookOutput = {
      continue: false,
      stopReason: 'a stop',
      suppressOutput: true,
      systemMessage: 'a message',
      decision: 'block',
      reason: 'a reason',
      hookSpecificOutput: { key: 'value' },
    };
    expect(new DefaultHookOutput(fields)).toEqual(fields);
  });

  it.each<[decision: unknown, blocks: boolean]>([
    ['block', true],
    ['deny', true],
    ['allow', false],
    ['approve', false],
    ['ask', false],
    ['ask_user', false],
    [undefined, false],
  ])('with the decision %j blocks: %s', (decision, blocks) => {
    const output = new DefaultHookOutput({ decision: decision as HookDecision });
    expect(output.isBlockingDecision()).toBe(blocks);
  });

  it.each([
    [false, true],
    [true, false],
    [undefined, false],
  ])('with continue %s stops: %s', (goesOn, stops) => {
    expect(new DefaultHookOutput({ continue: goesOn }).shouldStopExecution()).toBe(stops);
  });

  it.each<[HookOutput, string]>([
    [{ reason: 'because' }, 'because'],
    [{ stopReason: 'enough' }, 'enough'],
    [{ continue: false, stopReason: 'enough' }, 'enough'],
    [{ decision: 'block', reason: 'because' }, 'because'],
  ])('of %j says why: %s', (fields, expected) => {
    expect(new DefaultHookOutput(fields).getEffectiveReason()).toBe(expected);
  });

  it.each<[HookOutput, string | undefined]>([
    [specific({ additionalContext: 'some context' }), 'some context'],
    [specific({ other: 'value' }), undefined],
    [{}, undefined],
  ])('of %j has the context %j', (fields, expected) => {
    expect(new DefaultHookOutput(fields).getAdditionalContext()).toBe(expected);
  });

  it('changes neither request nor tools by itself', () => {
    const selection = { toolConfig: {}, tools: [] };
    expect(new DefaultHookOutput({}).applyLLMRequestModifications(hello)).toBe(hello);
    expect(new DefaultHookOutput({}).applyToolConfigModifications(selection)).toBe(selection);
    expect(new BeforeModelHookOutput({}).applyLLMRequestModifications(hello)).toBe(hello);
    expect(new BeforeToolSelectionHookOutput({}).applyToolConfigModifications(selection)).toBe(
      selection,
    );
  });
});

describe('an output of BeforeModel', () => {
  it('has an answer only where a hook gave one', () => {
    expect(new BeforeModelHookOutput({}).getSyntheticResponse()).toBeUndefined();
    const empty = new BeforeModelHookOutput(specific({ llm_response: { candidates: [] } }));
    expect(empty.getSyntheticResponse()?.candidates).toEqual([]);
    const given = new BeforeModelHookOutput({
      decision: 'block',
      ...specific({ llm_response: answer('No.') }),
    });
    expect(given.getSyntheticResponse()?.text).toBe('No.');
  });

  it.each<[what: string, request: object, changed: object]>([
    ['the model', { model: 'large' }, { ...hello, model: 'large' }],
    [
      'the messages',
      { messages: [{ role: 'user', content: 'changed' }] },
      { ...hello, contents: [{ role: 'user', parts: [{ text: 'changed' }] }] },
    ],
  ])('changes %s of the request alone', (_what, request, changed) => {
    const output = new BeforeModelHookOutput(specific({ llm_request: request }));
    expect(output.applyLLMRequestModifications(hello)).toEqual(changed);
  });
});

describe('an output of BeforeToolSelection', () => {
  it('changes the configuration, and no tool', () => {
    const tools = [{ functionDeclarations: [] }];
    const output = new BeforeToolSelectionHookOutput(specific({ toolConfig: { mode: 'ANY' } }));
    expect(output.applyToolConfigModifications({ tools })).toEqual({
      tools,
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    });
  });
});

describe('an output of AfterModel', () => {
  it.each<[what: string, HookOutput, text: string | undefined]>([
    ['an answer', specific({ llm_response: answer('changed') }), 'changed'],
    [
      'an answer beside a stop (LLxprt)',
      { continue: false, reason: 'enough', ...specific({ llm_response: answer('changed') }) },
      'changed',
    ],
    ['nothing', {}, undefined],
  ])('gives %s', (_what, fields, text) => {
    expect(new AfterModelHookOutput(fields).getModifiedResponse()?.text).toBe(text);
  });
});

describe('the translator', () => {
  const translator = new HookTranslatorGenAIv1();

  it('is there from the beginning', () => {
    expect(defaultHookTranslator).toBeInstanceOf(HookTranslatorGenAIv1);
  });

  it('tells hooks of a request', () => {
    const config = { temperature: 0.7, maxOutputTokens: 1000 };
    expect(translator.toHookLLMRequest({ ...hello, config })).toEqual({
      model: 'small',
      messages: [{ role: 'user', content: 'hello' }],
      config,
    });
  });

  it('takes contents that are plain text', () => {
    const { messages } = translator.toHookLLMRequest({ model: 'm', contents: ['simple'] });
    expect(messages).toEqual([{ role: 'user', content: 'simple' }]);
  });

  it('makes a request of what a hook wrote', () => {
    const written = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] };
    expect(translator.fromHookLLMRequest(written)).toMatchObject({
      model: 'm',
      contents: hello.contents,
    });
  });

  it.each<[what: string, request: object, base: object | undefined, expected: object]>([
    ['the model', { model: 'large' }, hello, { model: 'large', contents: hello.contents }],
    [
      'one parameter',
      { model: 'large', config: { temperature: 0.5 } },
      { ...hello, config: { temperature: 0.9, maxOutputTokens: 2000 } },
      { contents: hello.contents, config: { temperature: 0.5, maxOutputTokens: 2000 } },
    ],
    ['nothing', {}, hello, hello],
    [
      'the messages',
      { model: 'large', messages: [{ role: 'user', content: 'changed' }] },
      hello,
      { model: 'large', contents: [{ role: 'user', parts: [{ text: 'changed' }] }] },
    ],
    ['the model of nothing', { model: 'large' }, undefined, { model: 'large', contents: [] }],
  ])('takes over where a hook changed %s', (_what, request, base, expected) => {
    const given = base as GenerateContentParameters | undefined;
    expect(translator.fromHookLLMRequest(request, given)).toMatchObject(expected);
  });

  it('tells hooks of a response', () => {
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 30 };
    const candidate = {
      content: { role: 'model', parts: [{ text: 'An answer' }] },
      finishReason: 'STOP',
      index: 0,
    };
    const response = { candidates: [candidate], usageMetadata } as GenerateContentResponse;
    expect(translator.toHookLLMResponse(response)).toEqual({
      text: 'An answer',
      candidates: [{ ...candidate, content: { role: 'model', parts: ['An answer'] } }],
      usageMetadata,
    });
  });

  it('makes a response of what a hook wrote', () => {
    const response = translator.fromHookLLMResponse({
      text: 'An answer',
      candidates: [{ content: { role: 'model', parts: ['An answer'] }, finishReason: 'STOP' }],
    });
    expect(response.text).toBe('An answer');
    expect(response.candidates).toHaveLength(1);
    expect(response.candidates?.[0]?.content?.parts).toEqual([{ text: 'An answer' }]);
  });

  it('takes the configuration of tools there and back', () => {
    const written = { mode: 'ANY' as const, allowedFunctionNames: ['glob', 'replace'] };
    const functionCallingConfig = { ...written } as ToolConfig['functionCallingConfig'] & object;
    expect(translator.toHookToolConfig({ functionCallingConfig })).toEqual(written);
    expect(translator.fromHookToolConfig(written)).toEqual({ functionCallingConfig });
    expect(translator.toHookToolConfig({})).toEqual({});
  });
});
