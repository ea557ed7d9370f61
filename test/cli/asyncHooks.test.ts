import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Cli } from './helpers.js';
import { send, sendToProgram } from './hookHelpers.js';

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

const files = (kind: string) => {
  const folder = join(cli.home, '.llxprt', 'async');
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
});

describe('commands', () => {
  it('fire waits for it, and shows what it says', async () => {
    await haveHook(context('LATE'));
    await cli.write('go', '');
    const { stdout, exitCode } = await cli.run(['fire', 'AfterTool', '--tool', 'x', '--json']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('LATE');
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
