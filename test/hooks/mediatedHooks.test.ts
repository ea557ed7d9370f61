import { EventEmitter, once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import type { Runner } from '../../middleware/runner.js';
import {
  ask,
  createRequest,
  HOOK_EXECUTION_REQUEST,
  HOOK_EXECUTION_RESPONSE,
  inputs,
  startHandler,
  startHost,
} from '../confirmation-bus/helpers.js';
import { Config } from '../../src/config/config.js';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import type {
  MessageBus,
  MessageBusMessage,
  MessageBusType,
  MessageHandler,
  Unsubscribe,
} from '../../src/confirmation-bus/types.js';
import { createResponse } from '../../src/core/response.js';
import type { HookExecutionResponse } from '../../src/hooks/hookBusContracts.js';
import type { HookEventHandler } from '../../src/hooks/hookEventHandler.js';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type AggregatedHookResult,
  type HookDefinitions,
} from '../../src/hooks/types.js';
import { blocking, healthy, hook, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

function host(hooks: HookDefinitions) {
  return startHost({ hooks, workingDir: temp.path });
}

/** Keeps every answer that is published. */
async function collect(bus: MessageBus): Promise<HookExecutionResponse[]> {
  const responses: HookExecutionResponse[] = [];
  await bus.subscribe(HOOK_EXECUTION_RESPONSE, (response) => void responses.push(response));
  return responses;
}

/** A bus to another process: messages travel as JSON, later, and everything is asynchronous. */
class Broker implements MessageBus {
  readonly handlers: [MessageBusType, (message: MessageBusMessage) => unknown][] = [];

  async publish(message: MessageBusMessage): Promise<void> {
    const carried = JSON.stringify(message);
    await nextTurn();
    for (const [type, handler] of this.handlers.filter(([each]) => each === message.type)) {
      if (type === message.type) handler(JSON.parse(carried) as MessageBusMessage);
    }
  }

  async subscribe<T extends MessageBusType>(
    type: T,
    handler: MessageHandler<T>,
  ): Promise<Unsubscribe> {
    await nextTurn();
    const entry: (typeof this.handlers)[number] = [
      type,
      (message) => handler(message as Parameters<typeof handler>[0]),
    ];
    this.handlers.push(entry);
    return async () => {
      await nextTurn();
      if (this.handlers.includes(entry)) this.handlers.splice(this.handlers.indexOf(entry), 1);
    };
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

type Fire = (handler: HookEventHandler) => Promise<AggregatedHookResult>;

const llmRequest = {
  model: 'm',
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  config: { temperature: 0.5 },
};

/** The direct calls that say the same as `inputs`. */
const directCalls: Record<HookEventName, Fire> = {
  BeforeTool: (handler) =>
    handler.fireBeforeToolEvent('write_file', { file_path: 'a', content: 'é\n"' }),
  AfterTool: (handler) =>
    handler.fireAfterToolEvent(
      'write_file',
      { file_path: 'a' },
      { llmContent: 'done', returnDisplay: 'Done.' },
    ),
  BeforeModel: (handler) => handler.fireBeforeModelEvent(llmRequest),
  AfterModel: (handler) =>
    handler.fireAfterModelEvent(
      llmRequest,
      createResponse({
        candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'a' }] } }],
      }),
    ),
  BeforeToolSelection: (handler) => handler.fireBeforeToolSelectionEvent(llmRequest),
  BeforeAgent: (handler) => handler.fireBeforeAgentEvent('p'),
  AfterAgent: (handler) => handler.fireAfterAgentEvent('p', 'r', true),
  SessionStart: (handler) => handler.fireSessionStartEvent({ source: SessionStartSource.Startup }),
  SessionEnd: (handler) => handler.fireSessionEndEvent({ reason: SessionEndReason.Exit }),
  PreCompress: (handler) => handler.firePreCompressEvent({ trigger: PreCompressTrigger.Auto }),
  Notification: (handler) =>
    handler.fireNotificationEvent(NotificationType.Idle, 'm', { seconds: 3 }),
};

const events = Object.values(HookEventName);

describe('a request', () => {
  it.each(events)('for %s gives a script the same bytes as a direct call', async (eventName) => {
    const { bus, system } = host({
      [eventName]: [{ hooks: [hook('cat >> stdin; echo >> stdin')] }],
    });
    await system.initialize();
    await directCalls[eventName](system.getEventHandler());
    await ask(bus, { eventName, input: inputs[eventName] });
    const [direct, mediated, ...others] = (await temp.readLines('stdin')).map((line) =>
      line.replace(/"timestamp":"[\dT:.-]+Z"/, '"timestamp":""'),
    );
    expect(direct).toContain('"timestamp":""');
    expect(mediated).toBe(direct);
    expect(others).toEqual([]);
  });

  it('may leave out what has a default', async () => {
    const keep = [{ hooks: [hook('cat > stdin.json')] }];
    const { bus } = host({ AfterAgent: keep, Notification: keep });
    await ask(bus, { eventName: 'AfterAgent', input: { prompt: 'p', prompt_response: 'r' } });
    expect(await temp.readJson('stdin.json')).toMatchObject({ stop_hook_active: false });
    await ask(bus, {
      eventName: 'Notification',
      input: { notification_type: 'Idle', message: 'm' },
    });
    expect(await temp.readJson('stdin.json')).toMatchObject({ details: {} });
  });

  it('cannot speak for the session', async () => {
    const { bus } = host({ BeforeAgent: [{ hooks: [hook('cat > stdin.json')] }] });
    const input = { prompt: 'p', session_id: 'other', cwd: '/', hook_event_name: 'AfterTool' };
    await ask(bus, { eventName: 'BeforeAgent', input });
    expect(await temp.readJson('stdin.json')).toMatchObject({
      session_id: 'session',
      cwd: temp.path,
      hook_event_name: 'BeforeAgent',
    });
  });

  it('is answered under its id, with what a direct call returns', async () => {
    const said = { decision: 'deny', reason: 'no', hookSpecificOutput: { tool_input: { a: 1 } } };
    const { bus, system } = host({ BeforeTool: [{ hooks: [saying(said)] }] });
    const response = await ask(bus, { correlationId: 'mine' });
    const direct = await directCalls.BeforeTool(system.getEventHandler());
    expect(response).toMatchObject({ type: HOOK_EXECUTION_RESPONSE, correlationId: 'mine' });
    expect(response.output?.finalOutput).toEqual(direct.finalOutput);
    expect(response.output?.finalOutput).toBeInstanceOf(direct.finalOutput?.constructor);
    expect(response.output?.allOutputs).toEqual(direct.allOutputs);
  });

  it('goes through custom middleware as well', async () => {
    const { bus, config } = host({});
    const seen: unknown[] = [];
    config.use('hook', async (ctx, next) => {
      seen.push([ctx.event, ctx.payload]);
      await next();
    });
    await ask(bus, { eventName: 'BeforeAgent', input: { prompt: 'p' } });
    expect(seen).toEqual([['BeforeAgent', { prompt: 'p' }]]);
  });

  it.each<[string, HookDefinitions, boolean, boolean]>([
    ['no hook', {}, true, false],
    [
      'a hook that does not match',
      { BeforeTool: [{ matcher: '^z', hooks: [blocking('no')] }] },
      true,
      false,
    ],
    ['a hook that allows', { BeforeTool: [{ hooks: [hook('true')] }] }, true, false],
    ['a hook that denies', { BeforeTool: [{ hooks: [saying({ decision: 'deny' })] }] }, true, true],
    ['a hook that blocks by exit code', { BeforeTool: [{ hooks: [blocking('no')] }] }, false, true],
    ['a hook that fails', { BeforeTool: [{ hooks: [hook('exit 1')] }] }, false, false],
  ])('with %s has no error', async (_, hooks, success, blocked) => {
    const { bus } = host(hooks);
    const response = await ask(bus);
    expect(response.success).toBe(success);
    expect(response.output?.success).toBe(success);
    expect(response.output?.finalOutput?.isBlockingDecision() ?? false).toBe(blocked);
    expect(response).not.toHaveProperty('error');
  });

  it('that matches nothing gets an empty result of its own', async () => {
    const { bus } = host({});
    const first = await ask(bus);
    const empty = structuredClone(first.output);
    expect(empty).toEqual({
      success: true,
      finalOutput: undefined,
      allOutputs: [],
      errors: [],
      totalDuration: 0,
      results: [],
    });
    first.output?.errors.push(new Error('mine'));
    expect((await ask(bus)).output).toEqual(empty);
  });

  it('is answered before the first event was fired', async () => {
    const { bus, system } = host({ BeforeTool: [{ hooks: [blocking('no')] }] });
    expect(system.isInitialized()).toBe(false);
    const both = await Promise.all([ask(bus), ask(bus)]);
    expect(both.map(({ output }) => output?.finalOutput?.reason)).toEqual(['no', 'no']);
    expect(system.getStatus()).toEqual({ initialized: true, totalHooks: 1 });
  });
});

describe('two requests under one id', () => {
  function startBlocked() {
    const gate = new EventEmitter();
    const opened = once(gate, 'open');
    const run: Runner['executeHooksParallel'] = async () => {
      await opened;
      return [healthy({ reason: 'ran' })];
    };
    const hooks = { executeHooksParallel: run, executeHooksSequential: run };
    const started = startHandler({ hooks: { BeforeTool: [{ hooks: [hook('x')] }] } }, { hooks });
    return { ...started, finish: () => gate.emit('open') };
  }

  it('are not both answered while the first is in flight', async () => {
    const { bus, finish } = startBlocked();
    const responses = await collect(bus);
    bus.publish(createRequest({ correlationId: 'same' }));
    bus.publish(createRequest({ correlationId: 'same' }));
    bus.publish(createRequest({ correlationId: 'other' }));
    await vi.waitFor(() => expect(responses).toHaveLength(1));
    expect(responses[0]).toMatchObject({
      correlationId: 'same',
      success: false,
      error: {
        code: 'HOOK_CORRELATION_REFUSED',
        message: expect.stringContaining('"same"'),
        details: [{ path: 'correlationId' }],
      },
    });
    finish();
    await vi.waitFor(() => expect(responses).toHaveLength(3));
    const ran = { success: true, output: { finalOutput: { reason: 'ran' } } };
    expect(responses.slice(1)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ correlationId: 'same', success: true }),
        expect.objectContaining({ correlationId: 'other', success: true }),
      ]),
    );
    expect(responses.slice(1)).toMatchObject([ran, ran]);
  });

  it('are both answered one after the other', async () => {
    const { bus, finish } = startBlocked();
    finish();
    const first = await ask(bus, { correlationId: 'same' });
    const second = await ask(bus, { correlationId: 'same' });
    expect([first, second]).toMatchObject([
      { correlationId: 'same', success: true },
      { correlationId: 'same', success: true },
    ]);
  });
});

describe('subscribers', () => {
  it('that throw do not keep the response from the others', async () => {
    const { bus, logger } = host({});
    bus.subscribe(HOOK_EXECUTION_REQUEST, () => {
      throw new Error('broken');
    });
    bus.subscribe(HOOK_EXECUTION_RESPONSE, () => Promise.reject(new Error('broken')));
    expect(await ask(bus)).toMatchObject({ success: true });
    await vi.waitFor(() => expect(logger.warnings).toHaveLength(2));
  });
});

describe('a bus that carries JSON between processes', () => {
  it('loses neither verdict nor errors', async () => {
    const bus = new Broker();
    const { system } = startHost({
      hooks: {
        BeforeTool: [{ hooks: [blocking('no'), hook('sleep 60', { timeout: 50 })] }],
      },
      workingDir: temp.path,
      messageBus: bus,
    });
    const response = await ask(bus, { correlationId: 'mine' });
    expect(response).toMatchObject({
      correlationId: 'mine',
      success: false,
      output: {
        finalOutput: { decision: 'deny', reason: 'no' },
        errors: [{ message: expect.stringContaining('timed out') }],
        results: [{ exitCode: 2 }, { error: { message: expect.stringContaining('timed out') } }],
      },
    });
    await system.dispose();
    expect(bus.handlers.map(([type]) => type)).toEqual([HOOK_EXECUTION_RESPONSE]);
  });

  it('may be disposed of before it has subscribed', async () => {
    const bus = new Broker();
    const { system } = startHost({ messageBus: bus });
    await system.dispose();
    expect(bus.handlers).toEqual([]);
  });
});

describe('a bus that fails', () => {
  const hooks: HookDefinitions = { BeforeTool: [{ hooks: [saying({ reason: 'ran' })] }] };
  const broken = () => {
    throw new Error('bus is gone');
  };

  it.each<[string, MessageBus]>([
    ['throws', { publish: broken, subscribe: broken }],
    ['rejects', { publish: async () => broken(), subscribe: async () => broken() }],
  ])('and %s at the subscription leaves the direct way as it is', async (_, messageBus) => {
    const { logger, system } = startHost({ hooks, messageBus, workingDir: temp.path });
    await vi.waitFor(() => expect(logger.warnings).toHaveLength(1));
    await system.initialize();
    const { finalOutput } = await directCalls.BeforeTool(system.getEventHandler());
    expect(finalOutput?.reason).toBe('ran');
    await system.dispose();
    expect(logger.warnings).toHaveLength(1);
  });

  it.each([
    ['throws', broken],
    ['rejects', async () => broken()],
  ])('and %s at the response is reported', async (_, publish) => {
    const bus = new InProcessMessageBus();
    const subscribe: MessageBus['subscribe'] = (type, handler) => bus.subscribe(type, handler);
    const { logger } = startHost({ messageBus: { publish, subscribe } });
    bus.publish(createRequest({ correlationId: 'mine' }));
    await vi.waitFor(() => expect(logger.warnings).toEqual([expect.stringContaining('mine')]));
  });

  it('at the end of the subscription is reported', async () => {
    const messageBus: MessageBus = { publish: () => undefined, subscribe: () => broken };
    const { logger, system } = startHost({ messageBus });
    await system.dispose();
    expect(logger.warnings).toHaveLength(1);
  });
});

describe('dispose', () => {
  it('ends the subscription, and may be called again', async () => {
    const { bus, system } = host({});
    expect((await ask(bus)).success).toBe(true);
    expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(1);
    await system.dispose();
    await system.dispose();
    expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(0);
    const responses = await collect(bus);
    bus.publish(createRequest());
    await nextTurn();
    expect(responses).toEqual([]);
  });

  it('lets requests in flight be answered', async () => {
    const { bus, system } = host({ BeforeTool: [{ hooks: [blocking('late')] }] });
    const asking = ask(bus);
    await system.dispose();
    expect((await asking).output?.finalOutput?.reason).toBe('late');
  });

  it('leaves the direct way as it is', async () => {
    const { system } = host({ BeforeTool: [{ hooks: [blocking('no')] }] });
    await system.initialize();
    await system.dispose();
    const { finalOutput } = await directCalls.BeforeTool(system.getEventHandler());
    expect(finalOutput?.reason).toBe('no');
  });

  it('does nothing without a bus', async () => {
    const config = new Config({ enableHooks: true, debugLogger: new RecordingLogger() });
    await expect(config.getHookSystem()?.dispose()).resolves.toBeUndefined();
  });
});

describe.each(['direct', 'mediated'] as const)('the log of a %s event', (way) => {
  async function fire(hooks: HookDefinitions) {
    const { bus, logger, system } = host(hooks);
    await system.initialize();
    if (way === 'mediated') await ask(bus);
    else await directCalls.BeforeTool(system.getEventHandler());
    const records = logger.records.filter(({ namespace }) => !namespace.endsWith('registry'));
    return {
      hooks: records.flatMap(({ message, details }) =>
        message === 'BeforeTool: hook finished' ? [details] : [],
      ),
      summaries: records.flatMap(({ message, details }) =>
        message === 'BeforeTool: finished' ? [details] : [],
      ),
      diagnoses: records.filter(({ level }) => level === 'warn'),
    };
  }

  it('has one record a hook, one summary, and one diagnosis a failure', async () => {
    const log = await fire({
      BeforeTool: [
        {
          hooks: [
            hook('echo hi', { name: 'good' }),
            hook('echo oh >&2; exit 3', { name: 'bad' }),
            hook('kill -9 $$', { name: 'killed' }),
            hook('sleep 60', { name: 'slow', timeout: 50 }),
            blocking('no'),
          ],
        },
      ],
    });
    const common = { event: 'BeforeTool', type: 'command', durationMs: expect.any(Number) };
    expect(log.hooks).toEqual([
      expect.objectContaining({ ...common, hook: 'good', success: true, stdout: 'hi\n' }),
      expect.objectContaining({
        ...common,
        hook: 'bad',
        success: false,
        exitCode: 3,
        stderr: 'oh\n',
      }),
      expect.objectContaining({ ...common, hook: 'killed', success: false, signal: 'SIGKILL' }),
      expect.objectContaining({
        ...common,
        hook: 'slow',
        success: false,
        error: expect.stringContaining('timed out'),
      }),
      expect.objectContaining({ ...common, success: false, exitCode: 2, stderr: 'no\n' }),
    ]);
    expect(log.summaries).toEqual([
      {
        event: 'BeforeTool',
        hooks: 5,
        succeeded: 1,
        failed: 4,
        durationMs: expect.any(Number),
        success: false,
      },
    ]);
    expect(log.diagnoses.map(({ details }) => details)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ hook: 'bad', kind: 'exit' }),
        expect.objectContaining({ hook: 'killed', kind: 'signal' }),
        expect.objectContaining({ hook: 'slow', kind: 'timeout' }),
      ]),
    );
    expect(log.diagnoses).toHaveLength(3);
  });

  it('is empty when nothing ran', async () => {
    expect(await fire({})).toEqual({ hooks: [], summaries: [], diagnoses: [] });
  });
});
