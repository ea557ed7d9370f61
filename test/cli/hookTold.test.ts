import { lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';
import { send } from './hookHelpers.js';

const cli = new Cli();

const GUARD = { name: 'guard', onFailure: 'deny' } as const;

const start = { hook_event_name: 'SessionStart', source: 'startup' };
const read = {
  hook_event_name: 'PreToolUse',
  tool_name: 'Read',
  tool_input: { file_path: '/shop/.env' },
};
const calling = (tool_name: string) => ({ ...read, tool_name, tool_input: { command: 'ls' } });
const containing = (text: string) => ({
  systemMessage: expect.stringContaining(text) as string,
});

function guards(matcher: string) {
  return { BeforeTool: group('cat > /dev/null', { ...GUARD, matcher }) };
}

async function told(event: object, agent: 'claude' | 'gemini' = 'claude'): Promise<string> {
  const { json } = await send(cli, agent, event);
  return (json as { systemMessage?: string }).systemMessage ?? '';
}

describe('at the start of a session, whatever events have hooks', () => {
  it.each(['claude', 'gemini'] as const)(
    'the person reads that hooks of the project are not allowed: %s',
    async (agent) => {
      await cli.projectSettings(guards('read_file'));
      const { json } = await send(cli, agent, start);
      expect(json).toMatchObject(containing('1 hook of this project skipped until you allow it'));
      expect(json).toMatchObject(containing('hookstack trust'));
    },
  );

  it.each([
    ['an event that does not exist', { BeforeTools: group('true') }, 'hooks.BeforeTools: unknown'],
    ['a hook without a command', { BeforeTool: [{ hooks: [{ type: 'command' }] }] }, 'command:'],
    [
      'a matcher that is no expression',
      { BeforeTool: group('true', { matcher: '(' }) },
      "matcher: '('",
    ],
  ])('and what is left out: %s', async (_, hooks, text) => {
    await cli.userSettings(hooks as never);
    expect((await send(cli, 'claude', start)).json).toMatchObject(containing(text));
  });

  it('and that hooks are off', async () => {
    await cli.userSettings(guards('read_file'), { enableHooks: false });
    expect((await send(cli, 'claude', start)).json).toMatchObject(containing('Hooks are off'));
  });

  it('and nothing where there are no hooks, for which nothing is loaded or written', async () => {
    await cli.projectSettings(undefined as never);
    expect((await send(cli, 'claude', start)).json).toEqual({});
    expect(await readdir(cli.home)).toEqual([]);
  });
});

describe('when it matters', () => {
  it('a hook that is not allowed is told of once in a session, where it would have run', async () => {
    await cli.projectSettings(guards('read_file'));
    expect(await told(calling('Bash'))).toBe('');
    const text = await told(read);
    expect(text).toContain('"guard"');
    expect(text).toContain('hookstack trust');
    expect(await told(read)).toBe('');
    expect(await told({ ...read, session_id: 's2' })).toBe(text);
  });

  it('another one is told of in its turn', async () => {
    await cli.projectSettings(guards('read_file'));
    await told(read);
    const other = group('exit 2', { name: 'other', matcher: 'read_file' });
    await cli.projectSettings({ BeforeTool: [...guards('read_file').BeforeTool, ...other] });
    expect(await told(read)).toContain('"other"');
    expect(await told(read)).toBe('');
  });

  it('a hook that is left out is told of at its event, once', async () => {
    const broken = [{ hooks: [{ type: 'command', name: 'nothing' }] }];
    await cli.userSettings({ BeforeTool: broken, AfterTool: group('true') } as never);
    expect(await told(read)).toContain('hooks.BeforeTool[0].hooks[0].command');
    expect(await told(read)).toBe('');
    expect(await told({ hook_event_name: 'UserPromptSubmit', prompt: 'hello' })).toBe('');
  });

  it.each([
    ['that is broken', '{ "enableHooks": true, "hooks": { "PreToolUse": [', 'not valid JSON'],
    ['whose hooks are none', '{ "enableHooks": true, "hooks": ["BeforeTool"] }', 'hooks: expected'],
  ])('a file of the project %s may have had a hook of any event', async (_, text, what) => {
    await cli.write('.llxprt/settings.json', text);
    expect(await told(read)).toContain(what);
    expect(await told(calling('Bash'))).toBe('');
  });

  it('a matcher that is no expression is told of at its event, once, and its guard is asked', async () => {
    const deny = group('echo no >&2; exit 2', { ...GUARD, matcher: '(' });
    await cli.userSettings({ BeforeTool: deny });
    const { json } = await send(cli, 'claude', calling('Launch'));
    expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
    expect(json).toMatchObject(containing("hooks.BeforeTool[0].matcher: '('"));
    expect(await told(read)).toBe('');
  });

  it('what is remembered is for the user alone, and bounded', async () => {
    await cli.projectSettings(guards('read_file'));
    await told(read);
    const folder = join(cli.home, '.llxprt', 'told');
    expect((await lstat(folder)).mode & 0o777).toBe(0o700);
    const [file = ''] = await readdir(folder);
    expect((await lstat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect(file).not.toContain('s1');
    for (let at = 0; at < 1000; at++) await cli.write(join(folder, String(at)), '');
    await told({ ...read, session_id: 's2' });
    expect((await readdir(folder)).length).toBeLessThanOrEqual(501);
    expect(await told({ ...read, session_id: 's2' })).toBe('');
  });

  it('no link is followed, and what cannot be remembered is told again', async () => {
    await cli.projectSettings(guards('read_file'));
    const elsewhere = dirname(await cli.write('elsewhere/file', 'as it was'));
    await mkdir(join(cli.home, '.llxprt'));
    await symlink(elsewhere, join(cli.home, '.llxprt', 'told'));
    expect(await told(read)).toContain('"guard"');
    expect(await told(read)).toContain('"guard"');
    await rm(join(cli.home, '.llxprt', 'told'));
    await writeFile(join(cli.home, '.llxprt', 'told'), '');
    expect(await told(read)).toContain('"guard"');
    expect(await readdir(elsewhere)).toEqual(['file']);
  });
});

describe('a tool that is not known, beside a guard of others', () => {
  beforeEach(() => cli.userSettings(guards('run_shell_command|write_file')));

  it.each(['Launch', 'MultiEdit', 'mcp__files__write'])(
    'is told of once in a session: %s',
    async (tool) => {
      const text = await told(calling(tool));
      expect(text).toContain(tool);
      expect(text).toContain('"guard"');
      expect(await told(calling(tool))).toBe('');
      expect(await told(calling(`${tool}2`))).toContain(`${tool}2`);
      expect(await told({ ...calling(tool), session_id: 's2' })).toBe(text);
    },
  );

  it.each(['Read', 'Bash', 'PowerShell', 'Grep', 'TodoWrite', 'run_shell_command'])(
    'is not one that has a name here: %s',
    async (tool) => expect(await told(calling(tool))).toBe(''),
  );

  it('is not one that another agent has, which runs the same settings: its guard is asked', async () => {
    expect(await told(calling('runTerminalCommand'))).toBe('');
    await cli.userSettings({ BeforeTool: group('exit 2', { matcher: 'run_shell_command' }) });
    expect((await send(cli, 'claude', calling('runTerminalCommand'))).json).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
  });

  it('is told of in Gemini CLI', async () => {
    const call = { ...calling('new_shell'), hook_event_name: 'BeforeTool' };
    expect(await told(call, 'gemini')).toContain('new_shell');
    expect(await told({ ...call, tool_name: 'replace' }, 'gemini')).toBe('');
  });

  it.each([
    [
      'a guard sees it anyway',
      { BeforeTool: [...guards('').BeforeTool, ...guards('write_file').BeforeTool] },
    ],
    [
      'a matcher names it',
      {
        BeforeTool: [...guards('write_file').BeforeTool, ...group('true', { matcher: 'Launch' })],
      },
    ],
    ['no guard is there', { BeforeTool: group('true', { matcher: 'write_file' }) }],
  ])('is not told of where %s', async (_, hooks) => {
    await cli.userSettings(hooks);
    expect(await told(calling('Launch'))).toBe('');
  });

  it('is not told of where its agent asks for permission, which our hooks are not asked about', async () => {
    await cli.userSettings({
      BeforeTool: [...guards('').BeforeTool, ...guards('write_file').BeforeTool],
    });
    expect(await told({ ...calling('Launch'), hook_event_name: 'PermissionRequest' })).toBe('');
  });

  it('is told of where a hook that is no guard looks at all tools', async () => {
    const all = [...group('true'), ...group('true', { matcher: '.*' })];
    await cli.userSettings({ BeforeTool: [...guards('write_file').BeforeTool, ...all] });
    expect(await told(calling('Launch'))).toContain('Launch');
  });
});

it('what the person reads has no characters that hide or forge', async () => {
  await cli.projectSettings({
    BeforeTool: group('true', { name: 'a\u2028b\u202e\u001b[31mc', matcher: 'read_file' }),
  });
  expect(await told(read)).toContain('a\\u2028b\\u202e\\x1b[31mc');
});

it('a guard of shell commands is asked about PowerShell of Claude Code', async () => {
  const matcher = 'run_shell_command';
  await cli.userSettings({ BeforeTool: group('echo no >&2; exit 2', { ...GUARD, matcher }) });
  expect((await send(cli, 'claude', calling('PowerShell'))).json).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny' },
  });
});
