import { EventEmitter, once } from 'node:events';
import * as ai7 from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import * as ai6 from 'ai6';
import { MockLanguageModelV3 } from 'ai6/test';
import { Config, type ConfigOptions } from 'hookstack';
import { aiHooks, type AiHooksOptions } from 'hookstack/ai';
import { describe, expect, it } from 'vitest';
import { RecordingLogger } from '../helpers/recordingLogger.js';

type Params = Parameters<MockLanguageModelV4['doGenerate']>[0];
type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;
type Content = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>['content'];

const VERSIONS = [
  { version: 7, sdk: ai7, Model: MockLanguageModelV4 },
  {
    version: 6,
    sdk: ai6 as unknown as typeof ai7,
    Model: MockLanguageModelV3 as unknown as typeof MockLanguageModelV4,
  },
];

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

const inputSchema = ai7.jsonSchema<Record<string, unknown>>({ type: 'object', properties: {} });
const text = (said: string) => ({ type: 'text' as const, text: said });
const call = (id: string, toolName = 'look', input = '{"at":"it"}') => ({
  type: 'tool-call' as const,
  toolCallId: id,
  toolName,
  input,
});

function answering(answer: unknown) {
  const command = 'cat > /dev/null; printf \'%s\' "$ANSWER"';
  return [
    { hooks: [{ type: 'command' as const, command, env: { ANSWER: JSON.stringify(answer) } }] },
  ];
}

const redaction = answering({ hookSpecificOutput: { llm_response: { text: '[redacted]' } } });
const stopping = answering({ continue: false, stopReason: 'Enough.' });

function setUp(config: ConfigOptions['hooks'] & object, options?: AiHooksOptions) {
  const logger = new RecordingLogger();
  const hooks = aiHooks(
    new Config({ enableHooks: true, hooks: config, debugLogger: logger }),
    options,
  );
  return { hooks, warnings: () => logger.warnings };
}

function plain({ abortSignal: _signal, headers: _headers, ...params }: Params) {
  return params;
}

const onError = () => undefined;
const doGenerate = () => Promise.reject(new Error('must not be called'));

async function readAll<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of stream) all.push(each);
  return all;
}

async function* someThenAll() {
  yield 'some';
  yield 'all';
}

function finishOf(content: Content) {
  const isCall = content.some(({ type }) => type === 'tool-call');
  const unified = isCall ? ('tool-calls' as const) : ('stop' as const);
  return { finishReason: { unified, raw: unified }, usage };
}

describe.each(VERSIONS)('hookstack/ai with AI SDK $version', ({ sdk, Model }) => {
  /** A model that says these, and then `Done.`; its streams give text letter by letter. */
  function model(...answers: Content[]) {
    const left = [...answers];
    const next = (): Content => left.shift() ?? [text('Done.')];
    return new Model({
      doGenerate: async () => {
        const content = next();
        return { content, ...finishOf(content), warnings: [] };
      },
      doStream: async () => {
        const content = next();
        const parts = content.flatMap((part): StreamPart[] =>
          part.type === 'text'
            ? [
                { type: 'text-start' as const, id: '1' },
                ...part.text
                  .split('')
                  .map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
                { type: 'text-end' as const, id: '1' },
              ]
            : [part as StreamPart],
        );
        const chunks: StreamPart[] = [
          { type: 'stream-start' as const, warnings: [] },
          ...parts,
          { type: 'finish' as const, ...finishOf(content) },
        ];
        return {
          stream: sdk.simulateReadableStream({
            chunks,
            initialDelayInMs: null,
            chunkDelayInMs: null,
          }),
        };
      },
    });
  }

  const wrapped = (mock: MockLanguageModelV4, { hooks }: ReturnType<typeof setUp>) =>
    sdk.wrapLanguageModel({ model: mock, middleware: hooks.middleware });
  const look = (execute: (input: Record<string, unknown>) => unknown = () => 'Seen.') =>
    sdk.tool({ inputSchema, execute });
  const stopWhen = sdk.stepCountIs(5);
  const base = { prompt: 'Go.', maxRetries: 0 };

  it('sends what the host has sent, where no hook changes it', async () => {
    const messages: ai7.ModelMessage[] = [
      { role: 'system', content: 'Be kind.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'file', data: new Uint8Array([1]), mediaType: 'image/png' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'A dot.' },
        ],
      },
      { role: 'user', content: 'Sure?' },
    ];
    const settings = {
      messages,
      temperature: 0.5,
      seed: 1,
      maxRetries: 0,
      allowSystemInMessages: true,
      tools: { look: look() },
    };
    const [bare, hooked] = [model(), model()];
    const setup = setUp({ BeforeModel: answering({}), BeforeToolSelection: answering({}) });
    await sdk.generateText({ model: bare, ...settings });
    await sdk.generateText({ model: wrapped(hooked, setup), ...settings });
    expect(hooked.doGenerateCalls.map(plain)).toEqual(bare.doGenerateCalls.map(plain));
  });

  it('changes the text of a message and leaves its file, and adds messages', async () => {
    const mock = model();
    const messages = [
      { role: 'user', content: 'Changed.' },
      { role: 'user', content: 'More.' },
    ];
    const setup = setUp({
      BeforeModel: answering({ hookSpecificOutput: { llm_request: { messages } } }),
    });
    const content = [
      { type: 'file' as const, data: new Uint8Array([1]), mediaType: 'image/png' },
      text('Secret.'),
    ];
    await sdk.generateText({ model: wrapped(mock, setup), messages: [{ role: 'user', content }] });
    const [first, second] = mock.doGenerateCalls[0]?.prompt ?? [];
    expect(first?.content).toMatchObject([
      { type: 'file', mediaType: 'image/png' },
      { type: 'text', text: 'Changed.' },
    ]);
    expect(second).toEqual({ role: 'user', content: [{ type: 'text', text: 'More.' }] });
  });

  it('leaves calls where it changes the text of an answer, and no reasoning', async () => {
    const reasoning = { type: 'reasoning' as const, text: 'Hm.' };
    const mock = model([reasoning, text('My password'), call('1')]);
    const result = await sdk.generateText({
      model: wrapped(mock, setUp({ AfterModel: redaction })),
      tools: { look: look() },
      ...base,
    });
    expect(result.content.map((part) => ('text' in part ? part.text : part.type))).toEqual([
      '[redacted]',
      'tool-call',
      'tool-result',
    ]);
  });

  it('gives the output of a tool as it is, and a text where hooks have changed it', async () => {
    const output = { degrees: 7 };
    for (const [hooks, expected] of [
      [{ AfterTool: answering({}) }, output],
      [{ AfterTool: answering({ systemMessage: 'Warm.' }) }, '{"degrees":7}\n\n[System] Warm.'],
    ] as const) {
      const setup = setUp(hooks);
      const tools = setup.hooks.wrapTools({ look: look(() => output) });
      const { toolResults } = await sdk.generateText({
        model: wrapped(model([call('1')]), setup),
        tools,
        ...base,
      });
      expect(toolResults[0]?.output).toEqual(expected);
    }
  });

  it('does not hand a text of hooks to the tool itself', async () => {
    const setup = setUp({ AfterTool: answering({ systemMessage: 'Warm.' }) });
    const own = {
      ...look(() => ({ degrees: 7 })),
      toModelOutput: ({ output }: { output: unknown }) => ({
        type: 'text' as const,
        value: (output as { degrees: number }).degrees.toFixed(),
      }),
    };
    const mock = model([call('1')]);
    await sdk.generateText({
      model: wrapped(mock, setup),
      tools: setup.hooks.wrapTools({ look: own as never }),
      stopWhen,
      ...base,
    });
    expect(JSON.stringify(mock.doGenerateCalls[1]?.prompt.at(-1))).toContain('[System] Warm.');
  });

  it('runs a tool that yields to its end, and an input that is no object', async () => {
    const seen: unknown[] = [];
    const setup = setUp({
      BeforeTool: answering({ hookSpecificOutput: { tool_input: { input: 'b' } } }),
    });
    const yielding = async function* (input: unknown) {
      seen.push(input);
      yield 'some';
      yield 'all';
    };
    const tools = setup.hooks.wrapTools({
      look: sdk.tool({
        inputSchema: sdk.jsonSchema<string>({ type: 'string' }),
        execute: yielding,
      }),
    });
    const { toolResults } = await sdk.generateText({
      model: wrapped(model([call('1', 'look', '"a"')]), setup),
      tools,
      ...base,
    });
    expect(seen).toEqual(['b']);
    expect(toolResults[0]?.output).toBe('all');
  });

  it('keeps a stop apart from a conversation that has a call with the same id', async () => {
    const stop = { ...stopping[0], matcher: '^halt$' };
    const seen: string[] = [];
    const setup = setUp(
      { BeforeTool: [stop as never] },
      { onHooks: (event) => void seen.push(event) },
    );
    const { hooks } = setup;
    const gate = new EventEmitter();
    const tools = hooks.wrapTools({
      halt: look(),
      slow: look(() => once(gate, 'open')),
      look: look(),
    });
    const first = model([call('c0', 'halt'), call('c1', 'slow')]);
    const asking = sdk.generateText({
      ...base,
      model: wrapped(first, setup),
      tools,
      stopWhen: [stopWhen, hooks.isStopped],
    });
    await expect.poll(() => seen).toEqual(['BeforeTool']);
    const second = model([call('c0')]);
    const other = sdk.generateText({
      ...base,
      model: wrapped(second, setup),
      tools,
      stopWhen,
    });
    await other;
    gate.emit('open');
    const result = await asking;
    expect(hooks.stopReason(result)).toBe('Enough.');
    expect(first.doGenerateCalls).toHaveLength(1);
  });

  it('does not ask the model again after a stop, without isStopped; a new message goes on', async () => {
    const setup = setUp({ AfterTool: stopping });
    const mock = model([call('1')], [text('On we go.')]);
    const tools = setup.hooks.wrapTools({ look: look() });
    const options = { model: wrapped(mock, setup), tools, stopWhen, maxRetries: 0 };
    const first = await sdk.generateText({ prompt: 'Go.', ...options });
    expect([first.text, setup.hooks.stopReason(first)]).toEqual(['Enough.', 'Enough.']);
    expect(mock.doGenerateCalls).toHaveLength(1);
    const messages: ai7.ModelMessage[] = [
      { role: 'user', content: 'Go.' },
      ...first.response.messages,
      { role: 'user', content: 'Go on.' },
    ];
    const second = await sdk.generateText({ messages, ...options });
    expect([second.text, setup.hooks.stopReason(second)]).toEqual(['On we go.', undefined]);
  });

  it('runs no tool of a streamed answer that stops the agent', async () => {
    let runs = 0;
    const setup = setUp({ AfterModel: stopping });
    const tools = setup.hooks.wrapTools({ look: look(() => runs++) });
    const result = sdk.streamText({
      model: wrapped(model([text('Hm.'), call('1')]), setup),
      tools,
      stopWhen,
      ...base,
    });
    expect(await result.text).toBe('Hm.');
    expect(setup.hooks.stopReason({ steps: await result.steps })).toBe('Enough.');
    expect(runs).toBe(0);
  });

  it('streams text before a tool call, and runs the tool', async () => {
    const setup = setUp({ AfterModel: answering({}), AfterTool: answering({}) });
    const tools = setup.hooks.wrapTools({ look: look() });
    const result = sdk.streamText({
      model: wrapped(model([text('Hm.'), call('1')]), setup),
      tools,
      stopWhen,
      ...base,
    });
    const types = (await readAll<{ type: string }>(result.fullStream)).map(({ type }) => type);
    const order = ['text-delta', 'text-end', 'tool-call', 'tool-result', 'finish-step'];
    expect(order.map((type) => types.indexOf(type))).toEqual(
      order.map((type) => types.indexOf(type)).toSorted((a, b) => a - b),
    );
    expect(await result.text).toBe('Done.');
  });

  it('keeps calls of an answer that is held and changed', async () => {
    const logger = new RecordingLogger();
    const config = new Config({
      enableHooks: true,
      hooks: { AfterModel: redaction },
      afterModelDisplay: 'hold',
      debugLogger: logger,
    });
    const hooks = aiHooks(config);
    const mock = model([text('My password'), call('1')]);
    const result = sdk.streamText({
      model: sdk.wrapLanguageModel({ model: mock, middleware: hooks.middleware }),
      tools: hooks.wrapTools({ look: look() }),
      ...base,
    });
    const [step] = await result.steps;
    expect(step?.content.map((part) => ('text' in part ? part.text : part.type))).toEqual([
      '[redacted]',
      'tool-call',
      'tool-result',
    ]);
    expect(logger.warnings).toEqual([]);
  });

  it('warns once where a change came too late, and fails with strict', async () => {
    const setup = setUp({ AfterModel: redaction });
    for (let times = 0; times < 2; times++) {
      const { text: given } = sdk.streamText({
        model: wrapped(model([text('My password')]), setup),
        ...base,
      });
      expect(await given).toBe('My password');
    }
    expect(setup.warnings()).toEqual([expect.stringContaining('"afterModelDisplay" to "hold"')]);

    const strict = setUp({ AfterModel: redaction }, { strict: true });
    const mock = model([text('My password')]);
    const streamed = sdk.streamText({ model: wrapped(mock, strict), onError, ...base });
    await expect(readAll(streamed.textStream)).rejects.toThrow('streamed already');
  });

  it('tells the model with the results of tools what hooks said of its answer', async () => {
    const setup = setUp({ AfterModel: answering({ systemMessage: 'Be brief.' }) });
    const mock = model([call('1')]);
    await sdk.generateText({
      model: wrapped(mock, setup),
      tools: setup.hooks.wrapTools({ look: look() }),
      stopWhen,
      ...base,
    });
    expect(mock.doGenerateCalls[1]?.prompt.at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: '[System] Be brief.' }],
    });
  });

  it('offers no tool where hooks allow none', async () => {
    const setup = setUp({
      BeforeToolSelection: answering({ hookSpecificOutput: { toolConfig: { mode: 'NONE' } } }),
    });
    const mock = model();
    await sdk.generateText({ model: wrapped(mock, setup), tools: { look: look() }, ...base });
    expect(mock.doGenerateCalls[0]?.toolChoice).toEqual({ type: 'none' });
    expect(mock.doGenerateCalls[0]?.tools).toHaveLength(1);
  });

  it('warns once of tools that run elsewhere, and refuses them with strict', async () => {
    const { execute: _execute, ...client } = look();
    const tools = { client: client as never };
    const setup = setUp({});
    setup.hooks.wrapTools(tools);
    setup.hooks.wrapTools(tools);
    expect(setup.warnings()).toEqual([expect.stringContaining('do not cover the tool "client"')]);
    const strict = setUp({}, { strict: true });
    expect(() => strict.hooks.wrapTools(tools)).toThrow('do not cover the tool "client"');

    const searched: Content = [
      { ...call('1', 'search'), providerExecuted: true },
      { type: 'tool-result', toolCallId: '1', toolName: 'search', result: 'x' },
    ];
    const again = setUp({});
    await sdk.generateText({
      model: wrapped(model(searched), again),
      ...base,
      tools: { search: client as never },
    });
    expect(again.warnings()).toEqual([
      expect.stringContaining('"search": the provider of the model has run it'),
    ]);
    const refused = sdk.generateText({
      model: wrapped(model(searched), strict),
      ...base,
      tools: { search: client as never },
    });
    await expect(refused).rejects.toThrow('do not cover the tool "search"');
  });

  it('lets the SDK try again', async () => {
    const mock = model();
    const { doStream } = mock;
    let times = 0;
    mock.doStream = async (params) => {
      if (times++ > 0) return doStream(params);
      throw new sdk.APICallError({
        message: 'busy',
        url: '',
        requestBodyValues: {},
        statusCode: 503,
        isRetryable: true,
        responseHeaders: { 'retry-after-ms': '1' },
      });
    };
    const result = sdk.streamText({
      ...base,
      model: wrapped(mock, setUp({ BeforeModel: answering({}) })),
      maxRetries: 1,
    });
    expect(await result.text).toBe('Done.');
  });

  it.each([
    { where: 'a hook may change its result', hooks: { AfterTool: answering({}) }, given: [] },
    { where: 'none does', hooks: undefined, given: ['some', 'all'] },
  ])('gives what a tool yields on the way where $where', async ({ hooks, given }) => {
    const { middleware, wrapTools } = aiHooks(new Config({ enableHooks: !!hooks, hooks }));
    const { fullStream } = sdk.streamText({
      ...base,
      model: sdk.wrapLanguageModel({ model: model([call('1')]), middleware }),
      tools: wrapTools({ look: sdk.tool({ inputSchema, execute: someThenAll }) }),
    });
    const results = (await readAll(fullStream)).filter((part) => part.type === 'tool-result');
    expect(results.map(({ output }) => output)).toEqual([...given, 'all']);
  });

  it.each([
    { end: 'fails', reason: undefined },
    { end: 'is aborted, for whatever reason', reason: 'enough' },
  ])('ends as without hooks where a stream that they read $end', async ({ reason }) => {
    const ends = async (hooked: boolean) => {
      const controller = new AbortController();
      const mock = model();
      mock.doStream = async () => ({
        stream: new ReadableStream({
          pull(to) {
            if (reason) controller.abort(reason);
            to.error(reason ? new DOMException('aborted', 'AbortError') : new Error('torn'));
          },
        }),
      });
      const { fullStream } = sdk.streamText({
        ...base,
        model: hooked ? wrapped(mock, setUp({ BeforeModel: answering({}) })) : mock,
        abortSignal: controller.signal,
        onError,
      });
      return readAll(fullStream).catch(String);
    };
    expect(await ends(true)).toEqual(await ends(false));
  });

  it.each([
    { where: 'hooks read it', hooks: { BeforeModel: answering({}) } },
    { where: 'none does', hooks: {} },
  ])('ends the stream of the model with the reader, where $where', async ({ hooks }) => {
    const mock = model();
    const ends: unknown[] = [];
    mock.doStream = async () => ({
      stream: new ReadableStream({
        pull: (to) => to.enqueue({ type: 'text-delta', id: '1', delta: '.' }),
        cancel: (reason) => void ends.push(reason),
      }),
    });
    const { stream } = await wrapped(mock, setUp(hooks)).doStream({
      prompt: [{ role: 'user', content: [text('Go.')] }],
    });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(ends).toHaveLength(1);
  });

  it.each([
    { stack: undefined, isHosts: true },
    { stack: 'hook' as const, isHosts: true },
    { stack: 'model' as const, isHosts: false },
  ])(
    'hands the signal of the host to the model, unless middleware may end the call ($stack)',
    async ({ stack, isHosts }) => {
      const config = new Config();
      if (stack) config.use(stack, (_call: unknown, next: () => Promise<void>) => next());
      const mock = model();
      const seen: (AbortSignal | undefined)[] = [];
      mock.doGenerate = async ({ abortSignal }) => {
        seen.push(abortSignal);
        throw new Error('busy');
      };
      const { middleware } = aiHooks(config);
      const { signal: abortSignal } = new AbortController();
      const hooked = sdk.wrapLanguageModel({ model: mock, middleware });
      const asking = sdk.generateText({ ...base, model: hooked, abortSignal });
      await expect(asking).rejects.toThrow('busy');
      expect(seen.map((each) => [each === abortSignal, each?.aborted])).toEqual([
        [isHosts, !isHosts],
      ]);
    },
  );

  it('asks for the session of each call', async () => {
    const seen: string[] = [];
    const answer = `cat > /dev/null; exit 0`;
    const setup = setUp(
      { BeforeModel: [{ hooks: [{ type: 'command', command: answer }] }] },
      { session: () => ({ sessionId: `session-${seen.push('call')}` }) },
    );
    await sdk.generateText({ model: wrapped(model(), setup), ...base });
    expect(seen).toEqual(['call']);
  });
});

describe('aiHooks', () => {
  it('refuses models of other versions, and names both', async () => {
    const { middleware } = aiHooks(new Config());
    const old = { specificationVersion: 'v2', modelId: 'old', doGenerate, doStream: doGenerate };
    const given = middleware.wrapGenerate({ model: old, params: { prompt: [] }, doGenerate });
    await expect(given).rejects.toThrow(
      /hookstack\/ai is for the AI SDK 6\.x or 7\.x, and this is the AI SDK 5:/,
    );
    const next = middleware.wrapGenerate({
      model: { ...old, specificationVersion: 'v5' },
      params: { prompt: [] },
      doGenerate,
    });
    await expect(next).rejects.toThrow(/6\.x or 7\.x, and this is the AI SDK .*v5/);
  });

  it('refuses options that do not exist', () => {
    expect(() => aiHooks(new Config(), { strikt: true } as never)).toThrow(
      'did you mean "strict"?',
    );
  });
});
