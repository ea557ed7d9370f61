import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Runner } from '../../middleware/runner.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import type { MessageBus } from '../../src/confirmation-bus/types.js';
import type { HookExecutionResponse } from '../../src/confirmation-bus/types.js';
import { HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import {
  ask,
  createRequest,
  directCalls,
  HOOK_EXECUTION_REQUEST,
  HOOK_EXECUTION_RESPONSE,
  inputs,
  startHandler,
  startHost,
} from '../confirmation-bus/helpers.js';
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

describe('a request', () => {
  it.each(Object.values(HookEventName))(
    'for %s gives a script the same bytes as a direct call',
    async (eventName) => {
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
    },
  );

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

  it.each([[[null]], [[null, { role: 'user', parts: [null, { text: 'hi' }] }]], [{}]])(
    'with contents that are none is put to the hooks all the same, as a direct one: %j',
    async (contents) => {
      const guard = hook('cat > stdin.json; echo no >&2; exit 2', { onFailure: 'deny' });
      const { bus, system } = host({ BeforeModel: [{ hooks: [guard] }] });
      const llm_request = { model: 'm', contents };
      const { success, output } = await ask(bus, {
        eventName: 'BeforeModel',
        input: { llm_request },
      });
      expect({ success, reason: output?.finalOutput?.reason }).toEqual({
        success: false,
        reason: 'no',
      });
      expect(await temp.readJson('stdin.json')).toMatchObject({
        llm_request: {
          messages: JSON.stringify(contents).includes('hi') ? [{ content: 'hi' }] : [],
        },
      });
      const direct = await system.getEventHandler().fireBeforeModelEvent(llm_request as never);
      expect(direct.finalOutput?.reason).toBe('no');
      expect(llm_request.contents).toBe(contents);
    },
  );

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

  it.each<[string, object, object]>([
    [
      'a permission',
      { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'p' } },
      { decision: 'deny', reason: 'p' },
    ],
    ['a stop', { continue: false, reason: 'r' }, { continue: false, stopReason: 'r' }],
    ['a silent block', { decision: 'block' }, { decision: 'block', reason: 'Blocked by hook' }],
  ])('gets what needs no interpretation after JSON: %s', async (_, said, expected) => {
    const { bus } = host({ BeforeTool: [{ hooks: [saying(said)] }] });
    const { output } = JSON.parse(JSON.stringify(await ask(bus)));
    expect(output.finalOutput).toMatchObject(expected);
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

/** A handler whose hooks do not finish before they are told to. */
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

describe('two requests under one id', () => {
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

function startConfig(options: ConfigOptions) {
  const debugLogger = new RecordingLogger();
  const bus = new InProcessMessageBus(debugLogger);
  return { bus, config: new Config({ ...options, messageBus: bus, debugLogger }) };
}

describe('while hooks are off', () => {
  it.each<[string, HookDefinitions]>([
    ['no hook is configured', {}],
    ['a hook would deny', { BeforeTool: [{ hooks: [blocking('no')] }] }],
  ])('a request gets an empty success where %s', async (_, hooks) => {
    const { bus, config } = startConfig({ hooks });
    expect(config.getHookSystem()).toBeUndefined();
    expect(await ask(bus, { correlationId: 'mine' })).toEqual({
      type: HOOK_EXECUTION_RESPONSE,
      correlationId: 'mine',
      success: true,
      output: {
        success: true,
        finalOutput: undefined,
        allOutputs: [],
        errors: [],
        totalDuration: 0,
        results: [],
      },
    });
  });

  it('a bad request is still refused', async () => {
    const { bus } = startConfig({});
    const response = await ask(bus, { eventName: 'BeforeLunch' });
    expect(response).toMatchObject({ success: false, error: { code: 'HOOK_UNKNOWN_EVENT' } });
  });

  it('the config ends its subscription', async () => {
    const { bus, config } = startConfig({});
    expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(1);
    await config.dispose();
    await config.dispose();
    expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(0);
  });
});

describe('dispose', () => {
  it('that nobody waits for ends the answers at once', async () => {
    const { bus, system } = host({});
    await system.initialize();
    const responses = await collect(bus);
    const ending = system.dispose();
    bus.publish(createRequest());
    await ending;
    // Whatever was on its way would be here before the answer of another host, which has to read its hooks.
    startHost({ messageBus: bus });
    bus.publish(createRequest({ correlationId: 'other' }));
    await vi.waitFor(() => expect(responses).toHaveLength(1));
    expect(responses).toMatchObject([{ correlationId: 'other' }]);
  });

  it('ends the subscription, and may be called again', async () => {
    const { bus, system } = host({});
    expect((await ask(bus)).success).toBe(true);
    expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(1);
    await system.dispose();
    await system.dispose();
    expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(0);
    const responses = await collect(bus);
    bus.publish(createRequest());
    await setImmediate();
    expect(responses).toEqual([]);
  });

  it('lets requests in flight be answered', async () => {
    const { bus, system } = host({ BeforeTool: [{ hooks: [blocking('late')] }] });
    const responses = await collect(bus);
    bus.publish(createRequest());
    await system.dispose();
    await vi.waitFor(() => expect(responses).toHaveLength(1));
    expect(responses[0]?.output?.finalOutput?.reason).toBe('late');
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
