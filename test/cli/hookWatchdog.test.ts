import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { Cli, group, MAIN } from './helpers.js';
import { common, haveHook } from './hookHelpers.js';

const cli = new Cli();

/** Ms that the agent waits. */
const TIMEOUT = 2000;
/** Ms that nothing here takes. */
const LONG = 60_000;
const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } };
const STUCK = expect.stringContaining('their process does not go on') as string;
const DENIED = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: STUCK,
  },
};

/** Code of an extension in the user's home, with a pipe at hand that nobody writes to. */
async function haveModule(text: string, hook: object = {}): Promise<void> {
  const middleware = [{ module: './guard.mjs', stack: 'hook' }];
  await haveHook(cli, hook);
  await cli.write('said.json', {});
  execFileSync('mkfifo', [join(cli.home, 'pipe')]);
  const start = `import { readFileSync } from 'node:fs';
    import { open } from 'node:fs/promises';
    const pipe = process.env.HOME + '/pipe';
    ${text}`;
  await cli.extension('user', 'guard', { middleware }, { 'guard.mjs': start });
}

interface Asking {
  readonly agent?: string;
  readonly event?: object | string;
  readonly timeout?: number;
  /** What starts the program. */
  readonly through?: readonly string[];
}

/** What is said to an agent that waits, and how the process has ended. */
async function ask({
  agent = 'claude',
  event = call,
  timeout = TIMEOUT,
  through = [],
}: Asking = {}) {
  const input = typeof event === 'string' ? event : JSON.stringify({ ...common(cli), ...event });
  const [program, ...args] = [...through, process.execPath, MAIN, 'hook', '--from', agent];
  const { stdout, stderr, signal, timedOut } = await execa(program, args, {
    cwd: cli.project,
    env: { ...cli.env, HOOKSTACK_TIMEOUT: String(timeout) },
    extendEnv: false,
    input,
    reject: false,
    timeout: LONG,
  });
  expect(timedOut).toBe(false);
  const json = stdout === '' ? undefined : (JSON.parse(stdout) as object);
  return { json, stderr, signal };
}

describe('a main thread that does not come back', () => {
  it.each([
    ['from code without an end', 'export default async () => { for (;;); };'],
    ['from a system call', 'export default async () => { readFileSync(pipe); };'],
    ['before hooks are known', 'readFileSync(pipe);'],
  ])('is no yes: %s', async (_where, text) => {
    await haveModule(text, { onFailure: 'deny' });
    const { json, signal, stderr } = await ask();
    expect(json).toEqual(DENIED);
    expect(stderr).toMatch(/^Blocked, as .* their process does not go on/mu);
    expect(signal).toBe('SIGKILL');
  });

  it('is none for Gemini CLI either', async () => {
    await haveModule('for (;;);');
    const { json } = await ask({
      agent: 'gemini',
      event: { ...call, hook_event_name: 'BeforeTool' },
    });
    expect(json).toEqual({ decision: 'deny', reason: STUCK });
  });

  it('leaves what nothing can prevent any more', async () => {
    await haveModule('for (;;);');
    const event = { hook_event_name: 'SessionEnd', reason: 'exit' };
    expect(await ask({ event })).toMatchObject({ json: undefined, stderr: '', signal: 'SIGKILL' });
  });

  it('leaves the answer that was given', async () => {
    await haveModule(`export default async (ctx, next) => {
      await next();
      setTimeout(() => { for (;;); }, 300);
    };`);
    const { json, signal } = await ask({ timeout: 3 * LONG });
    expect({ json, signal }).toEqual({ json: {}, signal: 'SIGKILL' });
  });
});

describe('what was given where nothing can be prevented any more', () => {
  const withheld = expect.stringMatching(/^What was given here is withheld\. /u) as string;
  const out = { stdout: 'secret', stderr: '', interrupted: false };
  const result = { ...call, hook_event_name: 'PostToolUse', tool_response: out };
  const replaced = { ...out, stdout: withheld };

  it.each([
    ['does not come back', 'for (;;);'],
    ['waits for what never comes', 'await new Promise(() => setInterval(() => {}, 1e6));'],
    ['fails', 'setTimeout(() => { throw new Error("broken"); }); await next();'],
    ['ends the process', 'process.exit(0);'],
    ['ends a process that cannot end', 'open(pipe); process.exit(0);'],
  ])('is withheld where a guard has to see it, and code %s', async (_what, text) => {
    await haveModule(`export default async (ctx, next) => { ${text} };`, { onFailure: 'deny' });
    const { json } = await ask({ event: result });
    expect(json).toMatchObject({ hookSpecificOutput: { updatedToolOutput: replaced } });
  });

  it('is withheld where an agent is said to wait for nothing', async () => {
    await haveHook(cli, { onFailure: 'deny' });
    expect((await ask({ event: result, timeout: 1 })).json).toMatchObject({
      hookSpecificOutput: { updatedToolOutput: replaced },
    });
  });

  it('is withheld where all hooks together take too long', async () => {
    await haveHook(cli, { onFailure: 'deny', command: 'exec sleep 1000' });
    expect(await ask({ event: result, timeout: 6000 })).toMatchObject({
      json: { hookSpecificOutput: { updatedToolOutput: replaced } },
      signal: undefined,
    });
  });

  it('passes where no guard has to see it', async () => {
    await haveModule('export default async () => { for (;;); };');
    expect(await ask({ event: result, timeout: 6000 })).toMatchObject({
      json: undefined,
      signal: 'SIGKILL',
    });
  });

  it('is withheld from Gemini CLI', async () => {
    await haveModule('export default async () => { for (;;); };', { onFailure: 'deny' });
    const event = {
      ...result,
      hook_event_name: 'AfterTool',
      tool_response: { llmContent: 'secret' },
    };
    expect((await ask({ agent: 'gemini', event })).json).toMatchObject({
      decision: 'deny',
      reason: withheld,
    });
    const answer = { candidates: [{ content: { role: 'model', parts: ['secret'] } }] };
    const said = {
      hook_event_name: 'AfterModel',
      llm_request: { model: 'm', messages: [] },
      llm_response: answer,
    };
    expect((await ask({ agent: 'gemini', event: said })).json).toMatchObject({
      hookSpecificOutput: {
        llm_response: { candidates: [{ content: { parts: [withheld] } }] },
      },
    });
  });
});

describe('a thread in a system call, for which the end of a process would wait', () => {
  it('is waited for no longer than hooks', async () => {
    await haveModule('export default async () => { await open(pipe); };');
    expect(await ask()).toMatchObject({
      json: { hookSpecificOutput: { permissionDecision: 'deny' } },
      signal: 'SIGKILL',
    });
  });

  it('is no yes where an extension ends the process', async () => {
    await haveModule('export default async () => { open(pipe); process.exit(0); };');
    expect(await ask({ timeout: 3 * LONG })).toMatchObject({ json: DENIED, signal: 'SIGKILL' });
  });

  it('keeps nobody from an answer', async () => {
    await haveModule('open(pipe); export default async (ctx, next) => { await next(); };');
    await cli.write('said.json', { decision: 'block', reason: 'no' });
    expect(await ask({ timeout: 3 * LONG })).toMatchObject({
      json: { hookSpecificOutput: { permissionDecisionReason: 'no' } },
      signal: 'SIGKILL',
    });
  });
});

it('is no yes where nobody reads a long answer', async () => {
  await haveHook(cli);
  const input = { command: 'x'.repeat(3_000_000) };
  await cli.write('said.json', { hookSpecificOutput: { tool_input: input } });
  const child = spawn(process.execPath, [MAIN, 'hook', '--from', 'claude'], {
    cwd: cli.project,
    env: { ...cli.env, HOOKSTACK_TIMEOUT: String(TIMEOUT) },
  });
  child.stdin.end(JSON.stringify({ ...common(cli), ...call }));
  const [exitCode, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect(exitCode === 2 || signal === 'SIGKILL').toBe(true);
});

/** Runs a program where a folder is a drive that never answers; not everywhere is that allowed. */
function withHungDrive(folder: string): readonly string[] {
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0';
  const script = `exec 3<>/dev/fuse && mount -t fuse -o ${options} none "$0" && exec "$@"`;
  return ['unshare', '-rm', 'bash', '-c', script, folder];
}

const canMount = (() => {
  try {
    const [program, ...args] = [...withHungDrive('/mnt'), 'true'];
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** @param link what leads there in the project */
async function haveHungDrive(link: string): Promise<readonly string[]> {
  const drive = join(dirname(cli.home), 'drive');
  const from = join(cli.project, link);
  await mkdir(drive);
  await mkdir(dirname(from), { recursive: true });
  await symlink(join(drive, 'x'), from);
  await haveHook(cli, { onFailure: 'deny' });
  return withHungDrive(drive);
}

describe.skipIf(!canMount)('a drive that never answers', () => {
  it.each(['.llxprt', '.llxprt/settings.json', '.llxprt/extensions'])(
    'is no yes where a project leads there: %s',
    async (link) => {
      const through = await haveHungDrive(link);
      const { json, signal } = await ask({ through });
      expect({ json, signal }).toEqual({ json: DENIED, signal: 'SIGKILL' });
    },
  );

  it('is no yes where a hook that nobody has allowed names what leads there', async () => {
    const through = await haveHungDrive('.claude/hooks/data');
    await cli.write('.claude/hooks/guard.sh', '');
    await cli.projectSettings({ BeforeTool: group('bash .claude/hooks/guard.sh') });
    const { json, signal } = await ask({ through });
    expect({ json, signal }).toEqual({ json: DENIED, signal: 'SIGKILL' });
  });

  it('is no yes where the directory of the event leads there', async () => {
    const through = await haveHungDrive('tools');
    const event = { ...call, cwd: `${cli.project}/tools/sub` };
    const { json, signal } = await ask({ event, through });
    expect({ json, signal }).toEqual({ json: DENIED, signal: 'SIGKILL' });
  });

  it.each(['{', '{}'])('is none for what is no event: %s', async (event) => {
    const through = await haveHungDrive('.llxprt');
    const { json } = await ask({ event, through });
    expect(json).toEqual({ decision: 'block', reason: STUCK });
  });
});
