import {
  FinishReason,
  FunctionCallingConfigMode,
  GenerateContentResponse,
  HarmCategory,
  HarmProbability,
  type Content,
  type GenerateContentParameters,
  type Part,
} from '@google/genai';
import { describe, expect, it } from 'vitest';
import { createResponse } from '../../src/protocol/response.js';
import {
  applyHookLLMResponse,
  mergeHookResponses,
  defaultHookTranslator,
  type LLMMessage,
} from '../../src/protocol/hookTranslator.js';

const call: Part = { functionCall: { id: '1', name: 'read_file', args: { path: 'a' } } };
const answer: Part = {
  functionResponse: { id: '1', name: 'read_file', response: { output: 'x' } },
};
const image: Part = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const file: Part = { fileData: { mimeType: 'text/plain', fileUri: 'gs://x' } };
const thought: Part = { text: 'hmm', thought: true, thoughtSignature: 'c2ln' };

const user = (...parts: (Part | string)[]): Content => ({ role: 'user', parts: toParts(parts) });
const model = (...parts: (Part | string)[]): Content => ({ role: 'model', parts: toParts(parts) });

function toParts(parts: (Part | string)[]): Part[] {
  return parts.map((part) => (typeof part === 'string' ? { text: part } : part));
}

function messagesOf(contents: GenerateContentParameters['contents']): LLMMessage[] {
  return defaultHookTranslator.toHookLLMRequest({ model: 'm', contents }).messages;
}

/** The contents to send after a hook returned these messages. */
function applyMessages(
  contents: GenerateContentParameters['contents'],
  messages: LLMMessage[],
): GenerateContentParameters['contents'] {
  return defaultHookTranslator.fromHookLLMRequest({ messages }, { model: 'm', contents }).contents;
}

function respond(...parts: (Part | string)[]) {
  return createResponse({ candidates: [{ content: model(...parts), index: 0 }] });
}

/** A copy of a response without its accessors. */
function toData(response: GenerateContentResponse): unknown {
  return structuredClone(Object.fromEntries(Object.entries(response)));
}

describe('toHookLLMRequest', () => {
  it('shows model, messages, generation settings and tool configuration', () => {
    const request: GenerateContentParameters = {
      model: 'gemini',
      contents: [user('hi'), model('hello')],
      config: {
        systemInstruction: 'be brief',
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
        temperature: 0,
        maxOutputTokens: 10,
        topP: 0.5,
        topK: 3,
        stopSequences: ['x'],
        candidateCount: 1,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        seed: 7,
        toolConfig: {
          functionCallingConfig: {
            mode: FunctionCallingConfigMode.ANY,
            allowedFunctionNames: ['f'],
          },
        },
      },
    };
    expect(defaultHookTranslator.toHookLLMRequest(request)).toEqual({
      model: 'gemini',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'model', content: 'hello' },
      ],
      config: {
        temperature: 0,
        maxOutputTokens: 10,
        topP: 0.5,
        topK: 3,
        stopSequences: ['x'],
        candidateCount: 1,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
      },
      toolConfig: { mode: 'ANY', allowedFunctionNames: ['f'] },
      tools: [{ name: 'f' }],
      systemInstruction: 'be brief',
    });
  });

  it('leaves out what the request does not say', () => {
    expect(defaultHookTranslator.toHookLLMRequest({ model: 'm', contents: 'hi' })).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
    });
  });

  it.each<[string, GenerateContentParameters['contents'], LLMMessage[]]>([
    ['a string', 'a', [{ role: 'user', content: 'a' }]],
    ['a part', { text: 'a' }, [{ role: 'user', content: 'a' }]],
    ['a content', model('a'), [{ role: 'model', content: 'a' }]],
    [
      'a list of contents',
      [user('a'), model('b')],
      [
        { role: 'user', content: 'a' },
        { role: 'model', content: 'b' },
      ],
    ],
    ['a list of parts and strings', ['a', image, { text: 'b' }], [{ role: 'user', content: 'ab' }]],
    ['several text parts', [user('a', 'b', image, 'c')], [{ role: 'user', content: 'abc' }]],
    ['an empty list', [], []],
    ['a content without parts', [{ role: 'user' }, user('a')], [{ role: 'user', content: 'a' }]],
    ['a content without a role', [{ parts: [{ text: 'a' }] }], [{ role: 'user', content: 'a' }]],
    ['nothing', undefined as never, []],
    ['null', null as never, []],
    [
      'what is no content among contents',
      [null, user('a'), 5] as never,
      [{ role: 'user', content: 'a' }],
    ],
    [
      'what is not a part among parts',
      ['a', null, { text: 5 }] as never,
      [{ role: 'user', content: 'a' }],
    ],
    [
      'parts that are no list',
      [{ parts: null }, { parts: { text: 'b' } }, user('a')] as never,
      [{ role: 'user', content: 'a' }],
    ],
    [
      'parts that are none',
      [{ role: 'user', parts: [null, 'b', 5, { text: 'a' }] }] as never,
      [{ role: 'user', content: 'a' }],
    ],
  ])('reads %s', (_, contents, expected) => {
    expect(messagesOf(contents)).toEqual(expected);
  });

  it('drops parts that are no text, and messages of nothing else', () => {
    const contents = [
      user('look', image),
      model(call),
      user(answer),
      user(file),
      model(thought),
      model(thought, 'done'),
      user(''),
    ];
    expect(messagesOf(contents)).toEqual([
      { role: 'user', content: 'look' },
      { role: 'model', content: 'done' },
    ]);
  });

  it('modifies nothing', () => {
    const request = { model: 'm', contents: [user('a', image)], config: { stopSequences: ['x'] } };
    const before = structuredClone(request);
    defaultHookTranslator.toHookLLMRequest(request);
    expect(request).toEqual(before);
  });
});

describe('fromHookLLMRequest', () => {
  const base: GenerateContentParameters = {
    model: 'm',
    contents: [user('a'), model('b')],
    config: {
      systemInstruction: 'be brief',
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      temperature: 1,
      maxOutputTokens: 10,
      seed: 7,
      toolConfig: {
        functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO },
        retrievalConfig: { languageCode: 'fr' },
      },
    },
  };

  it('gives the request back when the hook returns what it was given', () => {
    const shown = defaultHookTranslator.toHookLLMRequest(base);
    const applied = defaultHookTranslator.fromHookLLMRequest(shown, base);
    expect(applied).toEqual(base);
    expect(applied.contents).toBe(base.contents);
  });

  it('keeps everything that hooks do not see, and overrides what they set', () => {
    const applied = defaultHookTranslator.fromHookLLMRequest(
      {
        model: 'n',
        config: { temperature: 0, topK: 3 },
        toolConfig: { mode: 'ANY', allowedFunctionNames: ['f'] },
      },
      base,
    );
    expect(applied).toEqual({
      model: 'n',
      contents: base.contents,
      config: {
        ...base.config,
        temperature: 0,
        topK: 3,
        toolConfig: {
          functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] },
          retrievalConfig: { languageCode: 'fr' },
        },
      },
    });
  });

  it('sets settings on a request that had none', () => {
    const plain = { model: 'm', contents: 'a' };
    expect(defaultHookTranslator.fromHookLLMRequest({ config: { temperature: 0 } }, plain)).toEqual(
      { ...plain, config: { temperature: 0 } },
    );
    expect(defaultHookTranslator.fromHookLLMRequest({}, plain)).toEqual(plain);
  });

  it('does without a base', () => {
    const messages: LLMMessage[] = [{ role: 'user', content: 'a' }];
    expect(defaultHookTranslator.fromHookLLMRequest({ model: 'm', messages })).toEqual({
      model: 'm',
      contents: [user('a')],
    });
  });

  it('modifies neither the base nor what the hook returned', () => {
    const before = structuredClone(base);
    const messages: LLMMessage[] = [{ role: 'user', content: 'z' }];
    defaultHookTranslator.fromHookLLMRequest({ messages, config: { topK: 1 } }, base);
    expect(base).toEqual(before);
    expect(messages).toEqual([{ role: 'user', content: 'z' }]);
  });
});

describe('the messages that a hook returns', () => {
  const contents = [
    user('look', image),
    model(thought, 'reading', call),
    user(answer),
    model('ok'),
  ];
  const [look, reading, ok]: LLMMessage[] = [
    { role: 'user', content: 'look' },
    { role: 'model', content: 'reading' },
    { role: 'model', content: 'ok' },
  ];
  const messages = [look, reading, ok] as LLMMessage[];
  const withText = (position: number, content: string) =>
    messages.map((each, index) => (index === position ? { ...each, content } : each));

  it('change text and leave every other part where it was', () => {
    expect(applyMessages(contents, withText(0, 'see'))).toEqual([
      user('see', image),
      ...contents.slice(1),
    ]);
    expect(applyMessages(contents, withText(1, 'opening'))).toEqual([
      contents[0],
      model(thought, 'opening', call),
      ...contents.slice(2),
    ]);
    expect(applyMessages(contents, withText(2, 'fine'))).toEqual([
      ...contents.slice(0, 3),
      model('fine'),
    ]);
  });

  it('keep the identity of contents that did not change', () => {
    const applied = applyMessages(contents, withText(2, 'fine')) as Content[];
    expect(applied.slice(0, 3).map((content, index) => content === contents[index])).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('leave what is no content, and what is not a part, where it was', () => {
    const odd = [null, { role: 'user', parts: [null, { text: 'a' }, 5] }] as never;
    expect(applyMessages(odd, [{ role: 'user', content: 'b' }])).toEqual([
      null,
      { role: 'user', parts: [null, { text: 'b' }, 5] },
    ]);
    expect(applyMessages(odd, [])).toEqual([null, { role: 'user', parts: [null, 5] }]);
    const added = applyMessages(undefined as never, [{ role: 'user', content: 'b' }]);
    expect(added).toEqual([user('b')]);
  });

  it('are appended where there are more than were sent', () => {
    const extra: LLMMessage[] = [
      { role: 'model', content: 'more' },
      { role: 'system', content: 'rules' },
    ];
    expect(applyMessages(contents, [...messages, ...extra])).toEqual([
      ...contents,
      model('more'),
      user('rules'),
    ]);
    expect(applyMessages('a', [{ role: 'user', content: 'a' }, ...extra])).toEqual([
      user('a'),
      model('more'),
      user('rules'),
    ]);
  });

  it('drop texts from the end where there are fewer, and never a call or its response', () => {
    expect(applyMessages(contents, messages.slice(0, 2))).toEqual(contents.slice(0, 3));
    expect(applyMessages(contents, messages.slice(0, 1))).toEqual([
      contents[0],
      model(thought, call),
      user(answer),
    ]);
    expect(applyMessages(contents, [])).toEqual([user(image), model(thought, call), user(answer)]);
  });

  it('may change the role of a message that is text only', () => {
    expect(applyMessages([user('a')], [{ role: 'model', content: 'a' }])).toEqual([model('a')]);
    expect(applyMessages([user('a')], [{ role: 'system', content: 'a' }])).toEqual([user('a')]);
  });

  it('cannot take a call away from the model', () => {
    const applied = applyMessages([model('reading', call)], [{ role: 'user', content: 'x' }]);
    expect(applied).toEqual([model('x', call)]);
  });

  it('change a string and a list of parts as well', () => {
    expect(applyMessages('a', [{ role: 'user', content: 'b' }])).toEqual([user('b')]);
    expect(applyMessages(['a', image], [{ role: 'user', content: 'b' }])).toEqual([
      user('b', image),
    ]);
  });

  it('keep signatures on the text parts that they did not touch', () => {
    const signed: Part = { text: 'signed', thoughtSignature: 'c2ln' };
    const content = model(signed, ' and ', 'plain');
    const applied = applyMessages([content], [{ role: 'model', content: 'signed but changed' }]);
    expect(applied).toEqual([model(signed, ' but changed')]);
  });

  it('are exactly what the model reads, whatever the parts were', () => {
    const kinds: (Part | string)[] = ['a', 'b', 'ab', call, image, thought];
    const texts = ['a', 'b', 'ab', 'ba', 'aab', 'abab', 'c', 'cab', 'acb'];
    for (const first of kinds) {
      for (const second of kinds) {
        for (const third of kinds) {
          const before = model(first, second, third);
          if (messagesOf([before]).length === 0) continue;
          for (const text of texts) {
            const [after] = applyMessages(
              [before],
              [{ role: 'model', content: text }],
            ) as Content[];
            expect(messagesOf([after!])).toEqual([{ role: 'model', content: text }]);
            expect(otherParts(after)).toEqual(otherParts(before));
          }
        }
      }
    }
  });
});

function otherParts(content: Content | undefined): Part[] {
  return (content?.parts ?? []).filter((part) => part.text === undefined || part.thought);
}

describe('toHookLLMResponse', () => {
  it('shows texts, simplified ratings and usage', () => {
    const response = createResponse({
      candidates: [
        {
          content: model(thought, 'a', call, 'b', image),
          finishReason: FinishReason.STOP,
          index: 0,
          safetyRatings: [
            {
              category: HarmCategory.HARM_CATEGORY_HARASSMENT,
              probability: HarmProbability.LOW,
              blocked: true,
            },
          ],
        },
        { content: model('c') },
      ],
      usageMetadata: {
        promptTokenCount: 1,
        candidatesTokenCount: 2,
        totalTokenCount: 3,
        thoughtsTokenCount: 4,
      },
      modelVersion: 'v',
    });
    expect(defaultHookTranslator.toHookLLMResponse(response)).toEqual({
      text: 'ab',
      candidates: [
        {
          content: { role: 'model', parts: ['a', 'b'] },
          finishReason: 'STOP',
          index: 0,
          safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'LOW' }],
        },
        { content: { role: 'model', parts: ['c'] }, index: 1 },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
    });
  });

  it('shows a response of a function call as one without text', () => {
    expect(defaultHookTranslator.toHookLLMResponse(respond(call))).toEqual({
      candidates: [{ content: { role: 'model', parts: [] }, index: 0 }],
    });
  });

  it.each([{}, { candidates: [] }])('shows %j as no candidates', (fields) => {
    expect(defaultHookTranslator.toHookLLMResponse(createResponse(fields))).toEqual({
      candidates: [],
    });
  });

  it("reads a response of the SDK's own class", () => {
    const response = Object.assign(new GenerateContentResponse(), {
      candidates: [{ content: model('a') }],
    });
    expect(defaultHookTranslator.toHookLLMResponse(response).text).toBe('a');
  });
});

describe('fromHookLLMResponse', () => {
  it('makes a response of candidates', () => {
    const response = defaultHookTranslator.fromHookLLMResponse({
      candidates: [
        {
          content: { role: 'model', parts: ['a', 'b'] },
          finishReason: 'MAX_TOKENS',
          safetyRatings: [{ category: 'c', probability: 'LOW' }],
        },
      ],
      usageMetadata: { totalTokenCount: 3 },
    });
    expect(toData(response)).toEqual({
      candidates: [
        {
          content: model('a', 'b'),
          finishReason: 'MAX_TOKENS',
          index: 0,
          safetyRatings: [{ category: 'c', probability: 'LOW' }],
        },
      ],
      usageMetadata: { totalTokenCount: 3 },
    });
    expect(response.text).toBe('ab');
    expect(response.functionCalls).toBeUndefined();
  });

  it('makes a response of a text alone', () => {
    const response = defaultHookTranslator.fromHookLLMResponse({ text: 'a' });
    expect(response.text).toBe('a');
    expect(response.candidates).toHaveLength(1);
  });

  it('makes an empty response of nothing', () => {
    expect(defaultHookTranslator.fromHookLLMResponse({}).candidates).toEqual([]);
  });

  it('keeps nothing but text on the way there and back', () => {
    const shown = defaultHookTranslator.toHookLLMResponse(respond('a', call, thought));
    const response = defaultHookTranslator.fromHookLLMResponse(shown);
    expect(response.candidates?.[0]?.content).toEqual(model('a'));
  });

  it('takes over nothing else that a response may carry', () => {
    const shown = defaultHookTranslator.toHookLLMResponse(respond('a'));
    const [first] = shown.candidates;
    const more = { groundingMetadata: { webSearchQueries: ['q'] }, citationMetadata: {} };
    const content = { role: 'model', parts: ['a', call, thought], functionCall: call };
    const foreign = { ...shown, candidates: [{ ...first, ...more, content }], modelVersion: 'v' };
    const response = defaultHookTranslator.fromHookLLMResponse(foreign as never);
    const plain = defaultHookTranslator.fromHookLLMResponse(shown);
    expect(toData(response)).toEqual(toData(plain));
  });
});

const candidates = (...parts: string[]) => [{ content: { role: 'model' as const, parts } }];

describe('applyHookLLMResponse', () => {
  const original = createResponse({
    candidates: [
      { content: model(thought, 'call me', call), finishReason: FinishReason.STOP, index: 0 },
    ],
    usageMetadata: { totalTokenCount: 3, thoughtsTokenCount: 1 },
    modelVersion: 'v',
  });
  const shown = defaultHookTranslator.toHookLLMResponse(original);
  const partsAfter = (change: Parameters<typeof applyHookLLMResponse>[0]) =>
    applyHookLLMResponse(change, original).candidates?.[0]?.content?.parts;

  it('gives the response back when the hook returns what it was given', () => {
    expect(toData(applyHookLLMResponse(shown, original))).toEqual(toData(original));
    expect(toData(applyHookLLMResponse({}, original))).toEqual(toData(original));
  });

  it.each([
    ['the field text alone', { text: 'redacted' }],
    ['the field text of the whole response', { ...shown, text: 'redacted' }],
    ['the candidates alone', { candidates: candidates('redacted') }],
    ['the candidates of the whole response', { ...shown, candidates: candidates('redacted') }],
    ['both', { text: 'redacted', candidates: candidates('redacted') }],
  ])('changes the text by %s, and leaves calls and thoughts where they were', (_, change) => {
    expect(partsAfter(change)).toEqual([thought, { text: 'redacted' }, call]);
    expect(applyHookLLMResponse(change, original).functionCalls).toEqual([call.functionCall]);
  });

  it('prefers candidates that were changed to a text that was changed otherwise', () => {
    const change = { text: 'by text', candidates: candidates('by candidates') };
    expect(partsAfter(change)).toEqual([thought, { text: 'by candidates' }, call]);
  });

  it('removes the text altogether', () => {
    expect(partsAfter({ text: '' })).toEqual([thought, call]);
    expect(partsAfter({ candidates: candidates() })).toEqual([thought, call]);
  });

  it.each([
    ['nothing', { candidates: [] }, []],
    ['no text', { candidates: [], text: '' }, []],
    ['a text', { candidates: [], text: 'a' }, [{ index: 0, content: model('a') }]],
  ])('drops the whole answer, calls too, where no candidate is left but %s', (_, change, left) => {
    expect(toData(applyHookLLMResponse(change, original))).toEqual({
      ...(toData(original) as object),
      candidates: left,
    });
  });

  it('adds text to a response that had none, before the calls', () => {
    const applied = applyHookLLMResponse({ text: 'a' }, respond(thought, call));
    expect(applied.candidates?.[0]?.content?.parts).toEqual([thought, { text: 'a' }, call]);
    const empty = applyHookLLMResponse({ text: 'a' }, createResponse({}));
    expect(empty.text).toBe('a');
  });

  it('takes over finish reason and usage, and keeps the rest of them', () => {
    const applied = applyHookLLMResponse(
      {
        candidates: [{ ...candidates('a')[0]!, finishReason: 'SAFETY' }],
        usageMetadata: { totalTokenCount: 9 },
      },
      original,
    );
    expect(applied.candidates?.[0]?.finishReason).toBe('SAFETY');
    expect(applied.usageMetadata).toEqual({ totalTokenCount: 9, thoughtsTokenCount: 1 });
    expect(applied.modelVersion).toBe('v');
  });

  it('matches candidates by position', () => {
    const two = createResponse({
      candidates: [{ content: model('a', call) }, { content: model('b', image) }],
    });
    const applied = applyHookLLMResponse(
      { candidates: [...candidates('a'), ...candidates('c'), ...candidates('d')] },
      two,
    );
    expect(applied.candidates?.map(({ content }) => content)).toEqual([
      model('a', call),
      model('c', image),
      model('d'),
    ]);
  });

  it('modifies nothing', () => {
    const before = toData(original);
    applyHookLLMResponse({ text: 'redacted' }, original);
    expect(toData(original)).toEqual(before);
  });
});

const textOfParts = (content?: Content) =>
  (content?.parts ?? []).map((part) => part.text ?? 'call').join('|');

describe('what two hooks say of one response', () => {
  const original = createResponse({
    candidates: [{ content: model('secret', call) }, { content: model('b') }],
  });
  const full = defaultHookTranslator.toHookLLMResponse(original);
  const textsAfter = (...said: readonly Record<string, unknown>[]) => {
    const merged = said.reduce((first, second) => mergeHookResponses(first, second), {});
    const { candidates: answers = [] } = applyHookLLMResponse(merged, original);
    const synthetic = defaultHookTranslator.fromHookLLMResponse(merged);
    return { answer: answers.map((each) => textOfParts(each.content)), synthetic: synthetic.text };
  };

  it.each<[string, Record<string, unknown>[], string[], string | undefined]>([
    ['candidates, then text', [{ candidates: candidates('1') }, { text: '2' }], ['2|call'], '2'],
    ['text, then candidates', [{ text: '1' }, { candidates: candidates('2') }], ['2|call'], '2'],
    [
      'text, then all of it with other candidates',
      [{ text: '1' }, { ...full, candidates: candidates('2') }],
      ['2|call'],
      '2',
    ],
    [
      'candidates, then all of it with another text',
      [{ candidates: candidates('1') }, { ...full, text: '2' }],
      ['2|call', 'b'],
      'secret',
    ],
    [
      'both, then text',
      [{ text: '1', candidates: [...candidates('1'), ...candidates('1b')] }, { text: '2' }],
      ['2|call', '1b'],
      '2',
    ],
    [
      'candidates, then no text',
      [{ candidates: candidates('1') }, { text: '' }],
      ['call'],
      undefined,
    ],
    ['text, then no candidates', [{ text: '1' }, { candidates: [] }], [], undefined],
    ['no candidates, then text', [{ candidates: [] }, { text: '2' }], ['2'], '2'],
    [
      'text, then another finish reason',
      [{ text: '1' }, { candidates: [{ finishReason: 'STOP' }] }],
      ['1|call'],
      '1',
    ],
    [
      'candidates, then another finish reason',
      [{ candidates: candidates('1') }, { candidates: [{ finishReason: 'STOP' }] }],
      ['1|call'],
      '1',
    ],
    [
      'candidates, then the usage',
      [{ candidates: candidates('1') }, { usageMetadata: {} }],
      ['1|call'],
      '1',
    ],
  ])('the later word counts: %s', (_, said, texts, synthetic) => {
    expect(textsAfter(...said)).toEqual({ answer: texts, synthetic });
  });
});

describe('the tool configuration', () => {
  it('survives the way there and back', () => {
    const config = { mode: 'ANY' as const, allowedFunctionNames: ['a'] };
    const sdk = defaultHookTranslator.fromHookToolConfig(config);
    expect(sdk).toEqual({ functionCallingConfig: config });
    expect(defaultHookTranslator.toHookToolConfig(sdk)).toEqual(config);
  });

  it('shows nothing of a configuration that says nothing about calls', () => {
    expect(defaultHookTranslator.toHookToolConfig({})).toEqual({});
  });

  it('keeps the names when only the mode changes, and the mode when only the names do', () => {
    const base = {
      functionCallingConfig: {
        mode: FunctionCallingConfigMode.ANY,
        allowedFunctionNames: ['a'],
      },
    };
    expect(defaultHookTranslator.fromHookToolConfig({ mode: 'AUTO' }, base)).toEqual({
      functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['a'] },
    });
    expect(defaultHookTranslator.fromHookToolConfig({ allowedFunctionNames: [] }, base)).toEqual({
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [] },
    });
  });
});
