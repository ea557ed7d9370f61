import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { aggregateResults } from '../../middleware/aggregator.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import {
  HookEventName,
  type CommandHookConfig,
  type HookExecutionResult,
  type HookOutput,
} from '../../src/protocol/types.js';
import { beforeToolInput, commonInput, hook, keepInput, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

/** Runs one BeforeTool hook in the temporary directory. */
async function run(config: CommandHookConfig, { cwd = temp.path, signal }: RunOptions = {}) {
  const logger = new RecordingLogger();
  const runner = new HookRunner(logger);
  const input = beforeToolInput(cwd, { path: 'a.txt' });
  const result = await runner.executeHook(config, HookEventName.BeforeTool, input, signal);
  return { result, logger };
}

interface RunOptions {
  cwd?: string;
  signal?: AbortSignal;
}

function isBlocked(result: HookExecutionResult): boolean {
  const { finalOutput } = aggregateResults([result], HookEventName.BeforeTool);
  return finalOutput?.isBlockingDecision() ?? false;
}

const LONG = `echo oops >&2; exit 3; : ${'x'.repeat(300)}`;

describe('a hook without a name and with a long command', () => {
  it.each([
    ['that fails', LONG, /^The hook "echo oops.{0,60}…" exited with code 3; the operation goes on/],
    [
      'that has something to say',
      `echo '{"decison": 1}'; : ${'x'.repeat(300)}`,
      /^Hook "echo .{0,60}…" \(BeforeTool\): decison is not a known field/,
    ],
  ])('%s is named by the beginning of its command', async (_, command, warning) => {
    const { logger } = await run(hook(command));
    expect(logger.warnings).toEqual([expect.stringMatching(warning)]);
  });

  it('that guards gives a reason that can be read', async () => {
    const { result } = await run(hook(LONG, { onFailure: 'deny' }));
    expect(result.output?.reason).toMatch(/^The hook "echo oops.{0,60}…" must not be bypassed/);
  });
});

async function warningsOf(event: HookEventName, config: CommandHookConfig) {
  const logger = new RecordingLogger();
  await new HookRunner(logger).executeHook(config, event, commonInput(event, temp.path));
  return logger.warnings;
}

describe('exit code 2 where nothing can be blocked', () => {
  const { AfterTool, SessionStart, SessionEnd, Notification, PreCompress } = HookEventName;

  it.each([SessionStart, SessionEnd, Notification, PreCompress])(
    'tells what the hook of %s wrote',
    async (event) => {
      const config = hook('echo "No network." >&2; exit 2', { name: 'mine' });
      const warning = `Hook "mine" (${event}): exited with code 2, which blocks nothing at ${event}: No network.`;
      expect(await warningsOf(event, config)).toEqual([warning]);
      const inDialect = { ...config, dialect: 'claude' } as const;
      expect(await warningsOf(event, inDialect)).toEqual([
        `Hook "mine" (${event}): says: No network.`,
      ]);
    },
  );

  it('says so of a hook that wrote nothing', async () => {
    expect(await warningsOf(SessionEnd, hook('exit 2', { name: 'mine' }))).toEqual([
      'Hook "mine" (SessionEnd): exited with code 2, which blocks nothing at SessionEnd',
    ]);
  });

  it('tells nothing where the model reads the reason', async () => {
    const config = hook('echo no >&2; exit 2');
    expect(await warningsOf(AfterTool, config)).toEqual([]);
    expect(await warningsOf(HookEventName.BeforeTool, config)).toEqual([]);
  });
});

describe('half an answer', () => {
  const half = `printf '%s' '{"decision": "block", "reason": "unfin'`;

  it.each([undefined, 'claude', 'gemini'] as const)(
    'in the format %s is warned of, and blocks where it is that of a guard',
    async (dialect) => {
      const { result, logger } = await run(hook(half, { dialect }));
      expect(isBlocked(result)).toBe(false);
      expect(logger.warnings[0]).toMatch(/its decision does not count/);
      const guard = await run(hook(half, { dialect, onFailure: 'deny' }));
      expect(isBlocked(guard.result)).toBe(true);
    },
  );

  it('is warned of where plain text is for the model', async () => {
    const logger = new RecordingLogger();
    const event = HookEventName.SessionStart;
    const config = hook(half, { dialect: 'claude' });
    await new HookRunner(logger).executeHook(config, event, commonInput(event, temp.path));
    expect(logger.warnings).toEqual([expect.stringMatching(/its decision does not count/)]);
  });
});

/** One line of the table of exit codes. */
interface Scenario {
  readonly title: string;
  readonly command: string;
  readonly timeout?: number;
  /** Whether the hook runs in a directory that does not exist. */
  readonly nowhere?: boolean;
  readonly success: boolean;
  readonly exitCode: number | undefined;
  readonly signal?: string;
  readonly output: HookOutput | undefined;
  readonly blocks: boolean;
  /** A pattern for each warning, in order. */
  readonly warnings: readonly RegExp[];
  readonly error?: RegExp;
}

const DENY = '{"decision":"deny","reason":"no"}';
const ALLOWED = { success: true, exitCode: 0, blocks: false, warnings: [] } as const;
const FAILED = { success: false, blocks: false } as const;
const BLOCKED = { success: false, exitCode: 2, blocks: true, warnings: [] } as const;

const table: readonly Scenario[] = [
  {
    title: '0 with a JSON block',
    command: `echo '${DENY}'`,
    ...ALLOWED,
    output: { decision: 'deny', reason: 'no' },
    blocks: true,
  },
  {
    title: '0 with a JSON allow',
    command: `echo '{"decision":"allow"}'`,
    ...ALLOWED,
    output: { decision: 'allow' },
  },
  {
    title: '0 with a JSON null decision',
    command: `echo '{"decision":null}'`,
    ...ALLOWED,
    output: {},
  },
  {
    title: '0 with an empty JSON object',
    command: `echo '{}'`,
    ...ALLOWED,
    output: {},
  },
  {
    title: '0 with stderr, which is not read',
    command: `echo '${DENY}' >&2`,
    ...ALLOWED,
    output: undefined,
  },
  {
    title: '0 with plain text',
    command: 'echo "mind the gap"',
    ...ALLOWED,
    output: { decision: 'allow', systemMessage: 'mind the gap' },
  },
  {
    title: '0 with broken JSON',
    command: `echo '{"decision":"deny"'`,
    ...ALLOWED,
    output: { decision: 'allow', systemMessage: '{"decision":"deny"' },
    warnings: [/its decision does not count/],
  },
  { title: '0 with nothing', command: 'true', ...ALLOWED, output: undefined },
  {
    title: '0 with blank lines',
    command: String.raw`printf ' \n\n'`,
    ...ALLOWED,
    output: undefined,
  },
  {
    title: '0 with double-encoded JSON',
    command: `cat <<'END'\n${JSON.stringify(DENY)}\nEND`,
    ...ALLOWED,
    output: { decision: 'deny', reason: 'no' },
    blocks: true,
  },
  ...['42', 'null', '[]', '[{"decision":"deny"}]', 'true'].map((json) => ({
    title: `0 with ${json}, which is not an object`,
    command: `echo '${json}'`,
    ...ALLOWED,
    output: { decision: 'allow' as const, systemMessage: json },
    ...(json.includes('{') && { warnings: [/plain text/] }),
  })),
  {
    title: '1 with a JSON deny, which is not read',
    command: `echo '${DENY}'; exit 1`,
    ...FAILED,
    exitCode: 1,
    output: undefined,
    warnings: [/exited with code 1/],
  },
  {
    title: '1 with a JSON deny and stderr',
    command: `echo '${DENY}'; echo oops >&2; exit 1`,
    ...FAILED,
    exitCode: 1,
    output: { decision: 'allow', systemMessage: 'Warning: oops' },
    warnings: [/exited with code 1/],
  },
  {
    title: '1 with a JSON deny on stderr, which is not a decision',
    command: `echo '${DENY}' >&2; exit 1`,
    ...FAILED,
    exitCode: 1,
    output: { decision: 'allow', systemMessage: `Warning: ${DENY}` },
    warnings: [/exited with code 1/],
  },
  {
    title: '2 with stderr',
    command: 'echo "  too risky " >&2; exit 2',
    ...BLOCKED,
    output: { decision: 'deny', reason: 'too risky' },
  },
  {
    title: '2 without anything',
    command: 'exit 2',
    ...BLOCKED,
    output: { decision: 'deny', reason: 'Blocked by hook' },
  },
  {
    title: '2 with a JSON allow, which is not read',
    command: `echo '{"decision":"allow","reason":"fine"}'; exit 2`,
    ...BLOCKED,
    output: { decision: 'deny', reason: 'Blocked by hook' },
  },
  {
    title: '2 with JSON on stderr, which is a text',
    command: `echo '{"decision":"allow"}' >&2; exit 2`,
    ...BLOCKED,
    output: { decision: 'deny', reason: '{"decision":"allow"}' },
  },
  {
    title: '3',
    command: 'exit 3',
    ...FAILED,
    exitCode: 3,
    output: undefined,
    warnings: [/exited with code 3/],
  },
  {
    title: '127, a command that does not exist',
    command: 'hookstack-no-such-command 2>/dev/null',
    ...FAILED,
    exitCode: 127,
    output: undefined,
    warnings: [/exited with code 127/],
  },
  {
    title: '255',
    command: 'exit 255',
    ...FAILED,
    exitCode: 255,
    output: undefined,
    warnings: [/exited with code 255/],
  },
  {
    title: 'a signal, after a JSON deny',
    command: `echo '${DENY}'; kill -KILL $$`,
    ...FAILED,
    exitCode: 0,
    signal: 'SIGKILL',
    output: undefined,
    warnings: [/SIGKILL/],
    error: /SIGKILL/,
  },
  {
    title: 'a signal, with stderr',
    command: 'echo dying >&2; kill -TERM $$',
    ...FAILED,
    exitCode: 0,
    signal: 'SIGTERM',
    output: { decision: 'allow', systemMessage: 'Warning: dying' },
    warnings: [/SIGTERM/],
    error: /SIGTERM/,
  },
  {
    title: 'a timeout, after a JSON deny',
    command: `echo '${DENY}'; sleep 60`,
    timeout: 300,
    ...FAILED,
    exitCode: undefined,
    signal: 'SIGTERM',
    output: undefined,
    warnings: [/300 ms/],
    error: /timed out after 300 ms/,
  },
  {
    title: 'a directory that does not exist',
    command: `echo '${DENY}'`,
    nowhere: true,
    ...FAILED,
    exitCode: undefined,
    output: undefined,
    warnings: [/could not be started/],
    error: /could not be started.*nowhere/,
  },
];

describe('the table of exit codes', () => {
  it.each(table)('$title', async (row) => {
    const cwd = row.nowhere ? path.join(temp.path, 'nowhere') : temp.path;
    const config = hook(row.command, { name: 'guard', timeout: row.timeout ?? 20_000 });
    const { result, logger } = await run(config, { cwd });

    expect(result.success).toBe(row.success);
    expect(result.exitCode).toBe(row.exitCode);
    expect(result.signal).toBe(row.signal);
    expect(result.output).toEqual(row.output);
    expect(isBlocked(result)).toBe(row.blocks);
    expect(logger.warnings).toEqual(row.warnings.map((each) => expect.stringMatching(each)));
    expect(result.error?.message).toEqual(row.error ? expect.stringMatching(row.error) : undefined);
  });

  it('names the hook, the event and what it wrote in the warning of a failure', async () => {
    const { logger } = await run(hook('echo oops >&2; exit 3', { name: 'guard' }));
    const warning = logger.records.find(({ level }) => level === 'warn');
    expect(warning?.message).toContain('"guard"');
    expect(warning?.details).toMatchObject({
      event: 'BeforeTool',
      hook: 'guard',
      exitCode: 3,
      stderr: 'oops\n',
    });
  });
});

describe('the deadline of a hook', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([
    { timeout: undefined, expected: 60_000 },
    { timeout: 7_654_321, expected: 7_654_321 },
  ])('with the timeout $timeout is $expected ms', async ({ timeout, expected }) => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    expect((await run(hook('true', { timeout }))).result.success).toBe(true);
    const calls: readonly unknown[][] = timers.mock.calls;
    // What is left of its output after its end is waited for in the same way.
    const deadline = calls.find(([, , ending]) => ending === 'timeout');
    expect(deadline?.[1]).toBe(expected);
  });
});

describe('executeHook', () => {
  it('says what it ran, how long it took, and what was written', async () => {
    const config = hook('echo out; echo err >&2');
    const { result } = await run(config);
    expect(result).toMatchObject({
      hookConfig: config,
      eventName: 'BeforeTool',
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect(result.duration).toBeGreaterThanOrEqual(0);
    expect(result.duration).toBeLessThan(20_000);
  });

  it('writes one JSON object to stdin and closes it', async () => {
    await run(hook(keepInput('seen')));
    expect(await temp.readJson('seen')).toEqual(beforeToolInput(temp.path, { path: 'a.txt' }));
  });

  it('does without a hook that reads its input', async () => {
    const logger = new RecordingLogger();
    const input = beforeToolInput(temp.path, { content: 'x'.repeat(2_000_000) });
    const config = saying({ decision: 'deny', reason: 'unread' }, { before: 'exec <&-' });
    const event = HookEventName.BeforeTool;
    const result = await new HookRunner(logger).executeHook(config, event, input);
    expect(result).toMatchObject({ success: true, output: { reason: 'unread' } });
    expect(logger.warnings).toEqual([]);
  });

  it('sets the project directory under all three names, beside the variables of the host', async () => {
    const names = ['LLXPRT', 'GEMINI', 'CLAUDE'].map((name) => `$${name}_PROJECT_DIR`);
    const { result } = await run(
      hook(`printf '%s\\n' ${names.join(' ')} "$PATH" "$MODE"`, {
        env: { MODE: 'strict' },
      }),
    );
    expect(result.stdout?.split('\n')).toEqual([
      temp.path,
      temp.path,
      temp.path,
      process.env['PATH']?.split(':').filter(existsSync).join(':'),
      'strict',
      '',
    ]);
  });

  it('passes on what else the host has in its environment', async () => {
    const names = ['HOME', 'LANG', 'SOME_TOOL_HOME', 'lower_case', 'EMPTY'];
    const values = ['/home/ada', 'C', '/opt/some tool', 'ö', ''];
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const [index, name] of names.entries()) vi.stubEnv(name, values[index]);
    const quoted = names.map((name) => `"\${${name}-unset}"`);
    const { result } = await run(hook(`printf '%s\\n' ${quoted.join(' ')}`));
    expect(result.stdout?.split('\n')).toEqual([...values, '']);
  });

  it('finds a script in a project directory with an awkward name', async () => {
    const cwd = path.join(temp.path, `it's $(touch gotcha) "a project"`);
    await mkdir(cwd);
    await writeFile(path.join(cwd, 'guard.sh'), 'echo guarded >&2; exit 2');
    const { result } = await run(hook('bash $CLAUDE_PROJECT_DIR/guard.sh'), { cwd });
    expect(result.output).toEqual({ decision: 'deny', reason: 'guarded' });
  });

  it('refuses a plugin, also one with a command, and goes on', async () => {
    const plugin: CommandHookConfig = { type: 'plugin', name: 'p', command: ': > ran; exit 2' };
    const { result, logger } = await run(plugin);
    expect(result).toMatchObject({ success: false });
    expect(result.output).toBeUndefined();
    expect(isBlocked(result)).toBe(false);
    expect(result.error?.message).toContain('"plugin"');
    expect(logger.warnings).toEqual([expect.stringContaining('"p"')]);
    await expect(temp.readJson('ran')).rejects.toThrow('ENOENT');
  });

  it('ends a hook when the caller aborts', async () => {
    const controller = new AbortController();
    controller.abort();
    const { result } = await run(hook('exit 2'), { signal: controller.signal });
    expect(result).toMatchObject({ success: false });
    expect(result.error?.message).toContain('aborted');
    expect(isBlocked(result)).toBe(false);
  });

  it('warns of a timeout that makes no sense, and uses the default', async () => {
    const { result, logger } = await run(hook('true', { name: 'guard', timeout: -1 }));
    expect(result.success).toBe(true);
    expect(logger.warnings).toEqual([expect.stringMatching(/"guard".*-1.*60000 ms/)]);
  });

  it('names hook, event and field when it ignores a field', async () => {
    const { result, logger } = await run(saying({ decision: 'DENY' }, { name: 'guard' }));
    expect(result.output).toEqual({});
    expect(logger.warnings).toEqual([expect.stringMatching(/"guard" \(BeforeTool\): decision/)]);
  });
});
