import { spawnSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { receivableEvents } from '../../src/dialects/reverse.js';
import { Cli, CLIENT, group, MAIN } from './helpers.js';

const cli = new Cli();
const OWN = { type: 'command', command: 'hookstack-hook claude', timeout: 600 };

async function settings(file = '.claude/settings.json'): Promise<{ hooks: object }> {
  return JSON.parse(await cli.read(file)) as { hooks: object };
}

describe('install', () => {
  it('has Claude Code run all hooks, at every event that is one of ours', async () => {
    const { exitCode, stdout } = await cli.run(['install', '--into', 'claude']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Claude Code runs all hooks of the project, at 15 events');
    const { hooks } = await settings();
    const events = receivableEvents('claude');
    expect(Object.keys(hooks).toSorted()).toEqual(events.toSorted());
    for (const groups of Object.values(hooks)) expect(groups).toEqual([{ hooks: [OWN] }]);
  });

  it('has Gemini CLI run them, with the time limit in its unit', async () => {
    await cli.run(['install', '--into', 'gemini']);
    const { hooks } = await settings('.gemini/settings.json');
    expect(Object.keys(hooks)).toHaveLength(11);
    const command = 'hookstack-hook gemini';
    const own = { type: 'command', name: 'hookstack', command, timeout: 600_000 };
    expect(hooks).toMatchObject({ BeforeTool: [{ hooks: [own] }] });
  });

  it('keeps comments and what is there, and --undo brings it back as it was', async () => {
    const before = `{
  // of the team
  "permissions": { "deny": ["Read(./.env)"] },
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./guard.sh" }] } // mine
    ]
  }
}
`;
    await cli.write('.claude/settings.json', before);
    await cli.run(['install', '--into', 'claude']);
    const text = await cli.read('.claude/settings.json');
    for (const line of before.split('\n').slice(1, 3)) expect(text).toContain(line);
    expect(text).toContain('// mine');
    expect(text.match(/hookstack-hook claude/gu)).toHaveLength(15);
    const again = await cli.run(['install', '--into', 'claude']);
    expect(again.stdout).toContain('nothing to do');
    expect(await cli.read('.claude/settings.json')).toBe(text);
    await cli.run(['install', '--into', 'claude', '--undo']);
    const after = await cli.read('.claude/settings.json');
    expect(after.replaceAll(/,(?=\s*\n\s*[\]}])/gu, '')).toBe(before);
    const { stdout } = await cli.run(['install', '--into', 'claude', '--undo']);
    expect(stdout).toContain('nothing to do');
  });

  it('takes out only its own hook of a group that others wrote it into', async () => {
    const other = { type: 'command', command: 'true' };
    const hooks = { PreToolUse: [{ hooks: [OWN, other, OWN] }], Stop: [{ hooks: [OWN] }] };
    await cli.write('.claude/settings.json', { hooks });
    await cli.run(['install', '--into', 'claude', '--undo']);
    expect(await settings()).toEqual({ hooks: { PreToolUse: [{ hooks: [other] }] } });
  });

  it('renews an entry that starts another program now', async () => {
    const old = { ...OWN, command: 'npx hookstack hook --from claude' };
    await cli.write('.claude/settings.json', { hooks: { Stop: [{ hooks: [old] }] } });
    await cli.run(['install', '--into', 'claude']);
    expect(await settings()).toMatchObject({ hooks: { Stop: [{ hooks: [OWN] }] } });
  });

  it('keeps what users have added to its entry, and their time limit', async () => {
    const command = 'HOOKSTACK_TRACE=t.jsonl hookstack-hook claude --trust || exit 2';
    const mine = { type: 'command', timeout: 60, command };
    const old = {
      ...mine,
      command: command.replace('hookstack-hook claude', 'npx -y hookstack hook --from claude'),
    };
    const hooks = { Stop: [{ hooks: [mine] }], PreToolUse: [{ hooks: [old] }] };
    await cli.write('.claude/settings.json', { hooks });
    await cli.run(['install', '--into', 'claude']);
    expect(await settings()).toMatchObject({
      hooks: { Stop: [{ hooks: [mine] }], PreToolUse: [{ hooks: [mine] }] },
    });
    await cli.run(['install', '--into', 'claude', '--undo']);
    expect(await cli.read('.claude/settings.json')).not.toContain('hookstack');
  });

  it.each([
    ['one tool', { matcher: 'Read', hooks: [OWN] }],
    ['a condition', { hooks: [{ ...OWN, if: 'Bash(git *)' }] }],
    ['nobody to wait for it', { matcher: '*', hooks: [{ ...OWN, async: true }] }],
  ])('adds its entry for all where one is there for %s', async (_what, partial) => {
    const hooks = { PreToolUse: [partial], PostToolUse: [{ matcher: '*', hooks: [OWN] }] };
    await cli.write('.claude/settings.json', { hooks });
    const { stderr } = await cli.run(['install', '--into', 'claude']);
    expect(stderr).toContain('the entry that PreToolUse had does not count for all of it');
    expect(stderr).not.toContain('PostToolUse had');
    expect(await settings()).toMatchObject({
      hooks: { PreToolUse: [partial, { hooks: [OWN] }], PostToolUse: [{ matcher: '*' }] },
    });
    const again = await cli.run(['install', '--into', 'claude']);
    expect(again.stdout).toContain('nothing to do');
    expect(again.stderr).not.toContain('does not count for all');
  });

  it('has a machine without hookstack blocked with --strict, also later', async () => {
    const strict = 'hookstack-hook claude || exit 2';
    await cli.run(['install', '--into', 'claude']);
    await cli.run(['install', '--into', 'claude', '--strict']);
    const text = await cli.read('.claude/settings.json');
    expect(text.split(strict)).toHaveLength(16);
    const { stdout, stderr } = await cli.run(['install', '--into', 'claude']);
    expect(stdout).toContain('nothing to do');
    expect(stderr).toContain('hookstack-hook is not on the search path');
    expect(spawnSync('/bin/sh', ['-c', strict], { env: {} }).status).toBe(2);
    await cli.run(['install', '--into', 'gemini', '--strict']);
    const command = 'hookstack-hook gemini || exit 2';
    expect(await settings('.gemini/settings.json')).toMatchObject({
      hooks: { BeforeTool: [{ hooks: [{ command }] }] },
    });
    await cli.run(['install', '--into', 'claude', '--undo']);
    await expect(cli.read('.claude/settings.json')).rejects.toThrow('ENOENT');
  });

  it.each([
    ['claude', '.claude/settings.json', { disableAllHooks: true }],
    ['claude', '.claude/settings.local.json', { disableAllHooks: true }],
    ['claude', join('..', 'home', '.claude/settings.json'), { disableAllHooks: true }],
    ['gemini', '.gemini/settings.json', { hooksConfig: { enabled: false } }],
    ['gemini', '.gemini/settings.json', { hooksConfig: { disabled: ['hookstack'] } }],
  ])('says where hooks are switched off in the settings of %s: %s', async (into, file, off) => {
    await cli.run(['install', '--into', into]);
    await cli.write(file, off);
    const { stderr } = await cli.run(['install', '--into', into]);
    expect(stderr).toMatch(/so that .* does not run them: .*settings.*json/u);
  });

  it('leaves nothing with --undo of a file that it made, and an empty object where that is not known', async () => {
    await cli.run(['install', '--into', 'claude']);
    await cli.run(['install', '--into', 'claude', '--undo']);
    await expect(cli.read('.claude/settings.json')).rejects.toThrow('ENOENT');
    await cli.run(['install', '--into', 'claude']);
    await rm(join(cli.home, '.llxprt'), { recursive: true });
    await cli.run(['install', '--into', 'claude', '--undo']);
    expect(await cli.read('.claude/settings.json')).toBe('{}\n');
  });

  it('leaves what is more than its entry as it is, and says so', async () => {
    const guard = { type: 'command', command: './my-guard && hookstack hook --from claude' };
    const hooks = { PreToolUse: [{ hooks: [guard] }] };
    await cli.write('.claude/settings.json', { hooks });
    const { stderr } = await cli.run(['install', '--into', 'claude']);
    expect(stderr).toContain('"./my-guard && hookstack hook --from claude" is left as it is');
    expect(await settings()).toMatchObject({
      hooks: { PreToolUse: [{ hooks: [guard] }, { hooks: [OWN] }], Stop: [{ hooks: [OWN] }] },
    });
    const undone = await cli.run(['install', '--into', 'claude', '--undo']);
    expect(undone.stderr).toContain('is left as it is');
    expect(await settings()).toEqual({ hooks });
  });

  it('shows with --dry-run what would change, and changes nothing', async () => {
    const { stdout } = await cli.run(['install', '--into', 'claude', '--dry-run']);
    expect(stdout).toContain('+            "command": "hookstack-hook claude"');
    await expect(cli.read('.claude/settings.json')).rejects.toThrow('ENOENT');
    const { stdout: json } = await cli.run(['install', '--into', 'claude', '--dry-run', '--json']);
    expect(JSON.parse(json)).toMatchObject({ into: 'claude', changed: true, command: OWN.command });
  });

  it('writes the settings of one person, or of the user, where it is told', async () => {
    await cli.run(['install', '--into', 'claude', '--scope', 'local']);
    expect(await settings('.claude/settings.local.json')).toHaveProperty('hooks.Stop');
    await cli.run(['install', '--into', 'gemini', '--scope', 'user']);
    expect(await settings(join('..', 'home', '.gemini/settings.json'))).toHaveProperty('hooks');
    const { exitCode, stderr } = await cli.run(['install', '--into', 'gemini', '--scope', 'local']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('leave --scope out');
  });

  it('names the program of the project where it has one', async () => {
    await mkdir(join(cli.project, 'node_modules/.bin'), { recursive: true });
    await writeFile(join(cli.project, 'node_modules/.bin/hookstack-hook'), '', { mode: 0o755 });
    await cli.run(['install', '--into', 'claude']);
    const command = '"$CLAUDE_PROJECT_DIR"/node_modules/.bin/hookstack-hook claude';
    expect(await settings()).toMatchObject({ hooks: { Stop: [{ hooks: [{ command }] }] } });
  });

  it('names the command that writes a first hook, where there is none', async () => {
    const install = () => cli.run(['install', '--into', 'claude']).then(({ stderr }) => stderr);
    expect(await install()).toMatch(/, or have a first hook written by: hookstack init$/mu);
    await cli.run(['init']);
    expect(await install()).not.toContain('hookstack init');
  });

  it('says what keeps hooks from running, and which would run twice', async () => {
    const guard = { type: 'command', command: './guard.sh' };
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [guard] }] } });
    await cli.run(['migrate', '--from', 'claude']);
    const { stderr } = await cli.run(['install', '--into', 'claude']);
    expect(stderr).toContain('1 hook of');
    expect(stderr).toContain('would run twice');
    expect(stderr).toContain('Not allowed yet: 1 hook');
    expect(stderr).toContain('hookstack-hook is not on the search path');
  });

  it('is left where it is by migrate, and is no hook that nothing runs', async () => {
    await cli.run(['install', '--into', 'claude']);
    const { stdout } = await cli.run(['migrate', '--from', 'claude', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ added: 0, remarks: [] }] });
    const { stderr } = await cli.run(['fire', 'BeforeTool']);
    expect(stderr).not.toContain('nothing runs the hooks');
  });

  it('asks whose settings to write', async () => {
    const { exitCode, stderr } = await cli.run(['install']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      'Say whose settings to write: hookstack install --into AGENT (all, claude, gemini,',
    );
  });

  it('leaves settings alone that cannot be read, and says where', async () => {
    await cli.write('.claude/settings.json', '{ "hooks": [ }');
    const { exitCode, stderr } = await cli.run(['install', '--into', 'claude']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('settings.json:1:');
  });

  it('does not write through a link that leads out of the project', async () => {
    await mkdir(join(cli.home, '.claude'));
    await symlink(join(cli.home, '.claude'), join(cli.project, '.claude'));
    const { exitCode, stderr } = await cli.run(['install', '--into', 'claude']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('a link leads to a place outside of the project');
  });

  it('writes what Claude Code then runs', async () => {
    await cli.userSettings({ BeforeTool: group('cat > /dev/null; echo no >&2; exit 2') });
    await cli.run(['install', '--into', 'claude']);
    const { hooks } = (await settings()) as { hooks: { Stop: [{ hooks: [typeof OWN] }] } };
    const { command } = hooks.Stop[0].hooks[0];
    await mkdir(join(cli.home, 'bin'));
    await symlink(MAIN, join(cli.home, 'bin/hookstack'));
    await symlink(CLIENT, join(cli.home, 'bin/hookstack-hook'));
    const event = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {} };
    const { stdout } = spawnSync('/bin/sh', ['-c', command], {
      input: JSON.stringify(event),
      encoding: 'utf8',
      cwd: cli.project,
      env: {
        HOME: cli.home,
        PATH: `${join(cli.home, 'bin')}:${process.env['PATH']}`,
        HOOKSTACK_RESIDENT: '0',
      },
    });
    expect(stdout).toContain('"permissionDecision":"deny"');
  });
});
