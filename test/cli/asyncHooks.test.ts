import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Cli } from './helpers.js';
import { SAID, send, sendToProgram } from './hookHelpers.js';

const cli = new Cli();

const AFTER_TOOL = {
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_response: 'listed',
  tool_use_id: 'c1',
};
const PROMPT = { hook_event_name: 'UserPromptSubmit', prompt: 'Go on.' };
const STOP = { hook_event_name: 'Stop', stop_hook_active: false };
const END = { hook_event_name: 'SessionEnd', reason: 'other' };

const folderOf = () => join(cli.home, '.llxprt', 'async');

const files = (kind: string) => {
  const folder = folderOf();
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(kind)) : [];
};

function context(text: string): string {
  return `echo '{"hookSpecificOutput":{"additionalContext":"${text}"}}'`;
}

/** A hook that waits for a file of the project, and keeps its pid. */
async function haveHook(
  command: string,
  options: object = {},
  event = 'AfterTool',
  settings: object = {},
) {
  const waiting = `cat >/dev/null; echo $$ >pid; until [ -e go ]; do sleep 0.05; done; ${command}`;
  const hook = { type: 'command', name: 'late', command: waiting, async: true, ...options };
  await cli.userSettings({ [event]: [{ hooks: [hook] }] } as never, settings);
}

function isAlive(): boolean {
  try {
    return process.kill(Number(readFileSync(join(cli.project, 'pid'), 'utf8')), 0);
  } catch {
    return false;
  }
}

/** At an event that none of these tests fires: so that the settings have some. */
const ASYNC = { type: 'command', command: 'true', async: true };

function lines(file: string): string[] {
  const path = join(cli.project, file);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

/** A hook that says when it starts, and waits for a file of the project. */
function waitingFor(file: string) {
  const command = `cat >/dev/null; echo $$ >>started; until [ -e ${file} ]; do sleep 0.05; done`;
  return { type: 'command', name: file, async: true, command };
}

/** Of all events. */
function runningHooks(): number {
  return files('.run').reduce((sum, name) => sum + readFileSync(join(folderOf(), name)).length, 0);
}

function decisionOf(json: { hookSpecificOutput?: { permissionDecision?: string } } = {}): unknown {
  return json.hookSpecificOutput?.permissionDecision;
}

describe('an async hook of an agent', () => {
  it('runs on while its event is answered, and is read at the next event that the model reads, once', async () => {
    await haveHook(context('LATE'));
    expect((await sendToProgram(cli, 'claude', AFTER_TOOL)).json).toEqual({});
    await vi.waitFor(() => expect(isAlive()).toBe(true));
    expect((await send(cli, 'claude', PROMPT)).json).toEqual({});
    await cli.write('go', '');
    await vi.waitFor(() => expect(files('.late')).toHaveLength(1));
    const other = await send(cli, 'claude', { ...PROMPT, session_id: 'other' });
    expect(other.json).toEqual({});
    expect(
      (await send(cli, 'claude', { hook_event_name: 'Notification', message: 'm' })).json,
    ).toEqual({});
    expect((await send(cli, 'claude', PROMPT)).json).toMatchObject({
      hookSpecificOutput: { additionalContext: 'LATE' },
    });
    expect((await send(cli, 'claude', PROMPT)).json).toEqual({});
    await vi.waitFor(() => expect(files('')).toEqual([]));
  });

  it('is ended with its session, and nothing is left', async () => {
    await haveHook(context('LATE'));
    await send(cli, 'claude', AFTER_TOOL);
    await vi.waitFor(() => expect(isAlive()).toBe(true));
    await send(cli, 'claude', END);
    await vi.waitFor(() => expect(isAlive()).toBe(false));
    await vi.waitFor(() => expect(files('')).toEqual([]));
  });

  it('is ended, too, where it starts after its session has ended', async () => {
    const [held, pass] = [join(cli.project, 'held'), join(cli.project, 'pass')];
    const text = `import { existsSync, writeFileSync } from 'node:fs';
    import { setTimeout as delay } from 'node:timers/promises';
    export default async (ctx, next) => {
      if (process.argv.includes('--job')) {
        writeFileSync(${JSON.stringify(held)}, '');
        while (!existsSync(${JSON.stringify(pass)})) await delay(20);
        await delay(400);
      }
      await next();
    };`;
    const middleware = [{ module: './slow.mjs', stack: 'hook', before: 'runner' }];
    await cli.extension('user', 'slow', { middleware }, { 'slow.mjs': text });
    await haveHook('true');
    await send(cli, 'claude', AFTER_TOOL);
    await vi.waitFor(() => expect(existsSync(held)).toBe(true));
    await send(cli, 'claude', END);
    await cli.write('pass', '');
    await vi.waitFor(() => expect(existsSync(join(cli.project, 'pid'))).toBe(true));
    await vi.waitFor(() => expect(isAlive()).toBe(false));
    await vi.waitFor(() => expect(files('')).toEqual([]));
  });

  it.each([
    ['just now', 0, true],
    ['long ago', 60_000, false],
  ])('was started %s, and starts after the end of its session or not', async (_n, age, starts) => {
    await haveHook('true');
    await cli.write('go', '');
    await send(cli, 'claude', AFTER_TOOL);
    await vi.waitFor(() => expect(files('')).toEqual([]));
    rmSync(join(cli.project, 'pid'));
    const payload = { toolName: 'a', toolInput: {}, toolResponse: {} };
    const fired = { event: 'AfterTool', payload, session: { sessionId: 's' }, hooks: 1 };
    const job = { options: { cwd: cli.project }, fired, room: 1 };
    const path = await cli.write(join(folderOf(), 'a.job'), JSON.stringify(job));
    utimesSync(path, new Date(), new Date(Date.now() - age));
    await cli.runProgram(['resident', 'async', '--job', path], {});
    expect(existsSync(join(cli.project, 'pid'))).toBe(starts);
  });

  it('has a grace where its session ends right after it was started', async () => {
    await haveHook('touch "$CLAUDE_PROJECT_DIR/done"', {}, 'AfterAgent');
    await cli.write('go', '');
    await send(cli, 'claude', STOP);
    await send(cli, 'claude', END);
    await vi.waitFor(() => expect(existsSync(join(cli.project, 'done'))).toBe(true));
  });

  it('sends the agent back to work at its end where it says asyncRewake and blocks', async () => {
    await haveHook('echo Red >&2; exit 2', { asyncRewake: true });
    await send(cli, 'claude', AFTER_TOOL);
    expect((await send(cli, 'claude', STOP)).json).toEqual({});
    await cli.write('go', '');
    await vi.waitFor(() => expect(files('.late')).toHaveLength(1));
    expect((await send(cli, 'claude', STOP)).json).toEqual({ decision: 'block', reason: 'Red' });
    expect((await send(cli, 'claude', STOP)).json).toEqual({});
  });

  it('tells the user what failed', async () => {
    await haveHook('exit 3');
    await cli.write('go', '');
    await send(cli, 'claude', AFTER_TOOL);
    await vi.waitFor(() => expect(files('.late')).toHaveLength(1));
    const { json } = await send(cli, 'claude', PROMPT);
    expect(json).toMatchObject({
      systemMessage: expect.stringContaining('"late" exited with code 3'),
    });
  });

  it('is one of so many', async () => {
    await haveHook('true', {}, 'AfterTool', { maxAsyncHooks: 1 });
    await send(cli, 'claude', AFTER_TOOL);
    const { json } = await send(cli, 'claude', AFTER_TOOL);
    expect(json).toMatchObject({ systemMessage: expect.stringContaining('maxAsyncHooks') });
    await cli.write('go', '');
    await vi.waitFor(() => expect(files('.run')).toEqual([]));
  });

  it('is counted, and not its event; side by side, too; one that has ended is not', async () => {
    const hooks = [waitingFor('go'), waitingFor('end')];
    await cli.userSettings({ AfterTool: [{ hooks }] } as never, { maxAsyncHooks: 4 });
    const sent = [1, 2, 3, 4, 5].map(() => send(cli, 'claude', AFTER_TOOL));
    const left = (await Promise.all(sent)).filter(({ json }) =>
      JSON.stringify(json).includes('not started, as 4 run'),
    );
    expect(left).toHaveLength(3);
    await vi.waitFor(() => expect(lines('started')).toHaveLength(4));
    await cli.write('go', '');
    await vi.waitFor(() => expect(runningHooks()).toBe(2));
    expect((await send(cli, 'claude', AFTER_TOOL)).json).toEqual({});
    await vi.waitFor(() => expect(lines('started')).toHaveLength(6));
    await cli.write('end', '');
    await vi.waitFor(() => expect(files('')).toEqual([]));
  });

  it.each([
    ['without them', () => cli.userSettings({})],
    ['that cannot be read', () => cli.write(join(cli.home, '.llxprt', 'settings.json'), '{')],
  ])('is ended with its session by settings %s', async (_name, change) => {
    await haveHook('true');
    await send(cli, 'claude', AFTER_TOOL);
    await vi.waitFor(() => expect(isAlive()).toBe(true));
    await change();
    await send(cli, 'claude', END);
    await vi.waitFor(() => expect(isAlive()).toBe(false));
    await vi.waitFor(() => expect(files('')).toEqual([]));
  });

  it('leaves nothing for ever where its session never ends', async () => {
    await haveHook(context('LATE'), { timeout: 1000 });
    await send(cli, 'claude', AFTER_TOOL);
    await vi.waitFor(() => expect(files('.late')).toHaveLength(1));
    await vi.waitFor(() => expect(files('.run')).toEqual([]));
    expect(isAlive()).toBe(false);
    const folder = folderOf();
    const [late = ''] = files('.late');
    // What a supervisor that was killed leaves.
    const run = await cli.write(join(folder, late.replace(/late$/u, 'run')), '.');
    utimesSync(run, new Date(), new Date(Date.now() - 120_000));
    const old = new Date(Date.now() - 40 * 24 * 3600_000);
    utimesSync(join(folder, late), old, old);
    await send(cli, 'claude', { ...END, session_id: 'other' });
    expect(files('')).toEqual([]);
  });

  it('runs within the middleware of extensions, as every other', async () => {
    const text = `export default async (ctx, next) => {
      ctx.input = { ...ctx.input, cwd: 'changed' };
      setInterval(() => undefined, 1000);
      await next();
    };`;
    const middleware = [{ module: './change.mjs', stack: 'hook', before: 'runner' }];
    await cli.extension('user', 'change', { middleware }, { 'change.mjs': text });
    const hook = { type: 'command', name: 'late', command: 'cat > read.json', async: true };
    await cli.userSettings({ AfterTool: [{ hooks: [hook] }] } as never);
    await send(cli, 'claude', AFTER_TOOL);
    const read = () => readFileSync(join(cli.project, 'read.json'), 'utf8');
    await vi.waitFor(() => expect(read()).toContain('"cwd":"changed"'));
    await vi.waitFor(() => expect(files('')).toEqual([]));
  });

  describe.each([
    ['can be written by others', (folder: string) => chmodSync(folder, 0o777)],
    ['cannot be written', (folder: string) => chmodSync(folder, 0o500)],
  ])('whose folder %s', (_name, change) => {
    it.each(['none', 'block'] as const)('costs no verdict: %s', async (kind) => {
      const folder = folderOf();
      mkdirSync(folder, { recursive: true });
      change(folder);
      const command = kind === 'none' ? 'true' : `echo '${JSON.stringify(SAID[kind])}'`;
      const late = { type: 'command', command: 'true', async: true };
      await cli.userSettings({
        AfterTool: [{ hooks: [late] }],
        BeforeTool: [{ hooks: [{ type: 'command', command }] }],
      } as never);
      const call = { ...AFTER_TOOL, hook_event_name: 'PreToolUse' };
      const { json } = await send(cli, 'claude', call);
      expect(decisionOf(json)).toBe(kind === 'block' ? 'deny' : undefined);
      expect((await send(cli, 'claude', call)).json).not.toHaveProperty('systemMessage');
      expect((await send(cli, 'claude', END)).exitCode).toBe(0);
      chmodSync(folder, 0o700);
    });
  });

  it('costs no denial where a file is in the place of its folder', async () => {
    await haveHook('true');
    await cli.write(folderOf(), '');
    expect((await send(cli, 'claude', PROMPT)).json).toMatchObject({
      systemMessage: expect.stringContaining('async'),
    });
    expect((await send(cli, 'claude', PROMPT)).json).toEqual({});
  });
});

describe('what an async hook has said', () => {
  const HELPER = { agent_id: 'a1', agent_type: 'reviewer' };
  const TWIN = { agent_id: 'a2', agent_type: 'reviewer' };
  const SUB_STOP = { hook_event_name: 'SubagentStop', stop_hook_active: false };
  const RED = 'echo Red >&2; exit 2';

  async function haveSaid(command: string, options: object, fields: object = {}) {
    await haveHook(command, options);
    await cli.write('go', '');
    await send(cli, 'claude', { ...AFTER_TOOL, ...fields });
    await vi.waitFor(() => expect(files('.late')).toHaveLength(1));
    await vi.waitFor(() => expect(files('.run')).toHaveLength(0));
  }

  const quiet = { ...AFTER_TOOL, hook_event_name: 'PostToolUseFailure', error: 'e' };

  it('is read by its sub-agent, and no other of that kind', async () => {
    await haveSaid(context('LATE'), {}, HELPER);
    await cli.userSettings({ AfterAgent: [{ hooks: [ASYNC] }] } as never);
    expect((await send(cli, 'claude', { ...quiet, ...TWIN })).json).toEqual({});
    expect((await send(cli, 'claude', quiet)).json).toEqual({});
    const { json } = await send(cli, 'claude', { ...quiet, ...HELPER });
    expect(JSON.stringify(json)).toContain('LATE');
  });

  it('sends a sub-agent back to work, once', async () => {
    await haveSaid(RED, { asyncRewake: true }, HELPER);
    expect((await send(cli, 'claude', { ...SUB_STOP, ...TWIN })).json).toEqual({});
    expect((await send(cli, 'claude', { ...SUB_STOP, ...HELPER })).json).toEqual({
      decision: 'block',
      reason: 'Red',
    });
    expect((await send(cli, 'claude', { ...SUB_STOP, ...HELPER })).json).toEqual({});
  });

  it('is forgotten with its sub-agent, whose hooks are ended', async () => {
    await haveHook(context('LATE'));
    await send(cli, 'claude', { ...AFTER_TOOL, ...HELPER });
    await vi.waitFor(() => expect(isAlive()).toBe(true));
    await send(cli, 'claude', { ...SUB_STOP, ...TWIN });
    expect(files('.run')).toHaveLength(1);
    await send(cli, 'claude', { ...SUB_STOP, ...HELPER });
    await vi.waitFor(() => expect(isAlive()).toBe(false));
    await vi.waitFor(() => expect(files('')).toEqual([]));
  });

  it.each([{}, { agent_type: 'main' }])(
    'is read by the parent where the end of a sub-agent has started it: %j',
    async (main) => {
      await haveHook(context('LATE'), {}, 'SubagentStop');
      await send(cli, 'claude', { ...SUB_STOP, ...HELPER });
      await vi.waitFor(() => expect(isAlive()).toBe(true));
      await cli.write('go', '');
      await vi.waitFor(() => expect(files('.late')).toHaveLength(1));
      expect((await send(cli, 'claude', { ...PROMPT, ...TWIN })).json).toEqual({});
      expect(JSON.stringify((await send(cli, 'claude', { ...PROMPT, ...main })).json)).toContain(
        'LATE',
      );
    },
  );

  it('is ended with its session, in which kind of agent it may be', async () => {
    await haveHook(context('LATE'));
    await send(cli, 'claude', { ...AFTER_TOOL, ...HELPER });
    await vi.waitFor(() => expect(isAlive()).toBe(true));
    await send(cli, 'claude', { ...END, agent_type: 'main' });
    await vi.waitFor(() => expect(isAlive()).toBe(false));
    await vi.waitFor(() => expect(files('')).toEqual([]));
  });

  it('waits where the prompt is blocked, and where the agent is to end', async () => {
    await haveSaid(context('LATE'), {});
    const hooks = [{ type: 'command', command: 'cat said.json' }];
    await cli.userSettings({
      BeforeAgent: [{ hooks }],
      AfterAgent: [{ hooks: [ASYNC] }],
    } as never);
    expect(JSON.stringify((await send(cli, 'claude', PROMPT, SAID.block)).json)).not.toContain(
      'LATE',
    );
    expect(JSON.stringify((await send(cli, 'claude', PROMPT)).json)).toContain('LATE');
  });

  it('has what its author puts before the reason, in the words of Claude Code', async () => {
    const words = { asyncRewake: true, rewakeMessage: 'Review:', rewakeSummary: 'reviewed' };
    await haveSaid(RED, words);
    expect((await send(cli, 'claude', STOP)).json).toEqual({
      decision: 'block',
      reason: 'Review:\n\nRed',
    });
  });

  it('gives one of two ends a reason, and the other none', async () => {
    await haveSaid(RED, { asyncRewake: true });
    const ends = await Promise.all([1, 2, 3, 4].map(() => send(cli, 'claude', STOP)));
    const said = ends.map(({ json }) => json).filter((json) => Object.keys(json ?? {}).length > 0);
    expect(said).toEqual([{ decision: 'block', reason: 'Red' }]);
  });

  it('does not wake an agent that hooks have stopped', async () => {
    await haveSaid(RED, { asyncRewake: true });
    const said = JSON.stringify(SAID.stop);
    await cli.userSettings({
      BeforeTool: [{ hooks: [{ type: 'command', command: `echo '${said}'` }] }],
      AfterAgent: [{ hooks: [ASYNC] }],
    } as never);
    await send(cli, 'claude', { ...AFTER_TOOL, hook_event_name: 'PreToolUse' });
    expect((await send(cli, 'claude', STOP)).json).toEqual({});
    expect(files('.late')).toHaveLength(1);
  });
});

describe('commands', () => {
  it('fire waits for it, and shows what it says', async () => {
    await haveHook(context('LATE'));
    await cli.write('go', '');
    const { stdout, exitCode } = await cli.run(['fire', 'AfterTool', '--tool', 'x', '--json']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('LATE');
  });

  it('decides nothing where another agent waits, and is started', async () => {
    const theirs = { type: 'command', command: 'cat >seen; echo no >&2; exit 2', async: true };
    const group = { dialect: 'claude', matcher: 'Bash', hooks: [theirs] };
    await cli.userSettings({ PreToolUse: [group] } as never);
    const call = { ...AFTER_TOOL, hook_event_name: 'PreToolUse' };
    const { json, exitCode } = await send(cli, 'claude', call);
    expect([exitCode, json]).toEqual([0, {}]);
    await vi.waitFor(() => expect(existsSync(join(cli.project, 'seen'))).toBe(true));
  });

  it('list names it', async () => {
    await haveHook('true', { asyncRewake: true });
    expect((await cli.run(['list'])).stdout).toContain('asyncRewake');
  });

  it('validate refuses it where the event waits, with its place', async () => {
    await haveHook('true', {}, 'BeforeTool');
    const { stdout, exitCode } = await cli.run(['validate']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /settings\.json:\d+:\d+: .*hooks\.BeforeTool\[0\]\.hooks\[0\]\.async.*BeforeTool waits for its hooks/,
    );
  });
});
