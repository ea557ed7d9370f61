import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { GenerateContentParameters } from '@google/genai';
import { describe, expect } from 'vitest';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { MessageBusType } from '../../src/confirmation-bus/types.js';
import { CoreToolScheduler } from '../../src/core/coreToolScheduler.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { GeminiChat } from '../../src/core/geminiChat.js';
import { fireBeforeModelHook } from '../../src/core/geminiChatHookTriggers.js';
import type { HookExecutionResponse } from '../../src/confirmation-bus/types.js';
import {
  HookEventName,
  type CommandHookConfig,
  type HookDefinition,
} from '../../src/protocol/types.js';
import { ToolErrorType, type Tool } from '../../src/tools/tools.js';
import { readToEnd } from '../core/helpers/chats.js';
import { reply } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { hook } from '../helpers/hooks.js';
import { fault, type Host } from './helpers/host.js';

const DENY_LATE = 'sleep 1; exit 2';

/** An array in an array, and so on, `levels` deep. */
function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

/** A group of one hook. */
function only(single: CommandHookConfig): HookDefinition {
  return { hooks: [single] };
}

/** A tool that counts its runs. */
function createTool(): Tool & { runs: number } {
  return {
    name: 'write_file',
    declaration: { name: 'write_file' },
    runs: 0,
    async execute() {
      this.runs += 1;
      return { llmContent: 'done', returnDisplay: 'done' };
    },
  };
}

/** Both ways of calling a tool: what each gives, and whether the tool ran. */
const WAYS = {
  async executeToolWithHooks(
    host: Host,
    definition: HookDefinition,
    args: unknown,
    signal?: AbortSignal,
  ) {
    let runs = 0;
    const result = await executeToolWithHooks(
      host.createConfig({ hooks: { BeforeTool: [definition] } }),
      'write_file',
      args as Record<string, unknown>,
      async () => {
        runs += 1;
        return { llmContent: 'done', returnDisplay: 'done' };
      },
      { ...(signal && { signal }) },
    );
    return { type: result.error?.type, text: result.llmContent, runs };
  },
  async scheduler(host: Host, definition: HookDefinition, args: unknown, signal?: AbortSignal) {
    const tool = createTool();
    const config = host.createConfig({ hooks: { BeforeTool: [definition] } });
    const scheduler = new CoreToolScheduler({ config, tools: [tool] });
    const [call] = await scheduler.schedule(
      [{ name: 'write_file', args: args as Record<string, unknown> }],
      { ...(signal && { signal }) },
    );
    const { error, llmContent } = call!.result;
    return { type: error?.type, text: llmContent, runs: tool.runs };
  },
};

describe.each(Object.entries(WAYS))('a tool call through %s', (_, callTool) => {
  fault('78 whose signal is aborted already runs nothing', async ({ host }) => {
    const observer = hook(': > ran');
    const { type, runs } = await callTool(host, only(observer), {}, AbortSignal.abort());
    expect({ type, runs }).toEqual({ type: ToolErrorType.Cancelled, runs: 0 });
    expect(host.exists('ran')).toBe(false);
    expect(host.warnings).toEqual([]);
  });

  fault('78 that is aborted while its hook decides does not run the tool', async ({ host }) => {
    const signal = AbortSignal.timeout(200);
    const { type, runs } = await callTool(host, only(hook(DENY_LATE)), {}, signal);
    expect({ type, runs }).toEqual({ type: ToolErrorType.Cancelled, runs: 0 });
  });

  fault.for([
    ['201 levels', { deep: nested(200) }],
    ['3,000 levels', { deep: nested(3_000) }],
    ['20,000 levels', { deep: nested(20_000) }],
    [
      'without end',
      (() => {
        const round: Record<string, unknown> = {};
        return Object.assign(round, { first: round, second: round });
      })(),
    ],
  ] as const)(
    '79 with arguments nested %s is refused before any hook',
    async ([, args], { host }) => {
      const { type, text, runs } = await callTool(host, only(hook(': > ran; exit 2')), args);
      expect({ type, runs }).toEqual({ type: ToolErrorType.InvalidParams, runs: 0 });
      expect(text).toMatch(/"write_file" was not run.*nested deeper than 200 levels/);
      expect(host.exists('ran')).toBe(false);
      expect(host.warnings).toEqual([]);
    },
  );

  fault('79 with arguments nested 200 levels is put to its hooks', async ({ host }) => {
    const plain = hook('jq -e .tool_input.deep >/dev/null && exit 2', { name: 'plain' });
    const { type, runs } = await callTool(host, only(plain), { deep: nested(199) });
    expect({ type, runs }).toEqual({ type: ToolErrorType.Blocked, runs: 0 });
  });

  fault.for(['claude', 'gemini', undefined] as const)(
    '79 with arguments that are no JSON is blocked where a guard (%s) was to read them',
    async (dialect, { host }) => {
      const observer = hook(': > ran', { name: 'observer' });
      const definition = { hooks: [observer], ...(dialect && { dialect }) };
      expect((await callTool(host, definition, { size: 1n })).runs).toBe(1);
      const guard = { ...observer, name: 'guard', onFailure: 'deny' } as const;
      const guarded = { ...definition, hooks: [guard] };
      const { type, text, runs } = await callTool(host, guarded, { size: 1n });
      expect({ type, runs }).toEqual({ type: ToolErrorType.Blocked, runs: 0 });
      expect(text).toMatch(
        /"guard".*its input cannot be written as JSON: tool_input\.size is a BigInt/,
      );
      expect(host.exists('ran')).toBe(false);
      expect(host.warnings).toEqual([
        expect.stringMatching(/"observer".*operation goes on/),
        expect.stringMatching(/"guard".*operation is blocked/),
      ]);
    },
  );
});

describe('a call of the model', () => {
  const sandbox = useSandbox();

  fault('78 that is aborted while its hook decides does not reach the model', async ({ host }) => {
    const { models, sent } = await sandbox.startModel(reply('hello'));
    const hooks = { BeforeModel: [{ hooks: [hook(DENY_LATE)] }] };
    const chat = new GeminiChat({ config: host.createConfig({ hooks }), models, model: 'm' });
    const signal = AbortSignal.timeout(200);
    await expect(readToEnd(chat.sendMessageStream('hi', { signal }))).rejects.toThrow(
      expect.objectContaining({ name: 'TimeoutError' }),
    );
    expect(sent()).toEqual([]);
    expect(chat.getHistory()).toEqual([]);
  });

  fault('79 whose request is no JSON is blocked where a guard was to read it', async ({ host }) => {
    const { models, sent } = await sandbox.startModel(reply('hello'));
    const guard = hook(': > ran', { name: 'guard', onFailure: 'deny' });
    const hooks = { BeforeModel: [{ hooks: [guard] }] };
    const generationConfig = { temperature: 1n as unknown as number };
    const config = host.createConfig({ hooks });
    const chat = new GeminiChat({ config, models, model: 'm', generationConfig });
    const { turn } = await readToEnd(chat.sendMessageStream('hi'));
    expect(turn.verdict).toMatchObject({ kind: 'block', reason: expect.stringMatching(/BigInt/) });
    expect(sent()).toEqual([]);
  });
});

describe('a request that holds what no model sends', () => {
  fault.for<[string, unknown]>([
    ['a part that is null', [{ role: 'model', parts: [null] }]],
    ['parts that are a text', [{ role: 'model', parts: 'x' }]],
    ['a message that is null', [null]],
  ])('79 %s: hooks are asked about the rest of it', async ([, contents], { host }) => {
    const guard = hook(`grep -q '"content":"secret"' && { echo no >&2; exit 2; }; true`);
    const hooks = { BeforeModel: [{ hooks: [guard] }] };
    const secret = { role: 'user', parts: [{ text: 'secret' }] };
    const ask = (all: unknown) =>
      fireBeforeModelHook(host.createConfig({ hooks }), {
        model: 'm',
        contents: all,
      } as GenerateContentParameters);
    expect(await ask(contents)).toEqual({ blocked: false });
    expect(await ask([contents, secret].flat())).toMatchObject({ blocked: true, reason: 'no' });
  });
});

describe('a request over the bus', () => {
  fault.for([
    ['nested 3,000 levels', { deep: nested(3_000) }, /input.*nested deeper than 200 levels/],
    ['holding a BigInt', { size: 1n }, /input.*BigInt/],
  ] as const)('79 %s is refused before planning', async ([, toolInput, why], { host }) => {
    const messageBus = new InProcessMessageBus(host.logger);
    const hooks = { BeforeTool: [{ hooks: [hook(': > ran')] }] };
    const config = host.createConfig({ hooks, messageBus });
    await config.getHookSystem()?.initialize();
    const answered = new Promise<HookExecutionResponse>((resolve) => {
      messageBus.subscribe(MessageBusType.HOOK_EXECUTION_RESPONSE, resolve);
    });
    messageBus.publish({
      type: MessageBusType.HOOK_EXECUTION_REQUEST,
      correlationId: 'mine',
      eventName: HookEventName.BeforeTool,
      input: { tool_name: 'write_file', tool_input: toolInput },
    });
    expect(await answered).toMatchObject({
      success: false,
      error: {
        code: 'HOOK_INVALID_PAYLOAD',
        message: expect.stringMatching(why),
        details: [{ path: 'input' }],
      },
    });
    expect(host.exists('ran')).toBe(false);
  });
});

/** A tool that runs until it is told to end. */
function createSlowTool() {
  const signals = new EventEmitter();
  const hasBegun = once(signals, 'begin');
  const hasEnded = once(signals, 'end');
  const execute = async () => {
    signals.emit('begin');
    await hasEnded;
    return { llmContent: 'done', returnDisplay: 'done' };
  };
  return { hasBegun, execute, end: () => signals.emit('end') };
}

describe('a verdict given while the operation runs', () => {
  const sandbox = useSandbox();

  fault('88 a block stands, and the result of the tool is kept aside', async ({ host }) => {
    const config = host.createConfig({});
    let executed: unknown;
    config.use('tool', async (call, next) => {
      const running = next();
      await tool.hasBegun;
      call.block('too slow');
      tool.end();
      await running;
      executed = call.executed;
    });
    const tool = createSlowTool();
    const result = await executeToolWithHooks(config, 'slow', {}, () => tool.execute());
    expect(result).toMatchObject({
      llmContent: 'too slow',
      error: { type: ToolErrorType.Blocked, message: 'too slow' },
    });
    expect(executed).toEqual({ llmContent: 'done', returnDisplay: 'done' });
  });

  fault('88 a stop stands, and keeps what the tool gave', async ({ host }) => {
    const config = host.createConfig({});
    config.use('tool', async (call, next) => {
      const running = next();
      await slow.hasBegun;
      call.stop('enough');
      slow.end();
      await running;
    });
    const slow = createSlowTool();
    const tool: Tool = { ...createTool(), execute: slow.execute };
    const scheduler = new CoreToolScheduler({ config, tools: [tool] });
    const [call] = await scheduler.schedule([{ name: 'write_file' }]);
    expect(call).toMatchObject({
      status: 'success',
      stopped: { event: 'AfterTool', reason: 'enough' },
      result: { llmContent: 'done', error: { type: ToolErrorType.StopExecution } },
    });
  });

  fault.for([
    ['while the stream opens', 300, 100],
    ['while the answer comes', 0, 250],
  ] as const)('88 a block of a model call %s stands', async ([, delayMs, afterMs], { host }) => {
    const answer = reply('one ', 'two ', 'three ', 'four ');
    const { models } = await sandbox.startModel({ ...answer, delayMs: delayMs || 100 });
    const hooks = { AfterModel: [{ hooks: [hook(': > ran')] }] };
    const config = host.createConfig({ hooks });
    config.use('model', async (call, next) => {
      void setTimeout(afterMs).then(() => call.block('not this'));
      await next();
    });
    const chat = new GeminiChat({ config, models, model: 'm' });
    const { turn, shown } = await readToEnd(chat.sendMessageStream('hi'));
    expect(turn).toMatchObject({ verdict: { kind: 'block', reason: 'not this' }, blocked: true });
    expect(turn.response.text ?? '').toBe('');
    expect(shown.length).toBeLessThan(4);
    expect(chat.getHistory()).toEqual([]);
  });

  fault.for([
    ['while the stream opens', 50, []],
    ['while the answer comes', 150, []],
    ['beside what AfterModel hooks say', 150, [only(hook('true'))]],
  ] as const)('88 a stop of a model call %s stands', async ([, afterMs, AfterModel], { host }) => {
    const { models } = await sandbox.startModel({ ...reply('one ', 'two'), delayMs: 100 });
    const hooks = { AfterModel };
    const config = host.createConfig({ hooks });
    config.use('model', async (call, next) => {
      void setTimeout(afterMs).then(() => call.stop('enough'));
      await next();
    });
    const chat = new GeminiChat({ config, models, model: 'm' });
    const { turn } = await readToEnd(chat.sendMessageStream('hi'));
    expect(turn).toMatchObject({ verdict: { kind: 'stop', reason: 'enough' }, blocked: false });
    expect(turn.response.text).toBe('one two');
  });
});
