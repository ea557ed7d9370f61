import { FunctionCallingConfigMode, type GenerateContentResponse } from '@google/genai';
import { describe, expect, it } from 'vitest';
import {
  modelStages as modelStagesOf,
  toolStages as toolStagesOf,
  type FireHook,
} from '../../middleware/callerEffects.js';
import type { Middleware } from '../../src/compose.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { fireHook, mayBeRead, skipIdle } from '../../src/hooks/fireHook.js';
import {
  ALLOW,
  createModelCall,
  createToolCall,
  type ModelCall,
  type OpenStream,
  type ToolCall,
} from '../../src/context.js';
import { collectResponse, createResponse, textResponse } from '../../src/protocol/response.js';
import { STAGES } from '../../src/protocol/stages.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import type { ToolResult } from '../../src/tools/tools.js';
import { blocking, hook, keepInput, saying } from '../helpers/hooks.js';
import { countingNext, failingNext } from '../helpers/next.js';
import { failingObserver } from '../helpers/observer.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const specific = (fields: object) => ({ hookSpecificOutput: fields });

function createConfig(hooks: HookDefinitions, options: ConfigOptions = {}): Config {
  return new Config({
    enableHooks: true,
    workingDir: temp.path,
    debugLogger: new RecordingLogger(),
    hooks,
    ...options,
  });
}

const ran: ToolResult = { llmContent: 'ran', returnDisplay: 'ran' };

/** Whose hooks look at a call. */
const configs = new WeakMap<ToolCall | ModelCall, Config>();

function of<C extends ToolCall | ModelCall>(config: Config, call: C): C {
  configs.set(call, config);
  return call;
}

function configOf(call: ToolCall | ModelCall): Config {
  return configs.get(call) ?? createConfig({});
}

/** The stages, each with the hooks of the call that passes. */
function stagesOf<C extends ToolCall | ModelCall, N extends string>(
  names: readonly N[],
  build: (fire: FireHook, config: Config) => Record<N, Middleware<C>>,
): Record<N, Middleware<C>> {
  const stage = (name: N): Middleware<C> => {
    return (call, next) => {
      const config = configOf(call);
      return build((...fired) => fireHook(config, ...fired), config)[name](call, next);
    };
  };
  return Object.fromEntries(names.map((name) => [name, stage(name)])) as Record<N, Middleware<C>>;
}

const toolStages = stagesOf(STAGES.tool, (fire, config) =>
  toolStagesOf(fire, {
    askPerson: config.askPerson,
    mayBeRead: (event) => mayBeRead(config, event),
  }),
);
const modelStages = stagesOf(STAGES.model, (fire, config) =>
  modelStagesOf(fire, {
    skipIdle: (event) => skipIdle(config, event),
    mayBeRead: (event) => mayBeRead(config, event),
    holdsAnswers: () => config.holdsAnswers(),
    askPerson: config.askPerson,
    getDebugLogger: () => config.getDebugLogger(),
  }),
);

function toolCall(hooks: HookDefinitions) {
  const call = createToolCall('write_file', { path: 'a' }, async () => ran);
  return of(createConfig(hooks), call);
}

const request = { model: 'm', contents: 'hi', config: { temperature: 1 } };

async function* streamOf(...responses: GenerateContentResponse[]) {
  yield* responses;
}

function modelCall(hooks: HookDefinitions, options: ConfigOptions & { open?: OpenStream } = {}) {
  const { open = async () => streamOf(textResponse('hello')), ...rest } = options;
  return of(createConfig(hooks, rest), createModelCall(request, open));
}

async function readTexts(call: ModelCall): Promise<(string | undefined)[]> {
  const texts = [];
  for await (const chunk of call.stream ?? []) texts.push(chunk.text);
  return texts;
}

describe('beforeTool', () => {
  it('calls next and changes nothing without hooks', async () => {
    const call = toolCall({});
    const next = countingNext();
    await toolStages.beforeTool(call, next);
    expect(next.calls).toBe(1);
    expect(call).toMatchObject({ input: { path: 'a' }, result: undefined, verdict: ALLOW });
  });

  it('replaces the input before it calls next, and keeps the original', async () => {
    const call = toolCall({
      BeforeTool: [{ hooks: [saying(specific({ tool_input: { path: 'b' } }))] }],
    });
    await toolStages.beforeTool(call, async () => expect(call.input).toEqual({ path: 'b' }));
    expect(call.originalInput).toEqual({ path: 'a' });
    expect.assertions(2);
  });

  it.each([
    ['block', blocking('no'), 'blocked_by_hook'],
    ['stop', saying({ continue: false, stopReason: 'no' }), 'stop_execution'],
  ])('does not call next on a %s, and fills result and verdict', async (kind, guard, type) => {
    const call = toolCall({ BeforeTool: [{ hooks: [guard] }] });
    const next = countingNext();
    await toolStages.beforeTool(call, next);
    expect(next.calls).toBe(0);
    const hooks = [guard.command];
    expect(call.verdict).toEqual({ kind, event: 'BeforeTool', reason: 'no', hooks });
    expect(call.result).toMatchObject({ llmContent: 'no', error: { type, message: 'no' } });
  });

  it('passes an error from next on untouched, with and without hooks', async () => {
    const { next, error } = failingNext();
    for (const hooks of [{}, { BeforeTool: [{ hooks: [hook('true')] }] }]) {
      await expect(toolStages.beforeTool(toolCall(hooks), next)).rejects.toBe(error);
    }
  });
});

describe('afterTool', () => {
  it('calls next first, and fires nothing when the tool did not run', async () => {
    const call = toolCall({ AfterTool: [{ hooks: [hook(': > after')] }] });
    const next = countingNext();
    await toolStages.afterTool(call, next);
    expect(next.calls).toBe(1);
    expect(call.result).toBeUndefined();
    await expect(temp.readLines('after')).rejects.toThrow('ENOENT');
  });

  it('stops the agent once the tool has run', async () => {
    const call = toolCall({
      AfterTool: [{ hooks: [saying({ continue: false, reason: 'enough' })] }],
    });
    await toolStages.afterTool(call, async () => {
      call.result = ran;
    });
    expect(call.verdict).toMatchObject({ kind: 'stop', event: 'AfterTool', reason: 'enough' });
    expect(call.result).toMatchObject({ llmContent: 'ran', error: { type: 'stop_execution' } });
    expect(ran).toEqual({ llmContent: 'ran', returnDisplay: 'ran' });
  });

  it('cannot block what has happened', async () => {
    const call = toolCall({ AfterTool: [{ hooks: [blocking('too late')] }] });
    await toolStages.afterTool(call, async () => {
      call.result = ran;
    });
    expect(call.verdict).toEqual(ALLOW);
    expect(call.result).toEqual({
      ...ran,
      llmContent: `ran\n\n${asHookContext('too late')}`,
    });
  });

  it('passes an error from next on untouched, and fires nothing', async () => {
    const { next, error } = failingNext();
    const call = toolCall({ AfterTool: [{ hooks: [hook(': > after')] }] });
    await expect(toolStages.afterTool(call, next)).rejects.toBe(error);
    await expect(temp.readLines('after')).rejects.toThrow('ENOENT');
  });
});

describe('execute', () => {
  it('runs the tool with the input that is left, fills result, then calls next', async () => {
    const inputs: unknown[] = [];
    const call = createToolCall('x', { a: 1 }, async (input) => {
      inputs.push(input);
      return ran;
    });
    call.input = { b: 2 };
    await toolStages.execute(call, async () => expect(call.result).toBe(ran));
    expect(inputs).toEqual([{ b: 2 }]);
    expect.assertions(2);
  });

  it('passes the error of the tool and that of next on untouched', async () => {
    const { next, error } = failingNext();
    await expect(toolStages.execute(toolCall({}), next)).rejects.toBe(error);
    const failing = createToolCall('x', {}, () => Promise.reject(error));
    await expect(toolStages.execute(failing, countingNext())).rejects.toBe(error);
  });
});

describe('beforeToolSelection', () => {
  it('calls next and changes nothing without hooks', async () => {
    const call = modelCall({});
    const next = countingNext();
    await modelStages.beforeToolSelection(call, next);
    expect(next.calls).toBe(1);
    expect(call.request).toEqual(request);
  });

  it('replaces the tool configuration and keeps the rest of the request', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['b', 'a'] };
    const call = modelCall({
      BeforeToolSelection: [{ hooks: [saying(specific({ toolConfig }))] }],
    });
    const next = countingNext();
    await modelStages.beforeToolSelection(call, next);
    expect(next.calls).toBe(1);
    expect(call.request).toEqual({
      ...request,
      config: {
        temperature: 1,
        toolConfig: {
          functionCallingConfig: {
            mode: FunctionCallingConfigMode.ANY,
            allowedFunctionNames: ['a', 'b'],
          },
        },
      },
    });
    expect(call.originalRequest).toBe(request);
    expect(request.config).toEqual({ temperature: 1 });
  });

  it('leaves the tools switched off where the host wants none', async () => {
    const functionCallingConfig = { mode: FunctionCallingConfigMode.NONE };
    const hooks = [
      saying({ systemMessage: 'Look.', ...specific({ toolConfig: { mode: 'ANY' } }) }),
    ];
    const call = modelCall({ BeforeToolSelection: [{ hooks }] });
    call.request = { ...request, config: { toolConfig: { functionCallingConfig } } };
    await modelStages.beforeToolSelection(call, countingNext());
    expect(call.request.config?.toolConfig).toEqual({ functionCallingConfig });
    expect(JSON.stringify(call.request.contents)).toContain('[System] Look.');
  });

  it('cannot block, and lets the model read a system message', async () => {
    const output = { decision: 'deny', reason: 'no', systemMessage: 'use a tool' };
    const call = modelCall({ BeforeToolSelection: [{ hooks: [saying(output)] }] });
    const next = countingNext();
    await modelStages.beforeToolSelection(call, next);
    expect(next.calls).toBe(1);
    expect(call.verdict).toEqual(ALLOW);
    expect(call.request.contents).toEqual([
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'user', parts: [{ text: '[System] use a tool' }] },
    ]);
  });

  it('does not call next on a stop', async () => {
    const call = modelCall({
      BeforeToolSelection: [{ hooks: [saying({ continue: false, stopReason: 'enough' })] }],
    });
    const next = countingNext();
    await modelStages.beforeToolSelection(call, next);
    expect(next.calls).toBe(0);
    expect(call.verdict).toMatchObject({
      kind: 'stop',
      event: 'BeforeToolSelection',
      reason: 'enough',
    });
    expect(call.response?.candidates).toEqual([]);
  });

  it('keeps a system message of a stop for the next message', async () => {
    const output = { continue: false, stopReason: 'enough', systemMessage: 'mind the gap' };
    const call = modelCall({ BeforeToolSelection: [{ hooks: [saying(output)] }] });
    await modelStages.beforeToolSelection(call, countingNext());
    expect(call.contextForModel).toEqual(['[System] mind the gap']);
  });

  it('passes an error from next on untouched, with and without hooks', async () => {
    const { next, error } = failingNext();
    for (const hooks of [{}, { BeforeToolSelection: [{ hooks: [hook('true')] }] }]) {
      await expect(modelStages.beforeToolSelection(modelCall(hooks), next)).rejects.toBe(error);
    }
  });
});

async function runBeforeModel(output: unknown) {
  const call = modelCall({ BeforeModel: [{ hooks: [saying(output)] }] });
  const next = countingNext();
  await modelStages.beforeModel(call, next);
  return { call, calls: next.calls };
}

describe('beforeModel', () => {
  const deny = { decision: 'deny', reason: 'no' };
  const cached = specific({ llm_response: { text: 'cached' } });

  it('calls next and changes nothing without hooks', async () => {
    const call = modelCall({});
    const next = countingNext();
    await modelStages.beforeModel(call, next);
    expect(next.calls).toBe(1);
    expect(call.request).toBe(request);
  });

  it('replaces the request with what hooks made of it', async () => {
    const { call, calls } = await runBeforeModel(
      specific({ llm_request: { config: { temperature: 0 } } }),
    );
    expect(calls).toBe(1);
    expect(call.request).toEqual({ ...request, config: { temperature: 0 } });
    expect(request.config.temperature).toBe(1);
  });

  it('answers with a synthetic response of a block', async () => {
    const { call, calls } = await runBeforeModel({ ...deny, ...cached });
    expect(calls).toBe(0);
    expect(call.verdict).toMatchObject({ kind: 'block', event: 'BeforeModel', reason: 'no' });
    expect(call.synthetic).toBe(true);
    expect(call.response?.text).toBe('cached');
    expect(await readTexts(call)).toEqual(['cached']);
  });

  it.each([{ candidates: [] }, { text: '' }])(
    'answers with nothing where a hook says so: %j',
    async (llm_response) => {
      const output = { decision: 'deny', ...specific({ llm_response }) };
      const call = modelCall({ BeforeModel: [{ hooks: [saying(output)] }] });
      await modelStages.beforeModel(call, countingNext());
      expect(call.synthetic).toBe(true);
      expect(
        (call.response?.candidates ?? []).flatMap(({ content }) => content?.parts ?? []),
      ).toEqual([]);
    },
  );

  it('answers with an empty response of a block without one', async () => {
    const { call, calls } = await runBeforeModel(deny);
    expect(calls).toBe(0);
    expect(call.synthetic).toBe(false);
    expect(call.response?.candidates).toEqual([]);
    expect(call.stream).toBeUndefined();
  });

  it.each([
    [{ continue: false, stopReason: 's', reason: 'r' }, 's'],
    [{ continue: false, reason: 'r' }, 'r'],
    [{ continue: false }, 'Stopped by hook'],
  ])('stops the agent on %j', async (output, reason) => {
    const { call, calls } = await runBeforeModel(output);
    expect(calls).toBe(0);
    expect(call.verdict).toMatchObject({ kind: 'stop', event: 'BeforeModel', reason });
  });

  it.each(['block', 'stop'] as const)(
    'leaves a call alone that a middleware refused by %s and passed on',
    async (refuse) => {
      const denial = saying({ ...deny, ...cached }, { before: ': > fired' });
      const call = modelCall({ BeforeModel: [{ hooks: [denial] }] });
      call[refuse]('not today');
      const next = countingNext();
      await modelStages.beforeModel(call, next);
      expect(next.calls).toBe(0);
      expect(call.verdict).toEqual({ kind: refuse, event: 'BeforeModel', reason: 'not today' });
      expect(call).toMatchObject({ synthetic: false, stream: undefined });
      await expect(temp.readLines('fired')).rejects.toThrow('ENOENT');
    },
  );

  it.each([
    ['block', deny],
    ['stop', { continue: false, reason: 'no' }],
  ])('says which hook gave a %s', async (kind, output) => {
    const hooks = [saying({ decision: 'allow' }), saying(output, { name: 'guard' })];
    const call = modelCall({ BeforeModel: [{ hooks }] });
    await modelStages.beforeModel(call, countingNext());
    const expected = { kind, event: 'BeforeModel', reason: 'no', hooks: ['guard'] };
    expect(call.verdict).toEqual(expected);
  });

  it('ignores a synthetic response without a block', async () => {
    const { call, calls } = await runBeforeModel({ decision: 'allow', ...cached });
    expect(calls).toBe(1);
    expect(call.response).toBeUndefined();
    expect(call.request).toBe(request);
  });

  it('goes on without hooks that fail', async () => {
    const call = modelCall({ BeforeModel: [{ hooks: [hook('exit 1')] }] });
    const next = countingNext();
    await modelStages.beforeModel(call, next);
    expect(next.calls).toBe(1);
  });

  it('stays blocked when an observer throws', async () => {
    const config = createConfig({ BeforeModel: [{ hooks: [saying(deny)] }] });
    const onHooks = failingObserver;
    const call = of(
      config,
      createModelCall(request, async () => streamOf(), { onHooks }),
    );
    const next = countingNext();
    await modelStages.beforeModel(call, next);
    expect(next.calls).toBe(0);
  });

  it('passes an error from next on untouched, with and without hooks', async () => {
    const { next, error } = failingNext();
    for (const hooks of [{}, { BeforeModel: [{ hooks: [hook('true')] }] }]) {
      await expect(modelStages.beforeModel(modelCall(hooks), next)).rejects.toBe(error);
    }
  });
});

/** Runs the stage over a stream, as far as `next()`; the stream is still to be read. */
async function runAfterModel(
  output: unknown,
  chunks: AsyncIterable<GenerateContentResponse>,
  options: ConfigOptions = {},
) {
  const hooks = [saying(output, { before: `${keepInput('seen.json')}; echo >> fired` })];
  const call = modelCall({ AfterModel: [{ hooks }] }, options);
  await modelStages.afterModel(call, async () => {
    call.stream = chunks;
  });
  return call;
}

const part = (text: string) =>
  createResponse({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] });

describe('afterModel', () => {
  it('leaves the stream alone without hooks', async () => {
    const call = modelCall({});
    await configOf(call).getHookSystem()?.initialize();
    const chunks = streamOf(part('a'));
    await modelStages.afterModel(call, async () => {
      call.stream = chunks;
    });
    expect(call.stream).toBe(chunks);
  });

  it('does without a stream, as after a block further in', async () => {
    const call = modelCall({ AfterModel: [{ hooks: [hook(': > fired')] }] });
    await modelStages.afterModel(call, countingNext());
    expect(call.stream).toBeUndefined();
    await expect(temp.readLines('fired')).rejects.toThrow('ENOENT');
  });

  it('fires once, on the complete response, after the chunks were shown', async () => {
    const output = specific({ llm_response: { text: 'redacted' } });
    const call = await runAfterModel(output, streamOf(part('a'), part('b'), part('c')));
    await expect(temp.readLines('fired')).rejects.toThrow('ENOENT');
    expect(await readTexts(call)).toEqual(['a', 'b', 'c']);
    expect(call.response?.text).toBe('redacted');
    expect(await temp.readLines('fired')).toHaveLength(1);
    expect(await temp.readJson('seen.json')).toMatchObject({
      llm_request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
      llm_response: { text: 'abc' },
    });
  });

  it('holds the chunks back where the display is to show what hooks made of them', async () => {
    const hold = { afterModelDisplay: 'hold' } as const;
    const output = specific({ llm_response: { text: 'redacted' } });
    const call = await runAfterModel(output, streamOf(part('a'), part('b')), hold);
    expect(await readTexts(call)).toEqual(['redacted']);
    const hidden = await runAfterModel({ suppressOutput: true }, streamOf(part('a')), hold);
    expect(await readTexts(hidden)).toEqual([]);
    expect(hidden.suppressDisplay).toBe(true);
    expect(hidden.response?.text).toBe('a');
  });

  it.each([
    [
      'candidates, then text',
      { candidates: [{ content: { parts: ['one'] } }] },
      { text: 'two' },
      'two',
    ],
    [
      'text, then candidates',
      { text: 'one' },
      { candidates: [{ content: { parts: ['two'] } }] },
      'two',
    ],
    ['text, then no candidates', { text: 'one' }, { candidates: [] }, undefined],
    ['no candidates alone', {}, { candidates: [] }, undefined],
  ])('takes the later word of two hooks: %s', async (_, first, second, text) => {
    const hooks = [first, second].map((llm_response) => saying(specific({ llm_response })));
    const call = modelCall({ AfterModel: [{ hooks }] });
    await modelStages.afterModel(call, async () => {
      call.stream = streamOf(part('secret'));
    });
    await readTexts(call);
    expect(call.response?.text).toBe(text);
    expect(call.response?.candidates).toHaveLength(text === undefined ? 0 : 1);
  });

  it('does not fire when the stream breaks, and passes its error on', async () => {
    const error = new Error('the network is gone');
    const call = await runAfterModel(
      {},
      (async function* () {
        yield part('a');
        throw error;
      })(),
    );
    await expect(readTexts(call)).rejects.toBe(error);
    expect(call.response).toBeUndefined();
    await expect(temp.readLines('fired')).rejects.toThrow('ENOENT');
  });

  it('does not fire when the caller stops reading', async () => {
    const call = await runAfterModel({}, streamOf(part('a'), part('b')));
    for await (const chunk of call.stream ?? []) {
      expect(chunk.text).toBe('a');
      break;
    }
    await expect(temp.readLines('fired')).rejects.toThrow('ENOENT');
  });

  it('stops the agent with the reason for a response', async () => {
    const call = await runAfterModel(
      { continue: false, stopReason: 'budget' },
      streamOf(part('a')),
    );
    await readTexts(call);
    expect(call.verdict).toMatchObject({ kind: 'stop', event: 'AfterModel', reason: 'budget' });
    expect(call.response?.text).toBe('budget');
  });

  it('cannot block', async () => {
    const call = await runAfterModel({ decision: 'deny', reason: 'no' }, streamOf(part('a')));
    await readTexts(call);
    expect(call.verdict).toEqual(ALLOW);
    expect(call.response?.text).toBe('a');
  });

  it('keeps a system message for the next message, and no other context', async () => {
    const output = { systemMessage: 's', ...specific({ additionalContext: 'c' }) };
    const call = await runAfterModel(output, streamOf(part('a')));
    await readTexts(call);
    expect(call.contextForModel).toEqual(['[System] s']);
  });

  it('keeps function calls when a hook changes only text', async () => {
    const functionCall = { name: 'f', args: {} };
    const withCall = createResponse({
      candidates: [{ content: { role: 'model', parts: [{ functionCall }] } }],
    });
    const output = specific({ llm_response: { text: 'redacted' } });
    const call = await runAfterModel(output, streamOf(part('a'), withCall));
    await readTexts(call);
    expect(call.response?.text).toBe('redacted');
    expect(call.response?.functionCalls).toEqual([functionCall]);
  });

  it('passes an error from next on untouched', async () => {
    const { next, error } = failingNext();
    const call = modelCall({ AfterModel: [{ hooks: [hook('true')] }] });
    await expect(modelStages.afterModel(call, next)).rejects.toBe(error);
  });
});

describe('openStream', () => {
  it('opens the stream with the request that is left, then calls next', async () => {
    const requests: unknown[] = [];
    const call = modelCall(
      {},
      {
        open: async (sent) => {
          requests.push(sent);
          return streamOf(textResponse('hello'));
        },
      },
    );
    call.request = { ...request, model: 'n' };
    await modelStages.openStream(call, async () => expect(call.stream).toBeDefined());
    expect(requests).toEqual([{ ...request, model: 'n' }]);
    expect(await readTexts(call)).toEqual(['hello']);
  });

  it('passes the error of the model and that of next on untouched', async () => {
    const { next, error } = failingNext();
    await expect(modelStages.openStream(modelCall({}), next)).rejects.toBe(error);
    const failing = modelCall({}, { open: () => Promise.reject(error) });
    await expect(modelStages.openStream(failing, countingNext())).rejects.toBe(error);
  });
});

const chunk = (...parts: object[]) =>
  createResponse({ candidates: [{ content: { role: 'model', parts } }] });

describe('collectResponse', () => {
  it('joins neighbouring texts, and keeps every other part where it arrived', () => {
    const thought = { text: 'hmm', thought: true };
    const signed = { text: 'c', thoughtSignature: 'c2ln' };
    const functionCall = { name: 'f', args: {} };
    const collected = collectResponse([
      chunk(thought),
      chunk({ text: 'a' }),
      chunk({ text: 'b' }),
      chunk(signed),
      chunk({ functionCall }, { text: 'd' }),
    ]);
    expect(collected.candidates?.[0]?.content?.parts).toEqual([
      thought,
      { text: 'ab' },
      signed,
      { functionCall },
      { text: 'd' },
    ]);
    expect(collected.text).toBe('abcd');
    expect(collected.functionCalls).toEqual([functionCall]);
  });

  it('keeps the last value of every other field, and candidates apart', () => {
    const collected = collectResponse([
      createResponse({
        modelVersion: 'v',
        usageMetadata: { totalTokenCount: 1 },
        candidates: [
          { index: 1, content: { parts: [{ text: 'x' }] } },
          { index: 0, content: { parts: [{ text: 'a' }] } },
        ],
      }),
      createResponse({ usageMetadata: { totalTokenCount: 5 }, candidates: [{ index: 0 }] }),
    ]);
    expect(collected.modelVersion).toBe('v');
    expect(collected.usageMetadata).toEqual({ totalTokenCount: 5 });
    expect(collected.candidates?.map(({ index, content }) => [index, content?.parts])).toEqual([
      [0, [{ text: 'a' }]],
      [1, [{ text: 'x' }]],
    ]);
  });

  it('makes an empty response of no chunks', () => {
    const collected = collectResponse([]);
    expect(collected.candidates).toEqual([]);
    expect(collected.text).toBeUndefined();
    expect(collected.functionCalls).toBeUndefined();
  });
});
