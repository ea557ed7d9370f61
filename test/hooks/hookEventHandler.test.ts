import { inspect } from 'node:util';
import type { AggregatedHookResult } from '../../src/protocol/hookOutput.js';
import { describe, expect, it } from 'vitest';
import type { Planner } from '../../middleware/planner.js';
import type { Runner } from '../../middleware/runner.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { textResponse } from '../../src/protocol/response.js';
import { DebugLogger } from '../../src/util/debugLogger.js';
import { HookPipelineError } from '../../src/hooks/errors.js';
import { HookAggregator } from '../../src/hooks/hookAggregator.js';
import { HookEventHandler } from '../../src/hooks/hookEventHandler.js';
import { fireHook, hasHooks, skipIdle } from '../../src/hooks/fireHook.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type HookDefinitions,
  type HookExecutionResult,
  type HookOutput,
  type HookPayload,
} from '../../src/protocol/types.js';
import type { HookMiddleware } from '../../src/stack.js';
import { directCalls, startHandler } from '../confirmation-bus/helpers.js';
import { healthy, hook, keepInput, saying } from '../helpers/hooks.js';
import { failingObserver, rejectingObserver } from '../helpers/observer.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useStartedProcesses } from '../helpers/startedProcesses.js';
import { useTempDir } from '../helpers/tempDir.js';

const { BeforeTool, AfterTool, BeforeModel, AfterModel } = HookEventName;
const temp = useTempDir();
const started = useStartedProcesses();

function createConfig(hooks: HookDefinitions, options: ConfigOptions = {}) {
  const logger = new RecordingLogger();
  const config = new Config({
    enableHooks: true,
    workingDir: temp.path,
    sessionId: 'session',
    hooks,
    debugLogger: logger,
    ...options,
  });
  return { config, logger };
}

async function initialized(hooks: HookDefinitions, options: ConfigOptions = {}) {
  const { config, logger } = createConfig(hooks, options);
  await config.getHookSystem()?.initialize();
  return { config, logger };
}

const EMPTY: AggregatedHookResult = {
  success: true,
  finalOutput: undefined,
  allOutputs: [],
  errors: [],
  totalDuration: 0,
  results: [],
};

/** The records that only show for whoever asks for them. */
function debugDetails({ records }: RecordingLogger): object[] {
  return records.flatMap(({ level, message, details }) =>
    level === 'debug' && message.startsWith('BeforeTool') && details ? [details] : [],
  );
}

describe('what fire…Event() gives', () => {
  it.each<[string, object, object]>([
    [
      'a permission',
      { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'p' } },
      { decision: 'deny', reason: 'p' },
    ],
    ['a stop', { continue: false, reason: 'r' }, { continue: false, stopReason: 'r' }],
    ['a silent stop', { continue: false }, { stopReason: 'Stopped by hook' }],
    ['a silent block', { decision: 'block' }, { decision: 'block', reason: 'Blocked by hook' }],
    [
      'a message',
      { systemMessage: 's', suppressOutput: true },
      { systemMessage: 's', suppressOutput: true },
    ],
  ])('needs no interpretation after JSON: %s', async (_, output, expected) => {
    const { config } = await initialized({ BeforeTool: [{ hooks: [saying(output)] }] });
    const handler = config.getHookSystem()?.getEventHandler();
    const given = JSON.parse(JSON.stringify(await handler?.fireBeforeToolEvent('x', {})));
    expect(given.finalOutput).toMatchObject(expected);
  });

  it('comes of all hooks, whatever plan a middleware before the planner has left', async () => {
    const deny = { BeforeTool: [{ hooks: [saying({ decision: 'deny', reason: 'no' })] }] };
    const { config } = await initialized(deny);
    const plan = { eventName: BeforeTool, hookConfigs: [], sequential: false };
    const middleware: HookMiddleware = async (ctx, next) => {
      ctx.plan = plan;
      await next();
    };
    config.use('hook', middleware, { before: 'planner' });
    const handler = config.getHookSystem()?.getEventHandler();
    const { finalOutput } = (await handler?.fireBeforeToolEvent('x', {})) ?? {};
    expect(finalOutput).toMatchObject({ decision: 'deny', reason: 'no' });
  });

  it('is resolved whoever made it, and names the hooks unless a middleware decided', async () => {
    const said = { BeforeTool: [{ hooks: [saying({ decision: 'deny' }, { name: 'guard' })] }] };
    const { config } = await initialized(said);
    config.use('hook', async (ctx, next) => {
      await next();
      if (ctx.event === BeforeTool && ctx.payload.toolName === 'mine') ctx.block('mine');
      if (ctx.event === BeforeTool && ctx.payload.toolName === 'end') ctx.stop('end');
    });
    const handler = config.getHookSystem()?.getEventHandler();
    const theirs = await handler?.fireBeforeToolEvent('theirs', {});
    const mine = await handler?.fireBeforeToolEvent('mine', {});
    const end = await handler?.fireBeforeToolEvent('end', {});
    expect(theirs).toMatchObject({ decidedBy: ['guard'], finalOutput: { decision: 'deny' } });
    expect(mine).toMatchObject({ finalOutput: { decision: 'deny', reason: 'mine' } });
    expect(end).toMatchObject({ finalOutput: { continue: false, stopReason: 'end' } });
    for (const result of [mine, end]) expect(result).not.toHaveProperty('decidedBy');
  });
});

/** Whoever looks at its arguments or its response fails the test. */
function untouchable(toolName: string): HookPayload<HookEventName.AfterTool> {
  return {
    toolName,
    get toolInput(): Record<string, unknown> {
      throw new Error('the arguments were read');
    },
    get toolResponse(): Record<string, unknown> {
      throw new Error('the response was read');
    },
  };
}

describe('fireHook with nothing to do', () => {
  const unreadable: HookPayload<HookEventName.AfterModel> = {
    get llmRequest(): { model: string; contents: string } {
      throw new Error('the request was read');
    },
    get llmResponse(): ReturnType<typeof textResponse> {
      throw new Error('the response was read');
    },
  };

  it('is synchronous while hooks are off', () => {
    const { config } = createConfig(
      { AfterTool: [{ hooks: [hook('true')] }] },
      { enableHooks: false },
    );
    expect(fireHook(config, AfterTool, untouchable('x'))).toBeUndefined();
    expect(fireHook(config, AfterModel, unreadable)).toBeUndefined();
  });

  it('is synchronous when no hook is configured for the event', async () => {
    const { config } = await initialized({ BeforeTool: [{ hooks: [hook('true')] }] });
    expect(fireHook(config, AfterTool, untouchable('x'))).toBeUndefined();
    expect(fireHook(config, AfterModel, unreadable)).toBeUndefined();
  });

  it('is synchronous when no hook matches', async () => {
    const { config } = await initialized({
      AfterTool: [{ matcher: 'write_file', hooks: [hook('true')] }],
    });
    expect(fireHook(config, AfterTool, untouchable('read_file'))).toBeUndefined();
    expect(fireHook(config, AfterTool, untouchable('write_file'))).toBeInstanceOf(Promise);
  });

  it('leaves a record, which says that no hook ran', async () => {
    const { config, logger } = await initialized({
      BeforeTool: [{ matcher: 'read_file', hooks: [hook('true')] }],
      AfterModel: [],
    });
    void fireHook(config, BeforeTool, { toolName: 'write_file', toolInput: {} });
    expect(skipIdle(config, AfterModel)).toBe(true);
    const ofEvents = logger.records.filter(({ namespace }) => namespace === 'test:events');
    expect(ofEvents).toMatchObject([
      { level: 'debug', message: 'BeforeTool: finished', details: { hooks: 0, success: true } },
      { level: 'debug', message: 'AfterModel: finished', details: { hooks: 0, success: true } },
    ]);
  });

  it('is not in the log where somebody only asks for it', async () => {
    const { config, logger } = await initialized({ AfterModel: [] });
    const events = config.getHookSystem()?.getEventHandler();
    expect(hasHooks(config, AfterModel)).toBe(false);
    expect(events?.hasWork(AfterModel)).toBe(false);
    expect(events?.isIdle(AfterModel)).toBe(true);
    expect(logger.records.filter(({ namespace }) => namespace === 'test:events')).toEqual([]);
  });

  it('leaves a record among those of events where not even a plan can be made', async () => {
    const { config, logger } = createConfig({});
    config.getHookSystem = () => {
      throw new Error('no system');
    };
    const fired = await fireHook(config, BeforeTool, { toolName: 'x', toolInput: {} });
    expect(fired?.aggregated).toMatchObject({ success: false, errors: [{ stage: 'planning' }] });
    const ofEvents = logger.records.filter(({ namespace }) => namespace.endsWith(':events'));
    expect(ofEvents).toMatchObject([{ level: 'debug', details: { success: false } }]);
  });

  it('waits for the hooks to be read at the very first event only', async () => {
    const { config } = createConfig({});
    const first = fireHook(config, AfterTool, untouchable('x'));
    expect(first).toBeInstanceOf(Promise);
    expect((await first)?.aggregated).toEqual(EMPTY);
    expect(fireHook(config, AfterTool, untouchable('x'))).toBeUndefined();
  });

  it('is synchronous after the only hook was switched off', async () => {
    const { config } = await initialized({ AfterTool: [{ hooks: [hook('true')] }] });
    expect(hasHooks(config, AfterTool)).toBe(true);
    config.getHookSystem()?.setHookEnabled('true', false);
    expect(hasHooks(config, AfterTool)).toBe(false);
    expect(fireHook(config, AfterTool, untouchable('x'))).toBeUndefined();
  });
});

/** Fires an event, and lets everything come to its turn that was put off until nobody waits. */
async function fireAndRest(config: Config, toolName: string) {
  await fireHook(config, AfterTool, { toolName, toolInput: {}, toolResponse: {} });
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a process', () => {
  const off = { enableHooks: false };

  it.each<[string, HookDefinitions, ConfigOptions]>([
    ['no hook is configured for the event', { BeforeTool: [{ hooks: [hook('true')] }] }, {}],
    ['no hook matches', { AfterTool: [{ matcher: 'write_file', hooks: [hook('true')] }] }, {}],
    ['hooks are off', { AfterTool: [{ hooks: [hook('true', { prestart: true })] }] }, off],
  ])('is not started when %s', async (_when, hooks, options) => {
    const { config } = createConfig(hooks, { hooksRunner: { warmShells: 0 }, ...options });
    await fireAndRest(config, 'read_file');
    await fireAndRest(config, 'read_file');
    expect(started()).toBe(0);
  });

  it('is started for a hook that matches, one a hook', async () => {
    const hooks = { AfterTool: [{ matcher: 'write_file', hooks: [hook('true'), hook(':')] }] };
    const { config } = createConfig(hooks, { hooksRunner: { warmShells: 0, spawner: false } });
    await fireAndRest(config, 'write_file');
    expect(started()).toBe(2);
  });
});

describe('fireHook', () => {
  const payload = { toolName: 'x', toolInput: {} };

  it('reads the hooks at the first event, and runs them', async () => {
    const { config } = createConfig({ BeforeTool: [{ hooks: [saying({ reason: 'r' })] }] });
    expect(config.getHookSystem()?.isInitialized()).toBe(false);
    const fired = await fireHook(config, BeforeTool, payload);
    expect(config.getHookSystem()?.isInitialized()).toBe(true);
    expect(fired?.aggregated.finalOutput?.reason).toBe('r');
  });

  it('reads what is common to all events in one place', async () => {
    const output = { continue: false, reason: 'r', systemMessage: 'm', suppressOutput: true };
    const { config } = createConfig({ AfterModel: [{ hooks: [saying(output)] }] });
    const llmRequest = { model: 'm', contents: 'hi' };
    const llmResponse = textResponse('hello');
    expect(await fireHook(config, AfterModel, { llmRequest, llmResponse })).toMatchObject({
      shouldStop: true,
      stopReason: 'r',
      systemMessage: 'm',
      suppressOutput: true,
    });
  });

  it('tells the observer what the hooks said, and nothing when none ran', async () => {
    const seen: [HookEventName, number][] = [];
    const onHooks = (event: HookEventName, result: AggregatedHookResult) =>
      void seen.push([event, result.results.length]);
    const { config } = createConfig({ BeforeTool: [{ hooks: [hook('true'), hook('exit 1')] }] });
    await fireHook(config, BeforeTool, payload, { onHooks });
    await fireHook(config, AfterTool, { ...payload, toolResponse: {} }, { onHooks });
    expect(seen).toEqual([[BeforeTool, 2]]);
  });

  it.each([
    ['throws', failingObserver],
    ['rejects', rejectingObserver],
  ])('goes on with what the hooks said when an observer %s', async (_, onHooks) => {
    const { config, logger } = createConfig({ BeforeTool: [{ hooks: [hook('exit 2')] }] });
    const fired = await fireHook(config, BeforeTool, payload, { onHooks });
    expect(fired?.aggregated.finalOutput?.isBlockingDecision()).toBe(true);
    expect(logger.warnings).toEqual(['An observer failed; the work goes on']);
  });

  it('ends running hooks by the signal', async () => {
    const controller = new AbortController();
    const { config } = createConfig({
      BeforeTool: [{ hooks: [hook(': > started; sleep 60')] }],
    });
    const firing = fireHook(config, BeforeTool, payload, { signal: controller.signal });
    await expect.poll(() => temp.readLines('started').catch(() => undefined)).toEqual([]);
    controller.abort();
    const fired = await firing;
    expect(fired?.aggregated).toMatchObject({ success: false, finalOutput: undefined });
  });

  it('goes on without a hook, and says so, when the payload is no JSON that it could read', async () => {
    const { config, logger } = createConfig({ BeforeTool: [{ hooks: [hook('true')] }] });
    const fired = await fireHook(config, BeforeTool, { toolName: 'x', toolInput: { size: 1n } });
    expect(fired?.aggregated).toMatchObject({ success: false, finalOutput: undefined });
    expect(logger.warnings).toEqual([expect.stringContaining('tool_input.size is a BigInt')]);
  });

  it('blocks, and says so, when it is none that a guard could read', async () => {
    const guard = hook('true', { onFailure: 'deny' });
    const { config, logger } = createConfig({ BeforeTool: [{ hooks: [guard] }] });
    const fired = await fireHook(config, BeforeTool, { toolName: 'x', toolInput: { size: 1n } });
    expect(fired?.aggregated).toMatchObject({
      success: false,
      finalOutput: { decision: 'deny', reason: expect.stringContaining('BigInt') },
    });
    expect(fired?.aggregated.errors).toHaveLength(1);
    expect(logger.warnings).toHaveLength(1);
  });

  it('fails open, and says so, where nothing can be blocked', async () => {
    const { config, logger } = createConfig({ AfterTool: [{ hooks: [hook('true')] }] });
    const fired = await fireHook(config, HookEventName.AfterTool, {
      ...payload,
      toolResponse: { size: 1n },
    });
    expect(fired?.aggregated).toMatchObject({ success: false, finalOutput: undefined });
    expect(logger.warnings).toEqual([expect.stringMatching(/BigInt; the operation goes on/)]);
  });

  it('fails open, and says so, when the hooks cannot be read', async () => {
    class Unreadable extends Config {
      override getHooks(): HookDefinitions {
        throw new Error('settings are gone');
      }
    }
    const logger = new RecordingLogger();
    const config = new Unreadable({ enableHooks: true, debugLogger: logger });
    const fired = await fireHook(config, BeforeTool, payload);
    expect(fired).toMatchObject({ shouldStop: false, stopReason: undefined });
    expect(fired?.aggregated).toMatchObject({ success: false, finalOutput: undefined });
    const [error] = fired?.aggregated.errors ?? [];
    expect(error).toBeInstanceOf(HookPipelineError);
    expect(error).toMatchObject({ stage: 'initialization', code: 'HOOK_INITIALIZATION_FAILED' });
    expect(error?.message).toContain('settings are gone');
    expect(logger.warnings).toEqual([
      expect.stringMatching(/settings are gone; the operation goes on without its hooks$/),
    ]);
    expect(logger.records).toContainEqual(
      expect.objectContaining({
        namespace: 'test:events',
        details: expect.objectContaining({ hooks: 0, success: false, error: error?.message }),
      }),
    );
  });

  it('tells the logger of the host when the hooks cannot be reached', async () => {
    const logger = new RecordingLogger();
    class Broken extends Config {
      override getHookSystem(): never {
        throw new Error('no hook system');
      }
    }
    const config = new Broken({ debugLogger: logger });
    await fireHook(config, BeforeTool, payload);
    expect(logger.warnings).toEqual([
      expect.stringMatching(/no hook system; the operation goes on without its hooks$/),
    ]);
  });
});

describe('HookEventHandler', () => {
  const plan = { eventName: BeforeTool, hookConfigs: [hook('x')], sequential: false };
  const plans: Planner = { createExecutionPlan: () => plan };
  const hooks: Runner = {
    executeHooksParallel: async () => [healthy({})],
    executeHooksSequential: async () => [],
  };

  interface Parts {
    plans?: Planner;
    hooks?: Runner;
    broken?: boolean;
    logger?: DebugLogger;
  }

  async function createHandler(parts: Parts) {
    const logger = new RecordingLogger();
    const config = new Config({
      enableHooks: true,
      hooks: { BeforeTool: [{ hooks: [hook('x')] }] },
    });
    const registry = new HookRegistry(config, logger);
    await registry.initialize();
    const outputs = parts.broken
      ? {
          aggregateResults(): AggregatedHookResult {
            throw new Error('no aggregate');
          },
        }
      : new HookAggregator();
    const handler = new HookEventHandler(
      config,
      registry,
      parts.plans ?? plans,
      parts.hooks ?? hooks,
      outputs,
      undefined,
      parts.logger ?? logger,
    );
    return { handler, logger };
  }

  const failing = {
    planning: {
      plans: {
        createExecutionPlan: () => {
          throw new Error('no plan');
        },
      },
    },
    execution: {
      hooks: { ...hooks, executeHooksParallel: () => Promise.reject(new Error('no run')) },
    },
    aggregation: { broken: true },
  };

  it.each(['planning', 'execution', 'aggregation'] as const)(
    'answers with a failure envelope when %s fails',
    async (stage) => {
      const { handler, logger } = await createHandler(failing[stage]);
      const result = await handler.fireBeforeToolEvent('x', {});
      expect(result).toMatchObject({ ...EMPTY, success: false, errors: [{ stage }] });
      expect(result.errors[0]?.cause).toBeInstanceOf(Error);
      expect(logger.warnings).toEqual([expect.stringContaining('BeforeTool')]);
    },
  );

  it.each<[string, HookOutput, object | undefined]>([
    ['a denial', { decision: 'deny', reason: 'no' }, { decision: 'deny', reason: 'no' }],
    ['a stop', { continue: false }, { continue: false, stopReason: 'Stopped by hook' }],
    ['nothing that lets it go on', { decision: 'allow', systemMessage: 'fine' }, undefined],
  ])('keeps, when aggregation fails, %s of hooks', async (_, output, expected) => {
    const result = healthy(output, { hookConfig: hook('x', { name: 'it' }) });
    const { handler } = await createHandler({
      broken: true,
      hooks: { ...hooks, executeHooksParallel: async () => [result] },
    });
    const given = await handler.fireBeforeToolEvent('x', {});
    expect(given.success).toBe(false);
    if (expected) expect(given).toMatchObject({ finalOutput: expected, decidedBy: ['it'] });
    else expect(given.finalOutput).toBeUndefined();
  });

  it('answers with a failure envelope when the payload cannot be translated', async () => {
    const { handler } = await createHandler({});
    const payload = {
      get toolInput(): Record<string, unknown> {
        throw new Error('unreadable');
      },
      toolName: 'x',
    };
    const result = await handler.fire(BeforeTool, payload);
    expect(result).toMatchObject({ success: false, errors: [{ stage: 'translation' }] });
  });

  it.each(Object.values(HookEventName))('never rejects where nothing works: %s', async (event) => {
    const settings = { hooks: { [event]: [{ hooks: [hook('x')] }] } };
    const { handler, logger, registry } = startHandler(settings, failing.planning);
    await registry.initialize();
    const result = await directCalls[event](handler);
    expect(result).toMatchObject({ ...EMPTY, success: false, errors: [{ stage: 'planning' }] });
    expect(logger.warnings).toEqual([expect.stringContaining(event)]);
  });

  it('answers with a fresh empty result when nothing matches', async () => {
    const { handler } = await createHandler({ plans: { createExecutionPlan: () => null } });
    const first = await handler.fireBeforeToolEvent('x', {});
    expect(first).toEqual(EMPTY);
    first.errors.push(new Error('mine'));
    first.success = false;
    expect(await handler.fireBeforeToolEvent('x', {})).toEqual(EMPTY);
  });

  it.each([
    ['goes on without its hooks', hook('x')],
    ['is blocked', hook('x', { name: 'guard', onFailure: 'deny' })],
  ])('says that the operation %s', async (consequence, planned) => {
    const { handler, logger } = await createHandler({
      plans: { createExecutionPlan: () => ({ ...plan, hookConfigs: [planned] }) },
      ...failing.execution,
    });
    const { finalOutput } = await handler.fireBeforeToolEvent('x', {});
    expect(finalOutput?.isBlockingDecision() ?? false).toBe(consequence === 'is blocked');
    expect(logger.warnings).toEqual([
      expect.stringMatching(`no run; the operation ${consequence}$`),
    ]);
  });

  it('denies for a guard also where what was thrown cannot be shown', async () => {
    const guard = hook('x', { name: 'guard', onFailure: 'deny' });
    const unshowable = {
      get [inspect.custom](): never {
        throw new Error('no');
      },
    };
    const { handler } = await createHandler({
      plans: { createExecutionPlan: () => ({ ...plan, hookConfigs: [guard] }) },
      hooks: { ...hooks, executeHooksParallel: () => Promise.reject(unshowable) },
    });
    const { finalOutput, errors } = await handler.fireBeforeToolEvent('x', {});
    expect(finalOutput?.isBlockingDecision()).toBe(true);
    expect(errors[0]?.message).toContain('an error that cannot be shown');
  });

  it.each(['planning', 'execution', 'aggregation'] as const)(
    'logs a summary when %s fails, and each hook that has run',
    async (stage) => {
      const { handler, logger } = await createHandler(failing[stage]);
      const { errors } = await handler.fireBeforeToolEvent('x', {});
      const details = debugDetails(logger);
      const hasRun = stage === 'aggregation';
      expect(details).toHaveLength(hasRun ? 2 : 1);
      expect(details[0]).toMatchObject(hasRun ? { type: 'command', success: true } : {});
      expect(details.at(-1)).toMatchObject({
        event: BeforeTool,
        hooks: hasRun ? 1 : 0,
        success: false,
        error: errors[0]?.message,
      });
    },
  );

  it.each<[string, Partial<HookExecutionResult>, string[]]>([
    [
      'an exit code',
      { exitCode: 3, success: false },
      ['exited with code 3; the operation goes on'],
    ],
    [
      'an error',
      { error: new Error('no room'), success: false, output: { decision: 'deny' } },
      ['failed: no room; the operation is blocked'],
    ],
    ['a block', { exitCode: 2, success: false, output: { decision: 'deny' } }, []],
  ])('warns of a result with %s of which its runner has not', async (_, fields, expected) => {
    const results = [healthy({}, fields)];
    const { handler, logger } = await createHandler({
      hooks: { ...hooks, executeHooksParallel: async () => results },
    });
    await handler.fireBeforeToolEvent('x', {});
    expect(logger.warnings).toEqual(expected.map((each) => expect.stringContaining(each)));
  });

  it.each([
    ['nothing while nobody reads it', DebugLogger, 0],
    ['a record where somebody does', RecordingLogger, 1],
  ])('builds %s', async (_, Logger, expected) => {
    let reads = 0;
    const result = {
      ...healthy({}),
      get stdout() {
        reads += 1;
        return 'text';
      },
    };
    const run = { ...hooks, executeHooksParallel: async () => [result] };
    const { handler } = await createHandler({ hooks: run, logger: new Logger('test:silent') });
    await handler.fireBeforeToolEvent('x', {});
    expect(reads).toBe(expected);
  });

  it('logs every hook, and a summary of the event', async () => {
    const { config, logger } = await initialized({
      BeforeTool: [{ hooks: [hook('exit 3', { name: 'bad' }), hook('echo hi', { name: 'good' })] }],
    });
    await config.getHookSystem()?.getEventHandler().fireBeforeToolEvent('x', {});
    const debug = logger.records.filter(
      ({ level, namespace }) => level === 'debug' && namespace.endsWith(':events'),
    );
    expect(debug.map(({ details }) => details)).toEqual([
      expect.objectContaining({ hook: 'bad', type: 'command', success: false, exitCode: 3 }),
      expect.objectContaining({ hook: 'good', success: true, exitCode: 0, stdout: 'hi\n' }),
      expect.objectContaining({ hooks: 2, succeeded: 1, failed: 1, success: false }),
    ]);
    expect(debug.every(({ message }) => message.startsWith('BeforeTool'))).toBe(true);
  });
});

describe('each event', () => {
  const llmRequest = { model: 'm', contents: 'hi' };
  const shown = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

  it.each<[HookEventName, (handler: HookEventHandler) => Promise<AggregatedHookResult>, object]>([
    [
      BeforeTool,
      (handler) => handler.fireBeforeToolEvent('t', { a: 1 }),
      { tool_name: 't', tool_input: { a: 1 } },
    ],
    [
      AfterTool,
      (handler) => handler.fireAfterToolEvent('t', { a: 1 }, { llmContent: 'x' }),
      { tool_name: 't', tool_input: { a: 1 }, tool_response: { llmContent: 'x' } },
    ],
    [BeforeModel, (handler) => handler.fireBeforeModelEvent(llmRequest), { llm_request: shown }],
    [
      AfterModel,
      (handler) => handler.fireAfterModelEvent(llmRequest, textResponse('a')),
      {
        llm_request: shown,
        llm_response: {
          text: 'a',
          candidates: [
            { content: { role: 'model', parts: ['a'] }, finishReason: 'STOP', index: 0 },
          ],
        },
      },
    ],
    [
      HookEventName.BeforeToolSelection,
      (handler) => handler.fireBeforeToolSelectionEvent(llmRequest),
      { llm_request: shown },
    ],
    [HookEventName.BeforeAgent, (handler) => handler.fireBeforeAgentEvent('p'), { prompt: 'p' }],
    [
      HookEventName.AfterAgent,
      (handler) => handler.fireAfterAgentEvent('p', 'r'),
      { prompt: 'p', prompt_response: 'r', stop_hook_active: false },
    ],
    [
      HookEventName.SessionStart,
      (handler) => handler.fireSessionStartEvent({ source: SessionStartSource.Startup }),
      { source: 'startup' },
    ],
    [
      HookEventName.SessionEnd,
      (handler) => handler.fireSessionEndEvent({ reason: SessionEndReason.Exit }),
      { reason: 'exit' },
    ],
    [
      HookEventName.PreCompress,
      (handler) => handler.firePreCompressEvent({ trigger: PreCompressTrigger.Manual }),
      { trigger: 'manual' },
    ],
    [
      HookEventName.Notification,
      (handler) => handler.fireNotificationEvent(NotificationType.Other, 'm'),
      { notification_type: 'Other', message: 'm', details: {} },
    ],
  ])('%s reaches its script', async (event, fire, fields) => {
    const { config } = await initialized(
      { [event]: [{ hooks: [hook(keepInput('seen.json'))] }] },
      { transcriptPath: '/transcript.json' },
    );
    const result = await fire(config.getHookSystem()!.getEventHandler());
    expect(result.success).toBe(true);
    expect(await temp.readJson('seen.json')).toEqual({
      session_id: 'session',
      cwd: temp.path,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      hook_event_name: event,
      transcript_path: '/transcript.json',
      ...fields,
    });
  });
});
