import { describe, expect, it } from 'vitest';
import {
  HookEventName,
  HookSystem,
  HookSystemNotInitializedError,
  NotificationType,
  PreCompressTrigger,
  processCommonHookOutputFields,
  SessionEndReason,
  SessionStartSource,
  type ConfigOptions,
  type HookDefinitions,
  type HookExecutionResponse,
  type HookOutput,
  type MessageBus,
} from '../../src/index.js';
import { buildFailureEnvelope } from '../../src/hooks/envelopes.js';
import {
  ask,
  directCalls,
  HOOK_EXECUTION_RESPONSE,
  inputs,
  createRequest,
  startHandler,
  startHost,
} from '../confirmation-bus/helpers.js';
import { ChangingConfig } from '../helpers/changingConfig.js';
import { blocking, hook, keepInput, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

// What the hook systems, event handlers and message buses of Gemini CLI and LLxprt are tested for. Where ours differ,
// see differences.test.ts.

const temp = useTempDir();
const eventNames = Object.values(HookEventName);

function createSystem(hooks: HookDefinitions, options: ConfigOptions = {}) {
  const logger = new RecordingLogger();
  const config = new ChangingConfig({
    enableHooks: true,
    sessionId: 'session',
    workingDir: temp.path,
    debugLogger: logger,
    ...options,
  });
  config.hooks = hooks;
  const system = config.getHookSystem();
  if (!system) throw new Error('hooks are off');
  return { config, system, logger };
}

async function openSystem(hooks: HookDefinitions, options: ConfigOptions = {}) {
  const opened = createSystem(hooks, options);
  await opened.system.initialize();
  return { ...opened, events: opened.system.getEventHandler() };
}

const one = (command: string, name?: string) => [
  { hooks: [hook(command, { ...(name && { name }) })] },
];

/** What the common fields of an event's outputs come to, when all hooks run at once. */
async function combine(...outputs: HookOutput[]) {
  const hooks = outputs.map((output, id) => saying(output, { env: { ID: String(id) } }));
  const { events } = await openSystem({ BeforeTool: [{ hooks }] });
  return processCommonHookOutputFields(await events.fireBeforeToolEvent('any', {}));
}

/** Keeps every answer that is published. */
async function collect(bus: MessageBus): Promise<HookExecutionResponse[]> {
  const responses: HookExecutionResponse[] = [];
  await bus.subscribe(HOOK_EXECUTION_RESPONSE, (each) => void responses.push(each));
  return responses;
}

describe('the life of a hook system', () => {
  it('begins at the first use, once', async () => {
    const { system } = createSystem({ BeforeTool: one('true') });
    expect(system).toBeInstanceOf(HookSystem);
    expect(system.getStatus()).toEqual({ initialized: false, totalHooks: 0 });
    expect(() => system.getRegistry()).toThrow(HookSystemNotInitializedError);
    expect(() => system.getEventHandler()).toThrow(HookSystemNotInitializedError);
    await Promise.all([system.initialize(), system.initialize()]);
    await system.initialize();
    expect(system.getStatus()).toEqual({ initialized: true, totalHooks: 1 });
    expect(system.getRegistry()).toBe(system.getRegistry());
    expect(system.getEventHandler()).toBe(system.getEventHandler());
  });

  it('survives what is wrong with its hooks', async () => {
    const broken = { BeforeTool: [{ hooks: [{ type: 'invalid', command: 'x' }] }] };
    const { system, logger } = await openSystem(broken as unknown as HookDefinitions);
    expect(system.getAllHooks()).toEqual([]);
    expect(logger.warnings).toHaveLength(1);
  });

  it('is told of too early by an error with a name (LLxprt)', () => {
    const error = new HookSystemNotInitializedError();
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('HookSystemNotInitializedError');
    expect(error.message).toMatch(/hook system is not initialized/i);
    expect(new HookSystemNotInitializedError('of our own').message).toBe('of our own');
  });

  it('knows of extensions that came or went once it reads its hooks again (LLxprt)', async () => {
    const extensions = [{ name: 'e', isActive: true, hooks: { BeforeTool: one('true') } }];
    const { system } = await openSystem({}, { extensions });
    expect(system.getAllHooks()).toHaveLength(1);
    const [extension] = extensions.splice(0);
    await system.reload();
    expect(system.getAllHooks()).toEqual([]);
    if (extension) extensions.push(extension);
    await system.reload();
    expect(system.getAllHooks()).toHaveLength(1);
  });

  it.each(['settings', 'a call'])('leaves out a hook that was switched off by %s', async (how) => {
    const command = 'echo ran >>runs';
    const disabledHooks = how === 'settings' ? [command] : [];
    const hooks = { BeforeTool: [...one(command), ...one('echo other >>runs')] };
    const { system, events } = await openSystem(hooks, { disabledHooks });
    if (how === 'a call') system.setHookEnabled(command, false);
    expect(system.getAllHooks().map(({ enabled }) => enabled)).toEqual([false, true]);
    expect(await events.fireBeforeToolEvent('any', {})).toMatchObject({ success: true });
    expect(await temp.readLines('runs')).toEqual(['other']);
    system.setHookEnabled(command, true);
    await events.fireBeforeToolEvent('any', {});
    expect((await temp.readLines('runs')).toSorted()).toEqual(['other', 'other', 'ran']);
    expect(() => system.setHookEnabled('no such hook', false)).not.toThrow();
  });

  it('ends as often as it is ended, and firing stays safe (LLxprt)', async () => {
    const { system, events } = await openSystem({});
    await system.dispose();
    await system.dispose();
    expect(await events.fireBeforeToolEvent('any', {})).toMatchObject({ success: true });
  });
});

describe('an event', () => {
  it.each(eventNames)('%s gives an empty success where no hook is', async (event) => {
    const { events } = await openSystem({});
    expect(await directCalls[event](events)).toEqual({
      success: true,
      finalOutput: undefined,
      allOutputs: [],
      errors: [],
      totalDuration: 0,
      results: [],
    });
  });

  it.each(eventNames)('%s reaches a script, with the fields of the session', async (event) => {
    const { events } = await openSystem(
      { [event]: one(keepInput('input.json')) },
      { transcriptPath: '/chats/session.json' },
    );
    expect(await directCalls[event](events)).toMatchObject({ success: true, errors: [] });
    const { llm_request: _request, llm_response: _response, ...own } = inputs[event];
    expect(await temp.readJson('input.json')).toMatchObject({
      session_id: 'session',
      transcript_path: '/chats/session.json',
      cwd: temp.path,
      hook_event_name: event,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      ...own,
    });
  });

  it('of the model reaches a script in the format of hooks', async () => {
    const { events } = await openSystem({ AfterModel: one(keepInput('input.json')) });
    await directCalls.AfterModel(events);
    expect(await temp.readJson('input.json')).toMatchObject({
      llm_request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
      llm_response: { text: 'a', candidates: [{ content: { role: 'model', parts: ['a'] } }] },
    });
  });

  it('of a tool is matched, and one of the model is not', async () => {
    const hooks = one('true').map((group) => ({ ...group, matcher: '^TestTool$' }));
    const { events } = await openSystem({
      BeforeTool: hooks,
      AfterTool: hooks,
      BeforeModel: hooks,
    });
    const fired = [
      await events.fireBeforeToolEvent('TestTool', { test: 'data' }),
      await events.fireBeforeToolEvent('OtherTool', {}),
      await events.fireAfterToolEvent('TestTool', {}, {}),
      await events.fireAfterToolEvent('OtherTool', {}, {}),
      await directCalls.BeforeModel(events),
    ];
    expect(fired.map(({ results }) => results.length)).toEqual([1, 0, 1, 0, 1]);
    expect(fired.every(({ success }) => success)).toBe(true);
  });

  it.each([
    ['at the same time', false],
    ['in a sequence, where a group says so', true],
  ])('runs its hooks %s', async (_how, sequential) => {
    const hooks = [
      hook('until [ -e second ]; do sleep 0.02; done', { timeout: 700 }),
      hook('touch second'),
    ];
    const { events } = await openSystem({ BeforeTool: [{ sequential, hooks }] });
    const { results } = await events.fireBeforeToolEvent('any', {});
    expect(results.map(({ success }) => success)).toEqual([!sequential, true]);
  });

  it.each(Object.values(SessionStartSource))('SessionStart knows the source %s', async (source) => {
    const { events } = await openSystem({ SessionStart: one(keepInput('input.json')) });
    await events.fireSessionStartEvent({ source });
    expect(await temp.readJson('input.json')).toMatchObject({ source });
  });

  it.each(Object.values(SessionEndReason))('SessionEnd knows the reason %s', async (reason) => {
    const { events } = await openSystem({ SessionEnd: one(keepInput('input.json')) });
    await events.fireSessionEndEvent({ reason });
    expect(await temp.readJson('input.json')).toMatchObject({ reason });
  });

  it.each(Object.values(PreCompressTrigger))(
    'PreCompress knows the trigger %s',
    async (trigger) => {
      const { events } = await openSystem({ PreCompress: one(keepInput('input.json')) });
      await events.firePreCompressEvent({ trigger });
      expect(await temp.readJson('input.json')).toMatchObject({ trigger });
    },
  );

  it('Notification leaves out of its details what is no data (LLxprt)', async () => {
    const { events } = await openSystem({ Notification: one(keepInput('input.json')) });
    const details = { type: 'exec', title: 'Run it?', command: 'rm -rf /', onConfirm: () => {} };
    await events.fireNotificationEvent(NotificationType.ToolPermission, 'Run it?', details);
    expect(await temp.readJson('input.json')).toMatchObject({
      notification_type: 'ToolPermission',
      message: 'Run it?',
      details: { type: 'exec', title: 'Run it?', command: 'rm -rf /' },
    });
  });

  it('gives a failure, and throws nothing, where planning fails', async () => {
    const plans = {
      createExecutionPlan: () => {
        throw new Error('no plan');
      },
    };
    const hooks = Object.fromEntries(eventNames.map((event) => [event, one('true')]));
    const { handler, logger } = startHandler({ hooks }, { plans });
    for (const event of eventNames) {
      const failed = await directCalls[event](handler);
      expect(failed).toMatchObject({ success: false, allOutputs: [], finalOutput: undefined });
      expect(failed.errors).toEqual([
        expect.objectContaining({ message: expect.stringContaining('no plan') }),
      ]);
    }
    expect(logger.warnings).toHaveLength(eventNames.length);
  });

  it('tells the user which hook failed', async () => {
    const { events, logger } = await openSystem({ BeforeTool: one('exit 3', './fail.sh') });
    await events.fireBeforeToolEvent('any', {});
    expect(logger.warnings).toEqual([expect.stringContaining('./fail.sh')]);
  });

  it.each(['an error', 'a text'])('that failed gives an envelope of %s (LLxprt)', (what) => {
    const cause = what === 'an error' ? new Error('crashed') : 'crashed';
    const envelope = buildFailureEnvelope(cause, 'execution', { event: HookEventName.BeforeTool });
    expect(envelope).toMatchObject({ success: false, allOutputs: [] });
    expect(envelope.errors[0]).toBeInstanceOf(Error);
    expect(envelope.errors[0]?.message).toContain('crashed');
  });
});

describe('what hooks say of an event together (LLxprt)', () => {
  it.each<[what: string, HookOutput[], object]>([
    [
      'a stop by the first of two',
      [{ continue: false, stopReason: 'too many tokens' }, { continue: true }],
      { shouldStop: true, stopReason: 'too many tokens' },
    ],
    [
      'no stop',
      [{ continue: true }, { continue: true }],
      { shouldStop: false, stopReason: undefined },
    ],
    ['a message', [{ systemMessage: 'rate limited' }], { systemMessage: 'rate limited' }],
    ['output to hide', [{ suppressOutput: true }], { suppressOutput: true }],
    [
      'nothing',
      [],
      { shouldStop: false, stopReason: undefined, systemMessage: undefined, suppressOutput: false },
    ],
  ])('is %s', async (_what, outputs, expected) => {
    expect(await combine(...outputs)).toMatchObject(expected);
  });

  it('is a stop where any of them stops, and only there', async () => {
    for (const stops of [[true], [false], [false, true, false], [false, false]]) {
      const processed = await combine(...stops.map((stop) => ({ continue: !stop })));
      expect(processed.shouldStop).toBe(stops.includes(true));
    }
  });

  it('is logged, one record for each hook and one for all', async () => {
    const hooks = [hook('true'), hook('exit 1'), hook('sleep 0')];
    const { events, logger } = await openSystem({ BeforeTool: [{ hooks }] });
    await events.fireBeforeToolEvent('any', {});
    const details = (message: string) =>
      logger.records.flatMap((record) => (record.message === message ? record.details : []));
    expect(details('BeforeTool: hook finished')).toHaveLength(3);
    expect(details('BeforeTool: finished')).toEqual([
      expect.objectContaining({ event: 'BeforeTool', hooks: 3, succeeded: 2, failed: 1 }),
    ]);
    expect(logger.warnings).toHaveLength(1);
  });
});

describe('requests over a bus (LLxprt)', () => {
  it.each(eventNames)('for %s get one answer each, under their own id', async (eventName) => {
    const { bus } = startHost({ workingDir: temp.path });
    const responses = await collect(bus);
    for (const correlationId of ['first', ' 二 "\u0000', 'x'.repeat(128)]) {
      const response = await ask(bus, { eventName, input: inputs[eventName], correlationId });
      expect(response).toMatchObject({ correlationId, success: true });
    }
    expect(responses).toHaveLength(3);
  });

  it('get an id where they have none', async () => {
    const { bus } = startHost({ workingDir: temp.path });
    const { correlationId } = await ask(bus, { correlationId: undefined });
    expect(correlationId).toMatch(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
  });

  it.each([
    ['an event that does not exist', { eventName: 'UnknownEvent' }],
    ['no input', { input: undefined }],
    ['an input of nothing', { input: {} }],
  ])('with %s are refused under their id', async (_what, fields) => {
    const { bus } = startHost({ workingDir: temp.path });
    const response = await ask(bus, { ...fields, correlationId: 'kept' });
    expect(response).toMatchObject({ correlationId: 'kept', success: false });
    expect(response.error?.message).toBeTruthy();
  });

  it('are not heard any more once the system has been disposed', async () => {
    const { bus, system } = startHost({ workingDir: temp.path });
    expect(await ask(bus)).toMatchObject({ success: true });
    await system.dispose();
    const responses = await collect(bus);
    bus.publish(createRequest());
    // What is asked of a second host is answered after what the first would have said.
    startHost({ workingDir: temp.path, messageBus: bus });
    await ask(bus, { correlationId: 'of the second' });
    expect(responses.map(({ correlationId }) => correlationId)).toEqual(['of the second']);
  });

  it('are heard once, however often the hooks are read', async () => {
    const { bus, system } = startHost({ workingDir: temp.path });
    await system.initialize();
    await system.reload();
    await system.reload();
    const responses = await collect(bus);
    await ask(bus);
    expect(responses).toHaveLength(1);
  });

  it('are no condition: hooks run without a bus', async () => {
    const { events } = await openSystem({ BeforeTool: [{ hooks: [blocking('no')] }] });
    const { finalOutput } = await events.fireBeforeToolEvent('any', {});
    expect(finalOutput?.isBlockingDecision()).toBe(true);
  });
});
