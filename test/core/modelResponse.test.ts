import { GenerateContentResponse, type GenerateContentParameters, type Part } from '@google/genai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConfigOptions } from '../../src/config/config.js';
import { GeminiChat } from '../../src/core/geminiChat.js';
import { callModelWithHooks, finishTurn } from '../../src/core/modelCall.js';
import { createResponse } from '../../src/protocol/response.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { saying } from '../helpers/hooks.js';
import { readToEnd } from './helpers/chats.js';
import { chunk, stream } from './helpers/modelAnswers.js';
import { useSandbox } from './helpers/sandbox.js';

const sandbox = useSandbox();
const request: GenerateContentParameters = { model: 'm', contents: 'Hello' };

const parts: Part[] = [
  { text: 'Some thought', thought: true },
  { text: 'Hello.' },
  { functionCall: { name: 'add', args: {} } },
  { executableCode: { code: 'print(1)' } },
  { codeExecutionResult: { output: '1' } },
  { inlineData: { mimeType: 'image/png', data: btoa('picture ') } },
  { inlineData: { mimeType: 'image/png', data: btoa('of a cat') } },
];

const accessors = Object.entries(
  Object.getOwnPropertyDescriptors(GenerateContentResponse.prototype),
)
  .filter(([name]) => name !== 'constructor')
  .map(([name]) => name as keyof GenerateContentResponse);

/** All that the accessors of the SDK's class give. */
const readAll = (response: GenerateContentResponse) =>
  Object.fromEntries(accessors.map((name) => [name, response[name]]));

function ofSdk(fields: object): GenerateContentResponse {
  return Object.assign(new GenerateContentResponse(), fields);
}

async function* each(chunks: readonly unknown[]): AsyncGenerator<GenerateContentResponse> {
  yield* chunks as GenerateContentResponse[];
}

const WAYS: [string, HookDefinitions, ConfigOptions?][] = [
  ['hooks off', {}, { enableHooks: false }],
  ['no hook', {}],
  ['a silent hook', { AfterModel: [{ hooks: [saying({})] }] }],
];

const redacting = { hookSpecificOutput: { llm_response: { text: 'Redacted.' } } };
const blocking = { decision: 'block', ...redacting };

// The SDK's accessors warn of what they leave out.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
afterEach(() => void vi.restoreAllMocks());

describe('the response of a call', () => {
  it.each([
    ...WAYS,
    ['a changing hook', { AfterModel: [{ hooks: [saying(redacting)] }] }] as const,
  ])('that the SDK made is of its class with %s', async (_, hooks, options) => {
    const { models } = await sandbox.startModel(stream(chunk(parts), chunk([{ text: 'Bye.' }])));
    const config = sandbox.createConfig(hooks, options);
    const chat = new GeminiChat({ config, models, model: 'gemini-2.5-flash' });
    const { response } = (await readToEnd(chat.sendMessageStream('Hello'))).turn;
    expect(response).toBeInstanceOf(GenerateContentResponse);
    expect(readAll(response)).toEqual(readAll(ofSdk(response)));
    expect(response.executableCode).toBe('print(1)');
  });

  it('that a hook gave in place of the model reads like one of the SDK', async () => {
    const config = sandbox.createConfig({ BeforeModel: [{ hooks: [saying(blocking)] }] });
    const { response } = await finishTurn(
      callModelWithHooks(config, request, async () => each([])),
    );
    expect(readAll(response)).toEqual({ ...readAll(ofSdk({})), text: 'Redacted.' });
  });

  it.each(WAYS)(
    'has nothing of chunks that are empty, and they are shown, with %s',
    async (...way) => {
      const [, hooks, options] = way;
      const chunks = [
        null,
        { candidates: [null] },
        { candidates: null },
        { candidates: [{ content: { parts: [{ text: 'Hello.' }] } }] },
        { candidates: [{ content: { parts: null } }, { content: null }] },
        undefined,
      ];
      const config = sandbox.createConfig(hooks, options);
      const call = callModelWithHooks(config, request, async () => each(chunks));
      const shown: unknown[] = [];
      let step = await call.next();
      for (; !step.done; step = await call.next()) shown.push(step.value);
      expect(shown).toEqual(chunks);
      expect(step.value.response.text).toBe('Hello.');
    },
  );

  it('is that of a chat, too, where chunks are empty', async () => {
    const chunks = [
      null,
      { candidates: [null] },
      { candidates: null },
      chunk([{ text: 'Hello.' }]),
    ];
    const models = { generateContentStream: async () => each(chunks) };
    const config = sandbox.createConfig({}, { enableHooks: false });
    const chat = new GeminiChat({ config, models, model: 'm' });
    const asked: unknown[] = [];
    for await (const event of chat.sendMessageStream('Hello')) {
      asked.push(event.type === 'chunk' ? event.value : event.turn.response.text);
    }
    expect(asked).toEqual([...chunks, 'Hello.']);
  });
});

describe('createResponse', () => {
  it.each([
    ['nothing', {}],
    ['no parts', { candidates: [{ content: { parts: [] } }] }],
    ['parts of all kinds', { candidates: [{ content: { parts } }] }],
    ['no such parts', { candidates: [{ content: { parts: [{ thoughtSignature: 'x' }] } }] }],
    ['a count of tokens', { usageMetadata: { promptTokenCount: 7 } }],
  ])('makes what reads like a response of the SDK with %s', (_, fields) => {
    expect(readAll(createResponse(fields))).toEqual(readAll(ofSdk(fields)));
  });
});
