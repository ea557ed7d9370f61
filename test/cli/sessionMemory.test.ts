import { existsSync, readdirSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, group, saying } from './helpers.js';
import { haveHook, SAID, send } from './hookHelpers.js';

const cli = new Cli();

const call = (tool_name: string, more = {}) => ({
  hook_event_name: 'PreToolUse',
  turn_id: 't1',
  model: 'm',
  tool_name,
  tool_input: { command: 'ls' },
  tool_use_id: 'c1',
  ...more,
});
const PROMPT = { hook_event_name: 'UserPromptSubmit', turn_id: 't2', prompt: 'Go on.' };
const DENIED = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: 'Enough.',
  },
};

describe('a stop that the agent cannot be told', () => {
  it('is a denial of each tool, until the user says something new', async () => {
    const stop = saying({ continue: false, stopReason: 'Enough.' });
    await cli.userSettings({ BeforeTool: group(stop, { matcher: '^odd_tool$' }) });
    expect((await send(cli, 'codex', call('Bash'))).json).toEqual({});
    expect((await send(cli, 'codex', call('odd_tool'))).json).toEqual(DENIED);
    expect((await send(cli, 'codex', call('Bash'))).json).toEqual(DENIED);
    const ended = await send(cli, 'codex', { hook_event_name: 'Stop', turn_id: 't1' });
    expect(ended.json).toEqual({});
    expect((await send(cli, 'codex', PROMPT)).json).toEqual({});
    expect((await send(cli, 'codex', call('Bash'))).json).toEqual({});
  });

  it('is one of its session alone', async () => {
    await cli.userSettings({
      BeforeTool: group(saying({ continue: false, stopReason: 'Enough.' }), {
        matcher: '^odd_tool$',
      }),
    });
    expect((await send(cli, 'codex', call('odd_tool'))).json).toEqual(DENIED);
    const other = await send(cli, 'codex', call('Bash', { session_id: 's2' }));
    expect(other.json).toEqual({});
  });
});

const folder = () => join(cli.home, '.llxprt', 'sessions');

describe('a stop at the start of a session', () => {
  const start = { hook_event_name: 'SessionStart', source: 'startup' };
  const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'Go.' };
  const stopped = { continue: false, stopReason: 'end' };

  it('ends every prompt of it, until it starts again', async () => {
    await haveHook(cli);
    await send(cli, 'claude', start, SAID.stop);
    for (const _prompt of [1, 2]) {
      expect((await send(cli, 'claude', prompt)).json).toMatchObject(stopped);
    }
    await send(cli, 'claude', { ...start, source: 'resume' });
    expect((await send(cli, 'claude', prompt)).json).toEqual({});
  });

  it('is forgotten with the session', async () => {
    await haveHook(cli);
    await send(cli, 'claude', start, SAID.stop);
    await send(cli, 'claude', { hook_event_name: 'SessionEnd', reason: 'other' });
    expect(readdirSync(folder())).toEqual([]);
  });
});

it('keeps a stop while the agent makes its history shorter, which starts the session anew', async () => {
  await haveHook(cli);
  const { turn_id: _turn, ...bash } = call('Bash');
  await send(cli, 'claude', bash, SAID.stop);
  await send(cli, 'claude', { hook_event_name: 'SessionStart', source: 'compact' });
  const { json } = await send(cli, 'claude', bash);
  expect(json).toMatchObject({ continue: false, stopReason: 'end' });
});

const cursorCall = (hook_event_name: string, more = {}) => ({
  hook_event_name,
  conversation_id: 's1',
  cursor_version: '3',
  tool_name: 'Shell',
  tool_input: { command: 'ls' },
  ...more,
});

describe('what an agent cannot be told', () => {
  it('ends the session where a result is to be replaced, and cannot be', async () => {
    await haveHook(cli);
    const redacting = { hookSpecificOutput: { tool_response: '***' } };
    const result = cursorCall('postToolUse', { tool_output: 'secret' });
    await send(cli, 'cursor', result, redacting);
    const { json } = await send(cli, 'cursor', cursorCall('preToolUse'));
    expect(json).toMatchObject({ permission: 'deny' });
  });

  it('ends the session where a prompt is refused, and cannot be', async () => {
    await haveHook(cli);
    const goose = (event: string, more: object) => ({ event, working_dir: cli.project, ...more });
    await send(cli, 'goose', goose('UserPromptSubmit', { message: 'Go.' }), SAID.block);
    const tool = { tool_name: 'developer__shell', tool_input: { command: 'ls' } };
    const { json } = await send(cli, 'goose', goose('PreToolUse', tool));
    expect(json).toEqual({ decision: 'block', reason: 'no' });
    await send(cli, 'goose', goose('UserPromptSubmit', { message: 'Go on.' }));
    expect((await send(cli, 'goose', goose('PreToolUse', tool))).json).toEqual({});
  });

  it('refuses a tool whose arguments are changed, where the agent reads exit codes only', async () => {
    await haveHook(cli);
    const event = {
      agent_action_name: 'pre_run_command',
      trajectory_id: 's1',
      tool_info: { command_line: 'ls', cwd: cli.project },
    };
    const changing = { hookSpecificOutput: { tool_input: { command: 'pwd' } } };
    expect(await send(cli, 'windsurf', event, changing)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('A hook changed the arguments') as string,
    });
  });
});

it('takes a memory that it cannot read for a stop', async () => {
  await haveHook(cli);
  await send(cli, 'codex', call('Bash'), SAID.stop);
  const [name = ''] = readdirSync(folder());
  await chmod(join(folder(), name), 0o666);
  const { json } = await send(cli, 'codex', call('Bash'));
  expect(JSON.stringify(json)).toContain(`${join(folder(), name)}: `);
});

const tool = (tool_name: string, more = {}) => ({
  hook_event_name: 'BeforeTool',
  tool_name,
  tool_input: { a: 1 },
  ...more,
});
const selection = {
  hook_event_name: 'BeforeToolSelection',
  llm_request: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
};
const offering = (toolConfig: object) => ({ hookSpecificOutput: { toolConfig } });
const answerTo = async (event: object, said: object = {}) =>
  (await send(cli, 'gemini', event, said)).json;
const refused = (name: string, offered: string) => ({
  decision: 'deny',
  reason: `Hooks keep ${name} from the model, which may call ${offered} now.`,
});

const ofGit = (name: string) =>
  tool(`mcp_git_${name}`, { mcp_context: { server_name: 'git', tool_name: name } });

describe('a tool that Gemini CLI was told not to offer', () => {
  it.each([
    ['ANY', { mode: 'ANY', allowedFunctionNames: ['read_file', 'search_file_content'] }],
    ['AUTO', { mode: 'AUTO', allowedFunctionNames: ['grep_search', 'read_file'] }],
    ['no mode', { allowedFunctionNames: ['grep_search', 'read_file'] }],
  ])('does not run: %s', async (_mode, toolConfig) => {
    await haveHook(cli);
    await answerTo(selection, offering(toolConfig));
    expect(await answerTo(tool('run_shell_command'))).toMatchObject({
      decision: 'deny',
      reason: expect.stringMatching(/^Hooks keep run_shell_command .*grep_search/) as string,
    });
    expect(await answerTo(tool('read_file'))).toEqual({});
    expect(await answerTo(tool('grep_search'))).toEqual({});
    expect(await answerTo(tool('read_file', { session_id: 's2' }))).toEqual({});
  });

  it('is also one of a server', async () => {
    await haveHook(cli);
    await answerTo(selection, offering({ mode: 'ANY', allowedFunctionNames: ['mcp_git_log'] }));
    expect(await answerTo(ofGit('log'))).toEqual({});
    expect(await answerTo(ofGit('push'))).toEqual(refused('mcp_git_push', 'mcp_git_log'));
  });

  it.each([
    ['BeforeToolSelection answers otherwise', selection],
    ['the user says something new', { hook_event_name: 'BeforeAgent', prompt: 'Go on.' }],
  ])('runs again once %s', async (_what, event) => {
    await haveHook(cli);
    await answerTo(selection, offering({ mode: 'NONE' }));
    expect(await answerTo(tool('read_file'))).toEqual(refused('read_file', 'no tool'));
    await answerTo(event);
    expect(await answerTo(tool('read_file'))).toEqual({});
    expect(readdirSync(folder())).toEqual([]);
  });

  it('is a stop, where that was one', async () => {
    await haveHook(cli);
    await answerTo(selection, SAID.stop);
    expect(await answerTo(tool('read_file'))).toMatchObject({ continue: false, stopReason: 'end' });
  });

  it('leaves nothing behind where hooks keep none from it', async () => {
    await haveHook(cli);
    await answerTo(selection);
    expect(existsSync(folder())).toBe(false);
  });
});
