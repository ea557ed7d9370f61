import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { MessageBusType } from '../../src/confirmation-bus/types.js';
import { callModelWithHooks, finishTurn } from '../../src/core/modelCall.js';
import { decideReceived } from '../../src/core/decideReceived.js';
import { countsForLate } from '../../src/core/lateVerdict.js';
import { receive } from '../../src/dialects/reverse.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { parseHookDefinitions } from '../../src/hooks/hookSettings.js';
import {
  HookEventName,
  SessionEndReason,
  type CallSession,
  type HookDefinitions,
} from '../../src/protocol/types.js';
import { asLoaded, hook, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const { AfterTool, BeforeTool, SessionEnd, SessionStart, Notification } = HookEventName;
const temp = useTempDir();

function setUp(hooks: HookDefinitions, options: ConfigOptions = {}) {
  const logger = new RecordingLogger();
  const config = new Config({
    enableHooks: true,
    hooks,
    workingDir: temp.path,
    debugLogger: logger,
    sessionId: 's',
    ...options,
  });
  return { config, logger };
}

function afterTool(...hooks: ReturnType<typeof hook>[]): HookDefinitions {
  return { AfterTool: [{ hooks }] };
}

function runTool(config: Config) {
  const result = { llmContent: 'given', returnDisplay: 'given' };
  return executeToolWithHooks(config, 'tool', {}, () => Promise.resolve(result));
}

/** Asks a model, and gives what it has read. */
async function askModel(config: Config, fails = false): Promise<string> {
  let read = '';
  const request = { model: 'm', contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
  const turn = callModelWithHooks(config, request, async (sent) => {
    if (fails) throw new Error('overloaded');
    read = JSON.stringify(sent.contents);
    return (async function* () {
      yield { candidates: [{ content: { role: 'model', parts: [{ text: 'Fine.' }] } }] } as never;
    })();
  });
  await finishTurn(turn);
  return read;
}

const file = (name: string) => join(temp.path, name);

/** A hook that says something once there is a file. */
function waitingFor(name: string, output: object, settings = {}) {
  return saying(output, {
    before: `cat >/dev/null; while [ ! -e ${name} ]; do sleep 0.02; done`,
    async: true,
    ...settings,
  });
}

function sayContext(additionalContext: string) {
  return { hookSpecificOutput: { additionalContext } };
}

describe('an async hook', () => {
  it('is not waited for, and what it says late is read by the next model call, once', async () => {
    const { config } = setUp(afterTool(waitingFor('go', sayContext('LATE'))));
    expect((await runTool(config)).llmContent).toBe('given');
    expect(await askModel(config)).not.toContain('LATE');
    writeFileSync(file('go'), '');
    const system = config.getHookSystem();
    await vi.waitFor(() => expect(system?.lookForLate().isThere).toBe(true));
    expect(await askModel(config)).toMatch(/<hook_context-\w+>\\nLATE\\n<\/hook_context/);
    expect(await askModel(config)).not.toContain('LATE');
    await config.dispose();
  });

  it('keeps what it said where the model call came to nothing', async () => {
    const { config } = setUp(afterTool(saying(sayContext('LATE'), { async: true })));
    await runTool(config);
    const system = config.getHookSystem();
    await vi.waitFor(() => expect(system?.lookForLate().isThere).toBe(true));
    await expect(askModel(config, true)).rejects.toThrow('overloaded');
    expect(await askModel(config)).toContain('LATE');
  });

  it('decides nothing: a block and a stop are texts for the model', async () => {
    const { config } = setUp(
      afterTool(
        hook('echo "Broken build" >&2; exit 2', { async: true }),
        saying({ continue: false, stopReason: 'Enough' }, { async: true }),
        saying({ systemMessage: 'Note' }, { async: true }),
      ),
    );
    expect((await runTool(config)).error).toBeUndefined();
    await config.getHookSystem()?.untilAsyncEnded();
    const read = await askModel(config);
    for (const text of ['Broken build', 'Enough', '[System] Note']) expect(read).toContain(text);
  });

  it('runs beside hooks that are waited for', async () => {
    const { config } = setUp(
      afterTool(waitingFor('go', sayContext('LATE')), saying(sayContext('NOW'))),
    );
    expect((await runTool(config)).llmContent).toContain('NOW');
    await config.dispose();
  });

  it('says what failed, and is switched off after so many failures', async () => {
    const { config, logger } = setUp(
      afterTool(hook('exit 3', { async: true, name: 'weak', maxConsecutiveFailures: 2 })),
    );
    const system = config.getHookSystem();
    for (let count = 0; count < 3; count += 1) {
      await runTool(config);
      await system?.untilAsyncEnded();
    }
    expect(logger.warnings.filter((each) => each.includes('exited with code 3'))).toHaveLength(2);
    expect(logger.warnings.at(-1)).toContain('2 times in a row');
  });

  it('is one of so many at a time; some wait, and the rest is left out with one warning', async () => {
    const { config, logger } = setUp(
      afterTool(
        hook('cat >/dev/null; echo x >>started; while [ ! -e go ]; do sleep 0.02; done', {
          async: true,
        }),
      ),
      { maxAsyncHooks: 1 },
    );
    for (let count = 0; count < 8; count += 1) await runTool(config);
    await vi.waitFor(() => expect(existsSync(file('started'))).toBe(true));
    expect(readFileSync(file('started'), 'utf8')).toBe('x\n');
    writeFileSync(file('go'), '');
    await config.getHookSystem()?.untilAsyncEnded();
    expect(readFileSync(file('started'), 'utf8')).toBe('x\n'.repeat(5));
    expect(logger.warnings.filter((each) => each.includes('maxAsyncHooks'))).toHaveLength(1);
  });

  it('has its conditions', async () => {
    const { config } = setUp(
      afterTool(hook('cat >/dev/null; touch ran', { async: true, when: 'other_tool' })),
    );
    await runTool(config);
    await config.getHookSystem()?.untilAsyncEnded();
    expect(existsSync(file('ran'))).toBe(false);
  });

  it('of one session is not read by another', async () => {
    const { config } = setUp(afterTool(saying(sayContext('LATE'), { async: true })));
    const payload = { toolName: 't', toolInput: {}, toolResponse: {} };
    await fireHook(config, AfterTool, payload, { session: { sessionId: 'a', agent: 'x' } });
    const system = config.getHookSystem();
    await system?.untilAsyncEnded();
    expect(system?.takeLate({ sessionId: 'b', agent: 'x' })).toEqual([]);
    expect(system?.takeLate({ sessionId: 'a', agent: 'y' })).toEqual([]);
    expect(system?.takeLate({ sessionId: 'a', agent: 'x' })).toMatchObject([{ context: 'LATE' }]);
  });

  it('of one sub-agent is not read by another of its kind', async () => {
    const { config } = setUp(afterTool(saying(sayContext('LATE'), { async: true })));
    const payload = { toolName: 't', toolInput: {}, toolResponse: {} };
    const [one, other] = ['1', '2'].map((agentId) => ({ sessionId: 'a', agent: 'x', agentId }));
    await fireHook(config, AfterTool, payload, { session: one });
    const system = config.getHookSystem();
    await system?.untilAsyncEnded();
    expect(system?.takeLate(other)).toEqual([]);
    expect(system?.takeLate({ sessionId: 'a', agent: 'x' })).toEqual([]);
    expect(system?.takeLate(one)).toMatchObject([{ context: 'LATE' }]);
  });
});

function isAlive(): boolean {
  try {
    return process.kill(Number(readFileSync(file('pid'), 'utf8')), 0);
  } catch {
    return false;
  }
}

describe('the end of a session', () => {
  const stubborn = 'cat >/dev/null; echo $$ >pid; sleep 300 & sleep 300';

  it('ends async hooks after a grace, with their process groups, and forgets what they said', async () => {
    const { config } = setUp({
      ...afterTool(hook(stubborn, { async: true }), saying(sayContext('LATE'), { async: true })),
      SessionEnd: [{ hooks: [hook('cat >/dev/null; sleep 0.3; touch said', { async: true })] }],
    });
    const system = config.getHookSystem();
    await runTool(config);
    await vi.waitFor(() => expect(isAlive()).toBe(true));
    await fireHook(config, SessionEnd, { reason: SessionEndReason.Exit });
    expect(isAlive()).toBe(true);
    await system?.endSession();
    expect(isAlive()).toBe(false);
    expect(existsSync(file('said'))).toBe(true);
    expect(system?.lookForLate().isThere).toBe(false);
  });

  it('ends no hook of another session', async () => {
    const { config } = setUp(afterTool(hook(stubborn, { async: true })));
    await runTool(config);
    await vi.waitFor(() => expect(isAlive()).toBe(true));
    await config.getHookSystem()?.endSession({ sessionId: 'other' });
    expect(isAlive()).toBe(true);
    await config.dispose();
    expect(isAlive()).toBe(false);
  });

  it.each([{}, { agent: 'x', agentId: '1' }])(
    'is that of a session that its host names: %j',
    async (agent) => {
      const { config } = setUp(afterTool(hook(stubborn, { async: true })));
      const system = config.getHookSystem();
      const session = { sessionId: 'named', ...agent };
      const payload = { toolName: 't', toolInput: {}, toolResponse: {} };
      await fireHook(config, AfterTool, payload, { session });
      await vi.waitFor(() => expect(isAlive()).toBe(true));
      const ended = { reason: SessionEndReason.Exit };
      await system?.getEventHandler().fire(SessionEnd, ended, undefined, { sessionId: 'named' });
      await system?.untilAsyncEnded();
      expect(isAlive()).toBe(false);
    },
  );

  it('ends them where it is told over the message bus, too', async () => {
    const messageBus = new InProcessMessageBus();
    const hooks = afterTool(hook(stubborn, { async: true }));
    const { config } = setUp(hooks, { messageBus });
    await runTool(config);
    await vi.waitFor(() => expect(isAlive()).toBe(true));
    messageBus.publish({
      type: MessageBusType.HOOK_EXECUTION_REQUEST,
      eventName: SessionEnd,
      input: { reason: 'exit' },
      correlationId: 'end',
    });
    await config.getHookSystem()?.untilAsyncEnded();
    expect(isAlive()).toBe(false);
  });

  it('is waited for by dispose, as long as hooks of the end may run', async () => {
    const { config } = setUp({
      SessionEnd: [{ hooks: [hook('cat >/dev/null; sleep 0.3; touch said', { async: true })] }],
    });
    await fireHook(config, SessionEnd, { reason: SessionEndReason.Exit });
    await config.dispose();
    expect(existsSync(file('said'))).toBe(true);
  });
});

describe('asyncRewake', () => {
  it('wakes whoever waits once it blocks, and nobody where it ends well', async () => {
    const { config } = setUp({
      Notification: [
        { hooks: [hook('cat >/dev/null; sleep 0.2; echo Red >&2; exit 2', { asyncRewake: true })] },
      ],
      SessionStart: [{ hooks: [hook('cat >/dev/null; sleep 0.1', { asyncRewake: true })] }],
    });
    const system = config.getHookSystem();
    await fireHook(config, SessionStart, { source: 'startup' as never });
    expect(await system?.untilWoken()).toEqual([]);
    const payload = { notificationType: 'idle' as never, message: 'm', details: {} };
    await fireHook(config, Notification, payload);
    expect(await system?.untilWoken()).toMatchObject([{ reason: 'Red', wakes: true }]);
    expect(await system?.untilWoken()).toEqual([]);
  });
});

const parse = (event: HookEventName, settings: object) =>
  parseHookDefinitions({ [event]: [{ hooks: [hook('x', settings)] }] });

const decide = (config: Config, name: string, fields: object) => {
  const received = receive('claude', { hook_event_name: name, session_id: 'theirs', ...fields });
  if (!received) throw new Error('no event of ours');
  return decideReceived(config, received, { session: received.identity });
};
const identity = ({ agent_id: agentId = '', agent_type: agent = '' }) => ({
  sessionId: 'theirs',
  agentId,
  agent,
});

describe('behind events of another agent', () => {
  const ran = { tool_name: 'Bash', tool_input: {}, tool_response: 'x' };

  it('is read where the agent reads context, once', async () => {
    const { config } = setUp(afterTool(saying(sayContext('LATE'), { async: true })));
    await decide(config, 'PostToolUse', ran);
    await config.getHookSystem()?.untilAsyncEnded();
    expect((await decide(config, 'Stop', {})).context).toBeUndefined();
    expect((await decide(config, 'UserPromptSubmit', { prompt: 'p' })).context).toEqual(['LATE']);
    expect((await decide(config, 'UserPromptSubmit', { prompt: 'p' })).context).toBeUndefined();
  });

  it('keeps the agent from ending once, with asyncRewake', async () => {
    const red = hook('echo Red >&2; exit 2', { asyncRewake: true });
    const { config } = setUp(afterTool(red));
    await decide(config, 'PostToolUse', ran);
    await config.getHookSystem()?.untilAsyncEnded();
    const isBack = { stop_hook_active: true };
    expect(await decide(config, 'Stop', isBack)).toMatchObject({ kind: 'none' });
    expect(await decide(config, 'Stop', {})).toMatchObject({ kind: 'block', reason: 'Red' });
    expect(await decide(config, 'Stop', {})).toMatchObject({ kind: 'none' });
  });

  it('sends a sub-agent back once, and is ended with it', async () => {
    const who = { agent_id: '1', agent_type: 'x' };
    const red = hook('echo Red >&2; exit 2', { asyncRewake: true });
    const slow = hook('cat >/dev/null; exec sleep 300', { async: true });
    const { config } = setUp(afterTool(red, slow));
    const system = config.getHookSystem();
    await decide(config, 'PostToolUse', { ...ran, ...who });
    await vi.waitFor(() => expect(system?.lookForLate(identity(who)).isThere).toBe(true));
    expect(await decide(config, 'SubagentStop', { ...who, agent_id: '2' })).toMatchObject({
      kind: 'none',
    });
    expect(await decide(config, 'SubagentStop', who)).toMatchObject({
      kind: 'block',
      reason: 'Red',
    });
    expect(system?.lookForLate(identity(who)).mayCome).toBe(true);
    const isBack = { ...who, stop_hook_active: true };
    expect(await decide(config, 'SubagentStop', isBack)).toMatchObject({ kind: 'none' });
    await system?.untilAsyncEnded();
  });
});

async function saidLate(config: Config, parent: CallSession) {
  const system = config.getHookSystem();
  expect(system?.lookForLate(parent).mayCome).toBe(true);
  writeFileSync(file('go'), '');
  await system?.untilAsyncEnded();
  return system?.takeLate(parent).map(({ context }) => context);
}

describe('of the end of a sub-agent', () => {
  const hooks = { SubagentStop: [{ hooks: [waitingFor('go', sayContext('LATE'))] }] };
  const done = {
    agentId: '1',
    agentType: 'x',
    prompt: 'p',
    promptResponse: 'r',
    stopHookActive: false,
  };

  it.each([{}, { agent: 'writer' }])('is read by its parent: %j', async (main) => {
    const { config } = setUp(hooks);
    const verdict = await decide(config, 'SubagentStop', { agent_id: '1', agent_type: 'x' });
    expect(verdict).toMatchObject({ kind: 'none' });
    expect(await saidLate(config, { sessionId: 'theirs', ...main })).toEqual(['LATE']);
  });

  it.each([{}, { agent: 'y', agentId: '2', parentSessionId: 'first' }])(
    'is read by its parent, where that has a session of its own: %j',
    async (parent) => {
      const { config } = setUp(hooks);
      const session = { sessionId: 'inner', parentSessionId: 'outer', agent: 'x', agentId: '1' };
      await fireHook(config, HookEventName.SubagentStop, done, { session });
      void config.getHookSystem()?.endSession(session);
      expect(await saidLate(config, { sessionId: 'outer', ...parent })).toEqual(['LATE']);
    },
  );

  it('sends back the sub-agent that waits for it', async () => {
    const red = hook('cat >/dev/null; echo Red >&2; exit 2', { asyncRewake: true });
    const { config } = setUp({ SubagentStop: [{ hooks: [red] }] });
    const session = { sessionId: 'inner', parentSessionId: 's', agentId: '1' };
    await fireHook(config, HookEventName.SubagentStop, done, { session });
    const system = config.getHookSystem();
    expect(await system?.untilWoken(undefined, session)).toMatchObject([{ reason: 'Red' }]);
    expect(system?.lookForLate().isThere).toBe(false);
  });
});

async function runningIn(...sessions: CallSession[]) {
  const { config } = setUp(afterTool(hook('cat >/dev/null; exec sleep 300', { async: true })));
  const payload = { toolName: 't', toolInput: {}, toolResponse: {} };
  for (const session of sessions) await fireHook(config, AfterTool, payload, { session });
  return { config, system: config.getHookSystem() };
}

describe('sessions and their agents', () => {
  it('end with the event SessionEnd, whoever tells it', async () => {
    const { config, system } = await runningIn({ sessionId: 'a', agent: 'x', agentId: '1' });
    const session = { sessionId: 'a', agent: 'main', agentType: 'main' };
    await fireHook(config, SessionEnd, { reason: SessionEndReason.Exit }, { session });
    await system?.untilAsyncEnded();
  });

  it.each<[CallSession, CallSession]>([
    [
      { sessionId: 'a', agent: 'x', agentId: '1/2' },
      { sessionId: 'a', agent: 'x/1', agentId: '2' },
    ],
    [
      { sessionId: 'a', asker: 'red', agentId: '1' },
      { sessionId: 'a', asker: 'blue', agentId: '1' },
    ],
    [
      { sessionId: 'a', asker: 'red' },
      { sessionId: 'a', asker: 'blue' },
    ],
  ])('are told apart: %j, %j', async (one, other) => {
    const { config, system } = await runningIn(one);
    expect(system?.lookForLate(one).mayCome).toBe(true);
    expect(system?.lookForLate(other).mayCome).toBe(false);
    await config.dispose();
  });

  it('are the same by their id, whatever kind is told', async () => {
    const { config, system } = await runningIn({ sessionId: 'a', agent: 'x', agentId: '1' });
    expect(system?.lookForLate({ sessionId: 'a', agentId: '1' }).mayCome).toBe(true);
    await config.dispose();
  });
});

describe('an event without hooks', () => {
  const late = { isThere: false, wakes: false, mayCome: true };

  it.each([
    [AfterTool, late, false],
    [AfterTool, { ...late, isThere: true }, true],
    [HookEventName.AfterAgent, late, true],
    [HookEventName.SubagentStop, late, true],
    [HookEventName.SubagentStop, undefined, false],
  ])('counts for async hooks where they are read, or end: %s, %j', (event, found, counts) => {
    expect(countsForLate(event, found)).toBe(counts);
  });
});

describe('an agent that has finished', () => {
  it('waits for no hook longer than its host can', async () => {
    const slow = hook('cat >/dev/null; exec sleep 300', { asyncRewake: true, timeout: 900_000 });
    const { config } = setUp(afterTool(slow));
    await decide(config, 'PostToolUse', { tool_name: 'Bash', tool_input: {}, tool_response: 'x' });
    const received = receive('claude', { hook_event_name: 'Stop', session_id: 'theirs' });
    const session = received?.identity ?? {};
    const until = performance.now() + 100;
    expect(await decideReceived(config, received!, { session }, until)).toMatchObject({
      kind: 'none',
    });
    await config.dispose();
  });
});

describe('async in settings', () => {
  it('says that rewakeMessage is nothing without asyncRewake', () => {
    const { problems } = parse(AfterTool, { async: true, rewakeMessage: 'Look:' });
    expect(problems).toMatchObject([
      { kind: 'no-effect', path: [AfterTool, 0, 'hooks', 0, 'rewakeMessage'] },
    ]);
    expect(parse(AfterTool, { asyncRewake: true, rewakeMessage: 'Look:' }).problems).toEqual([]);
  });

  it.each([BeforeTool, HookEventName.BeforeModel, HookEventName.BeforeAgent])(
    'leaves out a hook of %s, which is waited for',
    (event) => {
      const { hooks, problems } = parse(event, { async: true });
      expect(hooks[event]?.[0]?.hooks).toEqual([]);
      expect(problems).toMatchObject([
        { kind: 'unsupported', path: [event, 0, 'hooks', 0, 'async'] },
      ]);
      expect(problems[0]?.message).toContain(`${event} waits for its hooks`);
    },
  );

  it('starts one of another agent at each event, and it decides nothing', async () => {
    const theirs = {
      matcher: 'Bash',
      hooks: [hook('cat >seen; echo no >&2; exit 2', { async: true })],
    };
    const group = { dialect: 'claude', ...theirs };
    const { hooks, problems } = parseHookDefinitions({ PreToolUse: [group] });
    expect(problems).toEqual([]);
    const { config } = setUp(hooks);
    const given = { llmContent: 'given', returnDisplay: 'given' };
    const ran = await executeToolWithHooks(config, 'run_shell_command', { command: 'ls' }, () =>
      Promise.resolve(given),
    );
    expect(ran.llmContent).toBe('given');
    await config.getHookSystem()?.untilAsyncEnded();
    expect(JSON.parse(readFileSync(file('seen'), 'utf8'))).toMatchObject({ tool_name: 'Bash' });
    const guard = { ...theirs.hooks[0], onFailure: 'deny' };
    const refused = parseHookDefinitions({ PreToolUse: [{ ...group, hooks: [guard] }] });
    expect(refused.problems).toMatchObject([{ kind: 'unusable' }]);
  });

  it.each([AfterTool, SessionStart])('leaves hooks of %s as they are', (event) => {
    const { hooks, problems } = parse(event, { async: true, asyncRewake: true });
    expect(hooks[event]?.[0]?.hooks).toMatchObject([{ async: true, asyncRewake: true }]);
    expect(problems).toEqual([]);
  });

  it('refuses a guard by name, and what it guards is denied', async () => {
    const guard = hook('true', { async: true, onFailure: 'deny', name: 'keeper' });
    const { problems } = parse(BeforeTool, { async: true, onFailure: 'deny' });
    expect(problems).toMatchObject([{ kind: 'unusable' }]);
    expect(() => setUp({ BeforeTool: [{ hooks: [guard] }] })).toThrow(/async.*guard/);
    const { config } = setUp(asLoaded({ BeforeTool: [{ hooks: [guard] }] }), {
      trustedFolder: true,
    });
    const { error } = await runTool(config);
    expect(error?.message).toMatch(/"keeper" must not be bypassed, and it is a guard, and "async"/);
  });

  it('withholds a result where its guard says so', async () => {
    const guard = hook('true', { asyncRewake: true, onFailure: 'deny', name: 'keeper' });
    const { config } = setUp(asLoaded(afterTool(guard)), { trustedFolder: true });
    expect((await runTool(config)).llmContent).toMatch(/withheld.*"keeper"/);
  });

  it('does not make one hook of two, of which one is waited for', async () => {
    const command = 'cat >/dev/null; echo x >>ran';
    const { config } = setUp(
      afterTool(hook(command, { async: true }), hook(command, { name: 'waited' })),
    );
    await runTool(config);
    await config.getHookSystem()?.untilAsyncEnded();
    expect(readFileSync(file('ran'), 'utf8')).toBe('x\nx\n');
  });
});
