import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { HookRunner } from '../../middleware/runner.js';
import { runHook } from '../../middleware/runHook.js';
import { PersistentHooks } from '../../src/process/persistent/persistentHooks.js';
import { HookEventName, type CommandHookConfig, type HookInput } from '../../src/protocol/types.js';
import type { HookRun } from '../../src/run/hookRun.js';
import { AmbiguousInput, prepareInput } from '../../src/run/preparedInput.js';
import type { StartAhead } from '../../src/run/startAhead.js';
import { channels, type Span } from '../../src/trace/span.js';
import {
  beforeToolInput,
  blocking,
  commonInput,
  hook,
  keepInput,
  saying,
} from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const { BeforeTool, AfterTool, SessionEnd } = HookEventName;
const temp = useTempDir();
const PUPPET = fileURLToPath(new URL('../fixtures/persistent/puppet.mjs', import.meta.url));
const GUARD = { onFailure: 'deny' } as const;
const WAIT = { timeout: 10_000 };
const specific = (fields: object) => ({ hookSpecificOutput: fields });

afterEach(() => vi.unstubAllEnvs());

type Options = NonNullable<ConstructorParameters<typeof HookRunner>[1]>;

/** Nothing is remembered, unless a test says so. */
function runnerOf(options: Options = {}) {
  const logger = new RecordingLogger();
  const runner = new HookRunner(logger, { warned: undefined, persistent: undefined, ...options });
  return Object.assign(runner, { logger });
}

/** Runs one hook of an event by itself. */
async function run(
  config: CommandHookConfig,
  given: Options & { event?: HookEventName; input?: HookInput } = {},
) {
  const { event = BeforeTool, input = beforeToolInput(temp.path), ...rest } = given;
  const logger = new RecordingLogger();
  const options = { logger, environment: {}, warmShells: 0, ...rest };
  const result = await runHook(config, event, prepareInput(input, options), options);
  return { result, warnings: logger.warnings, records: logger.records };
}

function afterToolInput(): HookInput {
  const result = { llmContent: 'Done.', returnDisplay: 'Done.' };
  const fields = { tool_name: 't', tool_input: {}, tool_response: result };
  return { ...commonInput(AfterTool, temp.path), ...fields };
}

/** Keeps what it is told to make ready for. */
function recording() {
  const calls: unknown[][] = [];
  const ahead = { prepare: (...warned: unknown[]) => calls.push(warned) };
  return { calls, ahead: ahead as unknown as StartAhead };
}

const refusing = ({ name }: CommandHookConfig) => (name === 'no' ? 'must not' : undefined);

const noting = (name: string) => hook(`echo "> ${name}" >>log; sleep 0.02; echo "< ${name}" >>log`);

const meet = (own: string, other: string) =>
  hook(`: >${own}; until [ -e ${other} ]; do sleep 0.01; done`, WAIT);

const replaces = (name: string) =>
  saying(specific({ updatedToolOutput: name }), { name, dialect: 'claude' });

const ours = (name: string) => saying(specific({ tool_response: name }), { name });

const denies = (name: string) => saying({ decision: 'deny' }, { name, dialect: 'gemini' });

const silent = saying({}, { name: 'silent', dialect: 'claude' });

const project = { scope: 'project' } as const;

const change = saying(specific({ tool_input: { a: 1 } }));

async function chain(...hooks: CommandHookConfig[]) {
  const input = beforeToolInput(temp.path, { a: 0 });
  const results = await runnerOf().executeHooksSequential(hooks, BeforeTool, input);
  return results.map(({ hookConfig }) => hooks.indexOf(hookConfig));
}

const watches = (name: string) =>
  saying(specific({ watchPaths: ['a.txt'] }), { name, dialect: 'claude' });

const MIB = 1024 * 1024;

const fill = (bytes: number, character: string) =>
  `head -c ${bytes} /dev/zero | tr '\\0' '${character}'`;

const agreeing = async () => undefined;

const hiding = async (each: HookRun, next: () => Promise<void>) => {
  each.stdin = new Error('it is secret');
  await next();
};

const confusing = async (each: HookRun, next: () => Promise<void>) => {
  each.stdin = new AmbiguousInput('it has two meanings');
  await next();
};

const denying = async (each: HookRun, next: () => Promise<void>) => {
  await next();
  each.said = { ending: 'exit', exitCode: 0, stdout: '{"decision":"deny"}', stderr: '' };
};

const denyingAtOnce = (each: HookRun) => denying(each, async () => undefined);

describe.each(['executeHooksParallel', 'executeHooksSequential'] as const)('%s', (method) => {
  it.each([
    ['all hooks ran', [hook('true'), hook('true')], 1],
    ['one of them ran', [hook('true', { name: 'no' }), hook('true')], 1],
    ['no hook ran', [hook('true', { name: 'no' })], 0],
  ])('makes ready for the next event once: %s', async (_, hooks, expected) => {
    const { calls, ahead } = recording();
    const input = beforeToolInput(temp.path);
    const runner = runnerOf({ ahead, findObjection: refusing });
    await runner[method](hooks, BeforeTool, input);
    expect(calls).toEqual(Array.from({ length: expected }, () => [hooks, input]));
  });

  it('does without making ready, and ends with the signal', async () => {
    const runner = runnerOf();
    const aborted = AbortSignal.abort();
    const input = beforeToolInput(temp.path);
    const hooks = [hook('true')];
    const [ended] = await runner[method](hooks, BeforeTool, input, aborted);
    expect(ended?.error?.message).toContain('aborted');
    const [ran] = await runner[method](hooks, BeforeTool, input);
    expect(ran?.success).toBe(true);
  });

  it('gives nothing for no hooks', async () => {
    const runner = runnerOf();
    expect(await runner[method]([], BeforeTool, beforeToolInput(temp.path))).toEqual([]);
  });
});

describe('hooks beside each other', () => {
  it.each([1, 0, -3])('run one at a time where at most %i may run', async (maxParallelHooks) => {
    const hooks = ['a', 'b', 'c'].map(noting);
    const input = beforeToolInput(temp.path);
    const results = await runnerOf({ maxParallelHooks }).executeHooksParallel(
      hooks,
      BeforeTool,
      input,
    );
    expect(results.map(({ hookConfig }) => hookConfig)).toEqual(hooks);
    expect(await temp.readLines('log')).toEqual(['> a', '< a', '> b', '< b', '> c', '< c']);
  });

  it('wait for nobody where as many may run as there are', async () => {
    const runner = runnerOf({ maxParallelHooks: 2 });
    const hooks = [meet('a', 'b'), meet('b', 'a')];
    const results = await runner.executeHooksParallel(
      hooks,
      BeforeTool,
      beforeToolInput(temp.path),
    );
    expect(results.map(({ success }) => success)).toEqual([true, true]);
  });
});

describe('hooks that replace one result at the same time', () => {
  it.each([
    ['two replacements', [replaces('a'), silent, replaces('b')], [/"a", "b"/]],
    ['one of them in our own format', [ours('a'), replaces('b')], [/"a", "b"/]],
    ['a replacement and a denial', [replaces('a'), denies('b')], [/"a", "b"/]],
    ['two denials', [denies('a'), denies('b')], []],
    ['one replacement', [replaces('a'), silent], []],
    ['no replacement', [silent, hook('true')], []],
  ])('are warned of where one of them is lost: %s', async (_, hooks, expected) => {
    const runner = runnerOf();
    await runner.executeHooksParallel(hooks, AfterTool, afterToolInput());
    const patterns = expected.map((each) => expect.stringMatching(each) as string);
    expect(runner.logger.warnings).toEqual(patterns);
  });

  it('are warned of once where it is remembered, else each time', async () => {
    const hooks = [replaces('a'), replaces('b')];
    for (const [warned, count] of [
      [new Set<string>(), 1],
      [undefined, 2],
    ] as const) {
      const runner = runnerOf(warned && { warned });
      await runner.executeHooksParallel(hooks, AfterTool, afterToolInput());
      await runner.executeHooksParallel(hooks, AfterTool, afterToolInput());
      expect(runner.logger.warnings).toHaveLength(count);
    }
  });
});

describe('a chain with hooks of a project', () => {
  it("ends for the project's own hooks only, when one of them blocks", async () => {
    const blocks = { ...blocking('no'), ...project };
    expect(await chain(blocks, hook(': 1', project), hook(': 2'), hook(': 3', project))).toEqual([
      0, 2,
    ]);
  });

  it("ends for all when one of the user's hooks blocks, also after one of the project", async () => {
    const blocks = { ...blocking('no'), ...project };
    expect(await chain(blocks, blocking('never'), hook('true'))).toEqual([0, 1]);
  });

  it('shows the others what was changed before, and nothing of what was blocked', async () => {
    const stop = { continue: false, ...specific({ tool_input: { a: 2 } }) };
    await chain(change, saying(stop, project), hook(keepInput('last.json')));
    expect(await temp.readJson('last.json')).toMatchObject({ tool_input: { a: 1 } });
  });

  it('goes on where a hook of the project says nothing', async () => {
    expect(await chain(hook('true', project), hook(': 1', project))).toEqual([0, 1]);
  });
});

describe('a hook that is not started', () => {
  it.each<[string, Options['findObjection']]>([
    ['at once', () => 'was not allowed'],
    ['later', async () => 'was not allowed'],
    ['without a word', () => ''],
  ])('because somebody objects %s, is told by whoever objects', async (_, findObjection) => {
    const { result, warnings } = await run(hook(': >ran'), { findObjection: findObjection! });
    expect(result).toMatchObject({ success: false, duration: 0 });
    expect(result).not.toHaveProperty('stdout');
    expect(result).not.toHaveProperty('exitCode');
    expect(result.error?.message).toContain('The hook ');
    expect(warnings).toEqual([]);
    await expect(temp.readLines('ran')).rejects.toThrow('ENOENT');
  });

  it('is one to which nobody objects, however long that takes to say', async () => {
    expect((await run(hook('true'), { findObjection: agreeing })).result.success).toBe(true);
  });

  it.each([
    ['2', true],
    ['3', false],
    ['4', false],
  ])('because it is deep in other hooks: depth %s', async (depth, starts) => {
    vi.stubEnv('HOOKSTACK_DEPTH', depth);
    const { result } = await run(hook('true'));
    expect(result.success).toBe(starts);
    expect(result.error?.message ?? 'deep already').toContain('deep already');
  });

  it.each([
    [undefined, undefined],
    ['claude', undefined],
    [undefined, 'deny'],
    ['claude', 'deny'],
  ] as const)(
    'because its input cannot be written as JSON, is left out, and denies as a guard (%s, %s)',
    async (dialect, onFailure) => {
      const input = beforeToolInput(temp.path, { number: 1n });
      const given = { ...(dialect && { dialect }), ...(onFailure && { onFailure }) };
      const { result, records } = await run(hook(': >ran', given), { input });
      const why = 'was not started, because its input cannot be written as JSON: ';
      expect(result.error?.message).toContain(`${why}tool_input.number is a BigInt`);
      expect(result.output?.decision).toBe(onFailure);
      expect(records[0]?.details).toMatchObject({ kind: 'input' });
      await expect(temp.readLines('ran')).rejects.toThrow('ENOENT');
    },
  );

  it('because it cannot be, says which error of the system it was', async () => {
    const input = beforeToolInput(`${temp.path}/nowhere`);
    const { result } = await run(hook('true'), { input });
    expect(result.error?.cause).toMatchObject({ code: 'ENOENT' });
  });

  it('because of what it is, is refused', async () => {
    const { records } = await run({ type: 'plugin', name: 'p', command: 'true' });
    expect(records[0]?.details).toMatchObject({ kind: 'refused' });
  });
});

describe('the probe', () => {
  it.each([undefined, 'claude'] as const)('stands at the process (dialect %s)', async (dialect) => {
    const seen: unknown[] = [];
    const probe = async (each: HookRun, next: () => Promise<void>) => {
      const { hook_event_name: event } = JSON.parse(String(each.stdin)) as HookInput;
      await next();
      seen.push(event, each.outcome?.stdout, each.said === undefined);
    };
    const { result } = await run(hook('echo ok', dialect && { dialect }), { probe });
    expect(seen).toEqual([dialect ? 'PreToolUse' : 'BeforeTool', 'ok\n', true]);
    expect(result).toMatchObject({ success: true, stdout: 'ok\n' });
  });

  it('may keep a hook from starting, which is then no answer', async () => {
    const { result, warnings } = await run(hook(': >ran'), { probe: async () => undefined });
    expect(result).toMatchObject({ success: false, duration: 0 });
    expect(result.output).toBeUndefined();
    expect(result.error).toBeUndefined();
    expect(warnings).toEqual([]);
    await expect(temp.readLines('ran')).rejects.toThrow('ENOENT');
  });

  it('may say why there is nothing to read, and the hook is not started', async () => {
    const { result } = await run(hook(': >ran'), { probe: hiding });
    expect(result.error?.message).toBe('The hook was not started, because it is secret');
    await expect(temp.readLines('ran')).rejects.toThrow('ENOENT');
  });

  it('may say that what there is to read has two meanings', async () => {
    const { records } = await run(hook('true'), { probe: confusing });
    expect(records[0]?.details).toMatchObject({ kind: 'ambiguous' });
  });

  it('may answer in place of the hook', async () => {
    const { result, warnings } = await run(hook('exit 3'), { probe: denying });
    expect(result).toMatchObject({ success: true, output: { decision: 'deny' } });
    expect(warnings).toEqual([]);
  });

  it('may answer without starting the hook', async () => {
    const { result, warnings } = await run(hook(': >ran'), { probe: denyingAtOnce });
    expect(result.output).toEqual({ decision: 'deny' });
    expect(warnings).toEqual([]);
    await expect(temp.readLines('ran')).rejects.toThrow('ENOENT');
  });
});

it('a remote hook is asked at its server, and nothing is started for it', async () => {
  const nobody = 'http://127.0.0.1:1/';
  const { result } = await run({ type: 'remote', command: ': >ran', url: nobody });
  expect(result.success).toBe(false);
  expect(result.error).toBeInstanceOf(Error);
  await expect(temp.readLines('ran')).rejects.toThrow('ENOENT');
});

describe('a persistent hook', () => {
  const config = hook(process.execPath, { args: [PUPPET], persistent: true });

  it('is answered for by the process that is kept for it', async () => {
    const persistent = new PersistentHooks();
    onTestFinished(() => persistent.stop());
    const says = async (output: object) => {
      const input = beforeToolInput(temp.path, { steps: [{ answer: { output } }] });
      const { result } = await run(config, { input, persistent });
      return [result.output, result.process];
    };
    expect(await says({ reason: 'one' })).toEqual([{ reason: 'one' }, 'new']);
    expect(await says({ reason: 'two' })).toEqual([{ reason: 'two' }, 'kept']);
  });

  it.each([
    ['is kept', undefined],
    ['is kept any more', new PersistentHooks()],
  ])(
    'is started for the event where none %s, and its hello is no answer',
    async (_, persistent) => {
      persistent?.stop();
      const says = hook(`echo '{"hookstack":1}'; echo '{"reason":"one"}'`, { persistent: true });
      const { result, warnings } = await run(says, { persistent });
      expect(result).toMatchObject({ success: true, output: { reason: 'one' } });
      expect(result.process).toBeUndefined();
      expect(warnings).toEqual([]);
    },
  );
});

describe('how long a hook may run', () => {
  it.each<[string, number | undefined, 'claude' | undefined, number]>([
    ['nothing is said', undefined, undefined, 60_000],
    ['its settings say so', 1234, undefined, 1234],
    ['the agent that it was written for says so', undefined, 'claude', 1500],
    ['its settings say so, in a dialect', 1234, 'claude', 1234],
  ])('is known where %s', async (_, timeout, dialect, expected) => {
    let timeoutMs: number | undefined;
    const probe = async (each: HookRun) => {
      timeoutMs = each.timeoutMs;
    };
    const input = commonInput(SessionEnd, temp.path);
    const settings = { ...(timeout && { timeout }), ...(dialect && { dialect }) };
    await run(hook('true', settings), { probe, input, event: SessionEnd });
    expect(timeoutMs).toBe(expected);
  });

  it.each([0, 2])('counts also where it ends itself then, with exit code %i', async (code) => {
    const command = `trap 'exit ${code}' TERM; echo '{"decision":"deny"}'; echo no >&2; while :; do sleep 0.01; done`;
    const { result, warnings } = await run(hook(command, { timeout: 300 }));
    expect(result.success).toBe(false);
    expect(result.error?.message).toContain('timed out');
    expect(result.output).toBeUndefined();
    expect(result).not.toHaveProperty('exitCode');
    expect(warnings).toHaveLength(1);
  });

  it('is not told on stderr: what it wrote before the end is no message', async () => {
    const { result } = await run(hook('echo oops >&2; sleep 60', { timeout: 300 }));
    expect(result).toMatchObject({ success: false, stderr: 'oops\n' });
    expect(result.output).toBeUndefined();
  });
});

const raising = (code: number) =>
  hook(`cat <<'END' >&2
Traceback (most recent call last):
  File "/a/guard.py", line 3, in <module>
KeyError: 'to'
END
exit ${code}`);

describe('why a hook has failed', () => {
  it.each<[string, CommandHookConfig, RegExp]>([
    ['an exception', raising(1), /^KeyError: 'to' \(.*guard\.py:3\)/],
    ['an exception that blocks', raising(2), /^blocks by accident.*KeyError: 'to'/],
    ['its time', hook('sleep 60', { timeout: 50 }), /^make it faster, or raise its "timeout"$/],
    ['half an answer', hook(`echo '{"decision":'`), /JSON/],
    [
      'several fields that are none',
      hook(`echo '{"decision":5,"reason":5}'`),
      /"?decision"?.*; .*reason/,
    ],
  ])('is said where it is %s', async (_what, config, why) => {
    expect((await run(config)).result.why).toMatch(why);
  });

  it.each<[string, CommandHookConfig]>([
    ['it has not', hook('true')],
    ['it blocked on purpose', hook('echo no >&2; exit 2')],
    ['it wrote nothing', hook('exit 3')],
    ['it says so itself', hook(`echo '{"decision":'`, GUARD)],
    ['it was not started', { type: 'plugin', command: '' }],
  ])('is not said where %s', async (_what, config) => {
    expect((await run(config)).result).not.toHaveProperty('why');
  });

  it('is warned of where the failure blocks', async () => {
    const { warnings } = await run(raising(2));
    expect(warnings).toEqual([expect.stringContaining('blocks by accident')]);
    expect((await run(hook('echo no >&2; exit 2'))).warnings).toEqual([]);
  });
});

describe('a guard whose answer is no verdict', () => {
  it.each<[object, object]>([
    [
      { continue: false, stopReason: 'enough' },
      { continue: false, stopReason: 'enough' },
    ],
    [{ continue: true, stopReason: 'enough' }, {}],
  ])('stops all the same where it says so: %j', async (said, stop) => {
    const { result } = await run(saying({ ...said, decision: 5 }, GUARD));
    const { decision, reason, ...rest } = result.output ?? {};
    expect(decision).toBe('deny');
    expect(reason).toEqual(expect.any(String));
    expect(rest).toEqual(stop);
  });
});

/** Writes down what the stage makes ready, and ends. */
function recordAll() {
  const calls: unknown[] = [];
  const note =
    (name: string) =>
    (...given: unknown[]) =>
      void calls.push([name, ...given]);
  const names = ['prepare', 'prestart', 'forget', 'stop'];
  const ahead = Object.fromEntries(names.map((name) => [name, note(name)]));
  const kept = { forget: note('forget kept'), stop: note('stop kept') };
  return {
    calls,
    ahead: ahead as unknown as StartAhead,
    persistent: kept as unknown as PersistentHooks,
  };
}

describe('what may come next', () => {
  const input = commonInput(SessionEnd, '/project');
  const others = [hook('a'), hook('b', { persistent: true })];

  it('is made ready, and of hooks that stay, all are started', () => {
    const { calls, ahead } = recordAll();
    runnerOf({ ahead }).prepare(others, input);
    expect(calls).toEqual([
      ['prepare', others, input],
      ['prestart', [others[1]], input],
    ]);
  });

  it('is started where it says so, and nothing else', () => {
    const { calls, ahead } = recordAll();
    runnerOf({ ahead }).prestart(others, input);
    expect(calls).toEqual([['prestart', others, input]]);
  });

  it('is ended where other hooks count, or none', () => {
    const { calls, ahead, persistent } = recordAll();
    const runner = runnerOf({ ahead, persistent });
    runner.forgetPrestarted('/project');
    runner.stopPreparing('/project');
    expect(calls).toEqual([
      ['forget', '/project'],
      ['forget kept'],
      ['stop', '/project'],
      ['stop kept'],
    ]);
  });

  it('is ended also where no process is kept', () => {
    const { calls, ahead } = recordAll();
    const runner = runnerOf({ ahead });
    runner.forgetPrestarted('/project');
    runner.stopPreparing('/project');
    expect(calls).toHaveLength(2);
  });
});

describe('what is told once', () => {
  it('is told of each hook, and again where nothing is remembered', async () => {
    for (const [warned, count] of [
      [new Set<string>(), 2],
      [undefined, 4],
    ] as const) {
      const runner = runnerOf(warned && { warned });
      const hooks = [watches('a'), watches('b')];
      const input = beforeToolInput(temp.path);
      await runner.executeHooksSequential(hooks, BeforeTool, input);
      await runner.executeHooksSequential(hooks, BeforeTool, input);
      expect(runner.logger.warnings).toHaveLength(count);
      expect(runner.logger.warnings[0]).toMatch(/"a" \(BeforeTool\): .*no files are watched/);
    }
  });
});

describe('an answer', () => {
  it('that is cut is none, also where what is left of it can be read', async () => {
    const command = `printf '{"decision":"deny"}'; ${fill(9 * MIB, ' ')}`;
    const { result, records } = await run(hook(command));
    expect(result.output).toBeUndefined();
    expect(result.error?.message).toContain('print less');
    expect(records[0]?.details).toMatchObject({ kind: 'output' });
  });

  it('may be twice as long as what the hook read', async () => {
    const input = beforeToolInput(temp.path, { content: 'x'.repeat(5 * MIB) });
    const command = `cat >/dev/null; printf '{"reason":"'; ${fill(9 * MIB, 'x')}; printf '","decision":"deny"}'`;
    const { result } = await run(hook(command), { input });
    expect(result.output?.decision).toBe('deny');
  });

  it('of a guard is waited for, as long as something may still give it', async () => {
    const late = `exec > >(sleep 0.2; cat); echo '{"decision":"deny","reason":"No."}'`;
    const { result } = await run(hook(late, GUARD));
    expect(result.output).toEqual({ decision: 'deny', reason: 'No.' });
  });

  it('of a guard that is prose is none, and of another hook a message', async () => {
    const guard = await run(hook('echo fine', GUARD));
    expect(guard.result.output?.reason).toContain('something other than a JSON object');
    expect(guard.records.at(-1)?.details).toMatchObject({ kind: 'output' });
    const other = await run(hook('echo fine'));
    expect(other.result.output).toEqual({ decision: 'allow', systemMessage: 'fine' });
    expect(other.warnings).toEqual([]);
  });

  it('of another agent beside exit code 2 is read, and the hook has not succeeded', async () => {
    const config = saying({ decision: 'deny', reason: 'No.' }, { dialect: 'claude' });
    const { result } = await run({ ...config, command: `${config.command}\nexit 2` });
    expect(result).toMatchObject({ success: false, exitCode: 2, output: { reason: 'No.' } });
  });

  it('is an empty one of a hook that wrote blank lines and failed', async () => {
    const { result } = await run(hook('echo " " >&2; exit 3'));
    expect(result.output).toBeUndefined();
  });

  it('takes as long as it takes', async () => {
    const { result } = await run(hook('sleep 0.05'));
    expect(result.duration).toBeGreaterThanOrEqual(50);
  });
});

describe('a process that a hook leaves behind', () => {
  it('with its output is told of', async () => {
    const { result, warnings } = await run(hook(`sleep 60 & echo '{}'`));
    expect(result).toMatchObject({ success: true, output: {} });
    expect(warnings).toEqual([expect.stringContaining('left a process running')]);
  });

  it('is not told of where the hook has failed', async () => {
    const { warnings } = await run(hook('sleep 60 & exit 3'));
    expect(warnings).toEqual([expect.stringContaining('exited with code 3')]);
  });
});

describe('a secret in what a hook prints', () => {
  const environment = { redact: ['MY_TOKEN'] };

  it('is in no message about it, however long it is', async () => {
    const secret = 'hunter2-'.repeat(20);
    vi.stubEnv('MY_TOKEN', secret);
    for (const settings of [{}, GUARD]) {
      const config = saying(
        { decision: secret, reason: `It is ${secret}.` },
        { name: 'mine', ...settings },
      );
      const { result, warnings } = await run(config, { environment });
      const warned = JSON.stringify([warnings, result.error?.message]);
      expect(warned).not.toContain('hunter2');
      expect(warned).toContain('[MY_TOKEN]');
      if (settings !== GUARD) expect(result.output).toEqual({ reason: `It is ${secret}.` });
    }
  });

  it('is no reason to warn of an answer that can be read', async () => {
    vi.stubEnv('MY_TOKEN', '"decision":');
    const config = saying({ decision: 'allow' }, { dialect: 'gemini' });
    const { result, warnings } = await run(config, { environment });
    expect(result.output).toMatchObject({ decision: 'allow' });
    expect(warnings).toEqual([]);
  });

  it('is no reason to take an answer of a guard for none', async () => {
    vi.stubEnv('MY_TOKEN', '{"unknown"');
    const config = hook(`echo '{"unknown": 1}'`, GUARD);
    const { result } = await run(config, { environment });
    expect(result).toMatchObject({ success: true, output: {} });
    expect(result.error).toBeUndefined();
  });
});

const startKept = (command: string, settings: Partial<CommandHookConfig> = {}) => {
  const persistent = new PersistentHooks();
  return run(hook(command, { persistent: true, ...settings }), { persistent });
};

describe('a hook that was to stay and ends at its start', () => {
  it('is told with the exception that ended it', async () => {
    const script = path.join(temp.path, 'crash.py');
    await writeFile(script, 'import nosuchmodule\n');
    const { result, records } = await startKept(`python3 ${script}`);
    const why = expect.stringMatching(/^ModuleNotFoundError: .*'nosuchmodule' \(.*crash\.py:1\)$/);
    expect(result).toMatchObject({ success: false, exitCode: 1, why });
    expect(records[0]?.details).toMatchObject({ exitCode: 1, why });
    const denied = await startKept(`python3 ${script}`, GUARD);
    expect(denied.result.output?.reason).toMatch(/\(ModuleNotFoundError at crash\.py:1\)$/);
  });

  it('is told with what to do about a program that is not there', async () => {
    const { result } = await startKept('nope-xyz');
    expect(result.exitCode).toBe(127);
    expect(result.why).toMatch(/^nope-xyz: command not found .*; install it/);
  });

  it('blocks nothing by exit code 2, which answers no event, and says why it ended', async () => {
    const { result, warnings } = await startKept('python3 missing.py');
    expect(result).toMatchObject({
      success: false,
      why: expect.stringContaining('correct the path'),
    });
    expect(result.why).not.toContain('blocks by accident');
    expect(result.output).toBeUndefined();
    expect(warnings.join()).not.toContain('only exit code 2 blocks');
  });

  it('is not advised to exit with 2', async () => {
    const { warnings } = await startKept('exit 1');
    expect(warnings).toEqual([expect.stringMatching(/the operation goes on without it$/)]);
  });
});

describe('a host that listens', () => {
  it('is told of each hook, and nobody else', async () => {
    const ended: string[] = [];
    const note = (message: unknown) => ended.push((message as Span).name);
    await run(hook('true', { name: 'unseen' }));
    channels.hook.asyncEnd.subscribe(note);
    try {
      const { result } = await run(hook('echo ok', { name: 'seen' }));
      expect(result).toMatchObject({ success: true, stdout: 'ok\n' });
    } finally {
      channels.hook.asyncEnd.unsubscribe(note);
    }
    expect(ended).toEqual(['seen']);
  });
});
