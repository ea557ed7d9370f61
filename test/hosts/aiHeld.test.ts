import * as ai7 from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import * as ai6 from 'ai6';
import { MockLanguageModelV3 } from 'ai6/test';
import { Config } from 'hookstack';
import { aiHooks } from 'hookstack/ai';
import { describe, expect, it } from 'vitest';

const VERSIONS = [
  { version: 7, sdk: ai7, Model: MockLanguageModelV4 },
  {
    version: 6,
    sdk: ai6 as unknown as typeof ai7,
    Model: MockLanguageModelV3 as unknown as typeof MockLanguageModelV4,
  },
];

const SECRET = 'hunter2';
const providerMetadata = { mock: { logprobs: SECRET } };
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finishReason = { unified: 'stop' as const, raw: 'stop' };
const call = { type: 'tool-call', toolCallId: '1', toolName: 'look', input: '{}' };
const source = { type: 'source', sourceType: 'url', id: 's', url: `http://x.test/${SECRET}` };
const file = { type: 'file', mediaType: 'text/plain', data: btoa(SECRET) };

/** All that a model can say besides text, in a stream. */
const PARTS = [
  { type: 'stream-start', warnings: [] },
  { type: 'raw', rawValue: { text: SECRET } },
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: `It is ${SECRET}` },
  { type: 'reasoning-end', id: 'r' },
  { type: 'text-start', id: 't', providerMetadata },
  { type: 'text-delta', id: 't', delta: SECRET },
  { type: 'text-end', id: 't' },
  source,
  file,
  { type: 'tool-input-start', id: '1', toolName: 'look' },
  { type: 'tool-input-delta', id: '1', delta: SECRET },
  { type: 'tool-input-end', id: '1' },
  call,
  { type: 'raw', rawValue: { text: SECRET } },
  { type: 'finish', finishReason, usage, providerMetadata },
];

const redaction = { hookSpecificOutput: { llm_response: { text: '[redacted]' } } };
const stop = { continue: false, stopReason: 'Enough.' };

async function readAll<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}

function hooksAnswering(answer: object) {
  const ANSWER = JSON.stringify(answer);
  const command = 'cat > /dev/null; printf \'%s\' "$ANSWER"';
  const hook = { type: 'command' as const, command, env: { ANSWER } };
  const hooks = { AfterModel: [{ hooks: [hook] }] };
  return aiHooks(new Config({ enableHooks: true, hooks, afterModelDisplay: 'hold' }));
}

describe.each(VERSIONS)('an answer that is held, with AI SDK $version', ({ sdk, Model }) => {
  function setUp(answer: object) {
    const model = new Model({
      doGenerate: async () => ({
        content: [
          { type: 'reasoning', text: `It is ${SECRET}` },
          { type: 'text', text: SECRET, providerMetadata },
          source,
          file,
          call,
        ] as never,
        finishReason,
        usage,
        warnings: [],
        providerMetadata,
        response: { id: 'r1', modelId: 'm', body: { text: SECRET } },
      }),
      doStream: async () => ({ stream: ReadableStream.from(PARTS as never[]) }),
    });
    return { middleware: hooksAnswering(answer).middleware, model };
  }

  it.each([
    ['changed', redaction, '[redacted]'],
    ['stopped', { ...stop, ...redaction }, '[redacted]'],
  ])('gives nothing that hooks could not see, where they %s it', async (_how, answer, left) => {
    const { middleware, model } = setUp(answer);
    const wrapped = sdk.wrapLanguageModel({ model, middleware });
    const params = { prompt: [] };
    const { stream } = await wrapped.doStream({ ...params, includeRawChunks: true });
    const parts = await readAll(stream);
    const given = await wrapped.doGenerate(params);
    for (const whole of [parts, given]) {
      expect(JSON.stringify(whole)).not.toContain(SECRET);
      expect(JSON.stringify(whole)).not.toContain(btoa(SECRET));
      expect(JSON.stringify(whole)).toContain(left);
    }
    expect(given.response).toEqual({ id: 'r1', modelId: 'm' });
  });

  it('gives all of it, where they leave it as it is', async () => {
    const { middleware, model } = setUp({});
    const wrapped = sdk.wrapLanguageModel({ model, middleware });
    const { stream } = await wrapped.doStream({ prompt: [], includeRawChunks: true });
    expect(await readAll(stream)).toEqual(PARTS);
    const given = await wrapped.doGenerate({ prompt: [] });
    expect(given).toMatchObject({ providerMetadata, response: { body: { text: SECRET } } });
    expect(given.content).toHaveLength(5);
  });
});
