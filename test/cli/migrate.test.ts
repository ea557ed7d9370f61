import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettingsFile } from '../../src/config/settings/settings.js';
import { Cli } from './helpers.js';

const cli = new Cli();
const OURS = '.llxprt/settings.json';

const guard = {
  type: 'command',
  command: '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh',
  timeout: 10,
};

/** Runs `migrate` and reads what it tells. */
async function migrate(from: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await cli.run([
    'migrate',
    '--from',
    from,
    '--json',
    ...args,
  ]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const { files } = JSON.parse(stdout) as {
    files: {
      target: string;
      changed: boolean;
      added: number;
      present: number;
      diff: string[];
      remarks: { file: string; line: number; path: string; message: string; kind: string }[];
    }[];
  };
  return files;
}

/** The hooks of one of our settings files, which must have nothing that is to be complained about. */
async function hooksOf(file: string) {
  const { settings, problems } = await loadSettingsFile(file);
  expect(problems).toEqual([]);
  return settings;
}

describe('migrate', () => {
  it('takes over hooks of the project and of the user, which then run as they are', async () => {
    await cli.write('.claude/hooks/guard.sh', 'echo "Not this: $(jq -r .tool_name)" >&2; exit 2\n');
    await cli.write('.claude/settings.json', {
      hooks: {
        PreToolUse: [{ matcher: 'Bash', hooks: [{ ...guard, command: `bash ${guard.command}` }] }],
      },
    });
    await cli.write(join(cli.home, '.claude/settings.json'), {
      hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'date' }] }] },
    });
    expect(await migrate('claude', '--scope', 'all')).toMatchObject([
      { target: join(cli.project, OURS), changed: true, added: 1, present: 0, remarks: [] },
      { target: join(cli.home, OURS), changed: true, added: 1, present: 0, remarks: [] },
    ]);
    expect((await hooksOf(join(cli.home, OURS))).hooks).toMatchObject({
      BeforeAgent: [{ dialect: 'claude', hooks: [{ name: 'date', command: 'date' }] }],
    });
    const fired = await cli.run(['fire', 'BeforeTool', '--tool', 'run_shell_command', '--trust']);
    expect(fired).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('Not this: Bash') });
  });

  it('keeps comments and what is there, and changes nothing the second time', async () => {
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [guard] }] } });
    await cli.write('.claude/settings.local.json', {
      hooks: { PreToolUse: [{ hooks: [guard, { type: 'command', command: 'mine' }] }] },
    });
    const scope = ['--scope', 'local'];
    await cli.write(
      OURS,
      `{
  // Why four: the machine is small.
  "maxParallelHooks": 4,
  "hooks": {
    "BeforeTool": [
      // The first one.
      { "matcher": "x", "hooks": [{ "type": "command", "command": "ours" }] }
    ]
  }
}
`,
    );
    expect(await migrate('claude')).toMatchObject([{ added: 1, present: 0 }]);
    expect(await migrate('claude', ...scope)).toMatchObject([{ added: 1, present: 1 }]);
    const text = await cli.read(OURS);
    expect(text).toContain('// Why four: the machine is small.');
    expect(text).toContain('// The first one.');
    const settings = await hooksOf(join(cli.project, OURS));
    expect(settings).toMatchObject({ enableHooks: true, maxParallelHooks: 4 });
    expect(settings.hooks.BeforeTool).toMatchObject([
      { matcher: 'x', hooks: [{ command: 'ours' }] },
      { dialect: 'claude', hooks: [guard] },
      { dialect: 'claude', hooks: [{ command: 'mine' }] },
    ]);

    for (const [args, present] of [[[], 1] as const, [scope, 2] as const]) {
      const [again] = await migrate('claude', ...args);
      expect(again).toMatchObject({ changed: false, added: 0, present, diff: [], remarks: [] });
    }
    expect(await cli.read(OURS)).toBe(text);
  });

  it('tells hooks apart that ask one server in several names', async () => {
    const url = 'https://policy.example/v1/events';
    const asking = (headers: object) => ({ type: 'http', url, headers, allowedEnvVars: ['TOKEN'] });
    const hooks = [
      asking({ 'X-Role': 'a' }),
      asking({ 'X-Role': 'b' }),
      asking({ Authorization: 'Bearer $TOKEN' }),
    ];
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks }] } });
    expect(await migrate('claude')).toMatchObject([{ added: 3, present: 0 }]);
    const settings = await hooksOf(join(cli.project, OURS));
    expect(settings.hooks.BeforeTool).toMatchObject([
      {
        hooks: [
          { name: 'policy.example', headers: { 'X-Role': 'a' } },
          { name: 'policy.example-2', headers: { 'X-Role': 'b' } },
          { name: 'policy.example-3', tokenVariable: 'TOKEN' },
        ],
      },
    ]);
    expect(await migrate('claude')).toMatchObject([{ changed: false, added: 0, present: 3 }]);

    // Copied by hand, in the words of Claude Code.
    await cli.write(OURS, { hooks: { PreToolUse: [{ dialect: 'claude', hooks }] } });
    expect(await migrate('claude')).toMatchObject([{ added: 0, present: 3 }]);
  });

  it('says of a hook that is asked over HTTP on another machine that it never is', async () => {
    const hooks = [
      { type: 'agent' },
      { type: 'http', url: 'http://127.0.0.1:8787/v1/claude' },
      { type: 'http', url: 'http://policy.example/v1/claude' },
    ];
    await cli.write('.claude/settings.json', {
      hooks: { PreToolUse: [{ hooks }], PostToolUse: [{ hooks: hooks.slice(2) }] },
    });
    const [move] = await migrate('claude');
    expect(move?.added).toBe(3);
    const message = expect.stringMatching(/^the hook cannot be asked: .*use https:\/\/$/);
    expect(move?.remarks.filter(({ path }) => path.endsWith('url'))).toMatchObject([
      { path: 'hooks.PreToolUse[0].hooks[2].url', kind: 'lost', message },
      { path: 'hooks.PostToolUse[0].hooks[0].url', message },
    ]);
  });

  it('leaves what was changed here since, and what says that hooks are off', async () => {
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [guard] }] } });
    const changed = { ...guard, timeout: 3, name: 'guard' };
    const before = await cli.write(OURS, {
      enableHooks: false,
      hooks: { PreToolUse: [{ dialect: 'claude', hooks: [changed] }] },
    });
    const text = await readFile(before, 'utf8');
    expect(await migrate('claude')).toMatchObject([{ added: 0, present: 1 }]);
    expect(await cli.read(OURS)).toBe(text);
  });

  it('lists, with its line, everything that it could not carry over', async () => {
    const file = await cli.write(
      '.claude/settings.json',
      `{
  "permissions": { "deny": ["Read(./.env)"] },
  "env": { "A": "1" },
  "hooks": {
    "TeammateIdle": [{ "hooks": [{ "type": "command", "command": "a" }] }],
    "PreToolUse": [
      { "hooks": [
        { "type": "agent", "prompt": "Fine?" },
        { "type": "command", "command": "b", "if": "Agent(Explore)" },
        { "type": "command", "command": "c", "async": true },
        { "type": "command" }
      ] },
      "not a group"
    ],
    "PostToolUse": [{ "hooks": [{ "type": "command", "command": "d", "async": true }] }],
    "Stop": {}
  },
  "disableAllHooks": true
}
`,
    );
    const [move] = await migrate('claude');
    expect(move?.added).toBe(2);
    expect(move?.remarks.map(({ line, path }) => [line, path])).toEqual([
      [2, 'permissions'],
      [8, 'hooks.PreToolUse[0].hooks[0].type'],
      [9, 'hooks.PreToolUse[0].hooks[1].if'],
      [3, 'env'],
      [5, 'hooks.TeammateIdle'],
      [11, 'hooks.PreToolUse[0].hooks[3].command'],
      [13, 'hooks.PreToolUse[1]'],
      [16, 'hooks.Stop'],
      [18, 'disableAllHooks'],
    ]);
    const settings = await hooksOf(join(cli.project, OURS));
    expect(move?.remarks.filter(({ kind }) => kind === 'lost')).toHaveLength(3);
    expect(settings.enableHooks).toBe(false);
    const theirs = { dialect: 'claude', hooks: [{ command: 'c', async: true }] };
    expect(settings.hooks.BeforeTool).toMatchObject([theirs]);
    expect(settings.hooks.AfterTool).toMatchObject([{ hooks: [{ command: 'd', async: true }] }]);

    const { stdout } = await cli.run(['migrate', '--from', 'claude']);
    expect(stdout).toContain(
      `${file}:8:11: hooks.PreToolUse[0].hooks[0].type: the hook is left out: a hook of the type 'agent'`,
    );
  });

  it('lets nothing vanish without a word', async () => {
    const command = { type: 'command', command: 'x' };
    await cli.write('.claude/settings.json', {
      enabledPlugins: { 'a@b': true },
      hooks: {
        PreToolUse: [
          { hooks: [] },
          { hooks: [{ type: 'command', command: '$CLAUDE_PLUGIN_ROOT/x' }] },
        ],
        PostToolUse: [],
        SessionStart: [{ matcher: 'startup|compact', hooks: [command] }],
      },
    });
    const [move] = await migrate('claude');
    expect(move?.added).toBe(1);
    expect(move?.remarks.map(({ path, message }) => [path, message])).toEqual([
      [
        'hooks.PreToolUse[1].hooks[0].command',
        expect.stringMatching(/left out.*CLAUDE_PLUGIN_ROOT.*plugins only/),
      ],
      ['enabledPlugins', expect.stringContaining('hooks of plugins')],
      ['hooks.PreToolUse[0].hooks', expect.stringContaining('holds no hook')],
      ['hooks.PostToolUse', expect.stringContaining('holds no hook')],
      ['hooks.SessionStart[0].matcher', expect.stringContaining('compact, which never comes here')],
    ]);
    const { stdout } = await cli.run(['migrate', '--from', 'claude']);
    expect(stdout).toContain('Not looked at: managed settings, and hooks of installed plugins');

    await cli.write('.gemini/settings.json', {
      hooksConfig: { notifications: false, unknown: 1 },
      hooks: { notifications: true },
    });
    const [gemini] = await migrate('gemini');
    expect(gemini?.remarks.map(({ path }) => path).toSorted()).toEqual([
      'hooks.notifications',
      'hooksConfig.notifications',
      'hooksConfig.unknown',
    ]);
  });

  it('takes over programs with arguments, and tells them apart by those', async () => {
    const guards = ['a.sh', 'b.sh'].map((file) => ({
      type: 'command',
      command: 'bash',
      args: [`\${CLAUDE_PROJECT_DIR}/${file}`],
    }));
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: guards }] } });
    expect(await migrate('claude')).toMatchObject([{ added: 2, remarks: [] }]);
    expect(await migrate('claude')).toMatchObject([{ added: 0, present: 2 }]);
    const { hooks } = await hooksOf(join(cli.project, OURS));
    expect(hooks.BeforeTool).toMatchObject([{ hooks: guards }]);
  });

  it('reads the settings of the user where CLAUDE_CONFIG_DIR says', async () => {
    const folder = join(cli.home, 'elsewhere');
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'date' }] }] };
    await cli.write(join(folder, 'settings.json'), { hooks });
    const env = { CLAUDE_CONFIG_DIR: folder };
    const { stdout } = await cli.run(['migrate', '--from', 'claude', '--scope', 'user'], { env });
    expect(stdout).toContain(`1 hook added, 0 there already (from ${folder}/settings.json)`);
  });

  it('takes over names, switches and units of Gemini CLI', async () => {
    await cli.write('.gemini/settings.json', {
      hooksConfig: { enabled: true, disabled: ['noisy'] },
      hooks: {
        BeforeTool: [
          {
            matcher: 'write_file',
            sequential: true,
            hooks: [
              { name: 'scan', type: 'command', command: 'scan', description: 'd', timeout: 5000 },
            ],
          },
        ],
        disabled: ['old'],
      },
    });
    await cli.write(OURS, { disabledHooks: ['mine', 'old'] });
    expect(await migrate('gemini')).toMatchObject([{ added: 1, remarks: [] }]);
    const settings = await hooksOf(join(cli.project, OURS));
    expect(settings.disabledHooks).toEqual(['mine', 'old', 'noisy']);
    expect(settings.hooks.BeforeTool).toMatchObject([
      { dialect: 'gemini', matcher: 'write_file', sequential: true, hooks: [{ timeout: 5000 }] },
    ]);
  });

  it('shows a diff with --dry-run, and writes nothing', async () => {
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [guard] }] } });
    const { exitCode, stdout } = await cli.run(['migrate', '--from', 'claude', '--dry-run']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('1 hook to be added, 0 there already');
    expect(stdout).toMatch(/^\+ {2}"enableHooks": true,$/m);
    expect(stdout).toMatch(/^\+ +"dialect": "claude",$/m);
    await expect(cli.read(OURS)).rejects.toThrow('ENOENT');
  });

  it('says where it has looked when there is nothing', async () => {
    const { exitCode, stdout } = await cli.run(['migrate', '--from', 'gemini']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(join(cli.project, '.gemini/settings.json'));
  });

  it.each([
    ['.claude/settings.json', '{ "hooks": ', 'not valid JSON'],
    ['.claude/settings.json', '[]', 'expected an object'],
    [OURS, '{,}', 'not valid JSON'],
  ])('refuses %s that is %s', async (file, text, says) => {
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [guard] }] } });
    await cli.write(file, text);
    const { exitCode, stdout, stderr } = await cli.run(['migrate', '--from', 'claude']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(join(cli.project, file));
    expect(stderr).toContain(says);
    expect(await cli.read(file)).toBe(text);
  });

  it('tells of lost guards first, and of what has nothing to do with hooks in one line', async () => {
    await cli.write('.claude/settings.json', {
      model: 'x',
      env: { A: '1' },
      theme: 'dark',
      hooks: {
        PreToolUse: [{ hooks: [{ type: 'agent', prompt: 'Fine?' }, guard] }],
        PostToolUse: [{ hooks: [{ type: 'agent', prompt: 'Fine?' }] }],
      },
    });
    const args = ['migrate', '--from', 'claude'];
    const { stdout } = await cli.run(args, { env: { FORCE_COLOR: '1' } });
    const [first, second] = stdout.split('\n');
    expect(first).toBe('\u001B[31mLost guards: what they stop there is not stopped here\u001B[39m');
    expect(second).toContain('hooks.PreToolUse[0].hooks[0].type: the hook is left out');
    const rest = stdout.slice(stdout.indexOf('Not carried over'));
    expect(rest).toContain('hooks.PostToolUse[0].hooks[0].type');
    expect(rest).not.toContain('PreToolUse[0]');
    expect(stdout).toContain('\nNothing to do with hooks: model, theme.\n');
  });

  it.each([
    ['claude', '.claude/settings.json', { permissions: { allow: ['Read'] } }, 'other'],
    ['claude', '.claude/settings.json', { permissions: { ask: ['Read'] } }, 'lost'],
    ['gemini', '.gemini/settings.json', { excludeTools: ['x'] }, 'lost'],
    ['gemini', '.gemini/settings.json', { tools: { exclude: ['x'] } }, 'lost'],
    ['gemini', '.gemini/settings.json', { tools: { sandbox: true } }, 'other'],
  ])('knows what else forbids tools: %s %s %j is %s', async (from, file, settings, kind) => {
    await cli.write(file, settings);
    expect(await migrate(from)).toMatchObject([{ remarks: [{ kind }] }]);
  });

  it('names hooks by their scripts, and other commands otherwise', async () => {
    const commands = [
      '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh',
      'python3 "$CLAUDE_PROJECT_DIR/.claude/hooks/check_paths.py" --strict',
      '"$CLAUDE_PROJECT_DIR"/other/guard.sh',
      '"$CLAUDE_PROJECT_DIR"/.claude/hooks/audit',
      `jq -r '.tool_input.file_path // empty' | { read -r f; ${'true; '.repeat(80)} }`,
      'A=1 npx prettier --check .',
      '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh',
      '{ :; }',
    ];
    const groups = commands.map((command, index) => ({
      matcher: `${index}`,
      hooks: [{ type: 'command', command }],
    }));
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: groups } });
    await migrate('claude');
    const { hooks } = await hooksOf(join(cli.project, OURS));
    const names = hooks.BeforeTool?.flatMap((group) => group.hooks.map(({ name }) => name));
    expect(names).toEqual([
      'guard',
      'check_paths',
      'guard-2',
      'audit',
      'jq',
      'prettier',
      'guard',
      'hook',
    ]);
  });

  it('gives no name that another hook has, nor to one that is disabled by its command', async () => {
    await cli.write('.gemini/settings.json', {
      hooks: {
        BeforeTool: [
          { hooks: [{ type: 'command', command: './a.sh' }] },
          { hooks: [{ type: 'command', name: 'a', command: 'named' }] },
          { hooks: [{ type: 'command', command: './off.sh' }] },
        ],
        disabled: ['./off.sh'],
      },
    });
    await cli.write(OURS, {
      hooks: { AfterTool: [{ hooks: [{ type: 'command', name: 'a-2', command: 'ours' }] }] },
    });
    await migrate('gemini');
    const { hooks } = await hooksOf(join(cli.project, OURS));
    expect(hooks.BeforeTool?.map((group) => group.hooks[0]?.name)).toEqual(['a-3', 'a', undefined]);
  });

  it('leaves what is one person’s out of the file for everybody, and says how to take it over', async () => {
    await cli.write('.claude/settings.local.json', {
      permissions: { deny: ['Read(./.env)'] },
      hooks: { PreToolUse: [{ hooks: [guard] }] },
    });
    const [move] = await migrate('claude');
    expect(move).toMatchObject({
      changed: false,
      remarks: [
        { kind: 'lost', message: expect.stringMatching(/^1 hook is yours.*--scope local$/u) },
        { kind: 'lost', path: 'permissions' },
      ],
    });
    await expect(cli.read(OURS)).rejects.toThrow('ENOENT');
  });

  it('takes over the user’s settings only when it is told to', async () => {
    const theirs = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'date' }] }] } };
    await cli.write(join(cli.home, '.claude/settings.json'), theirs);
    const ours = join(cli.home, OURS);
    const { stdout } = await cli.run(['migrate', '--from', 'claude']);
    expect(stdout).toContain('your own settings, which --scope user takes over');
    await expect(readFile(ours)).rejects.toThrow('ENOENT');
    expect(await migrate('claude', '--scope', 'user')).toMatchObject([{ target: ours, added: 1 }]);
    const atHome = await cli.run(['migrate', '--from', 'claude'], { cwd: cli.home });
    expect(atHome).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--scope user') });
  });

  it('takes over conditions as "when", and tells that', async () => {
    const file = await cli.write(
      '.claude/settings.json',
      `{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [
  { "type": "command", "command": "a", "if": "Bash(git commit*)" },
  { "type": "command", "command": "b" }
] }] } }
`,
    );
    const [move] = await migrate('claude');
    expect(move?.remarks).toEqual([
      {
        file,
        line: 2,
        column: 40,
        path: 'hooks.PreToolUse[0].hooks[0].if',
        message: expect.stringMatching(/^becomes "when", .* looks further: /),
        kind: 'changed',
      },
    ]);
    const { hooks } = await hooksOf(join(cli.project, OURS));
    expect(hooks.BeforeTool).toEqual([
      expect.objectContaining({
        matcher: 'Bash',
        dialect: 'claude',
        hooks: [
          expect.objectContaining({ command: 'a', when: ['Bash(git commit* *)'] }),
          expect.not.objectContaining({ when: expect.anything() }),
        ],
      }),
    ]);
  });

  it('takes over a hook that was written without its group', async () => {
    await cli.write('.claude/settings.json', {
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', command: 'a', if: 'Bash(' },
          { matcher: 'Read', command: 'b' },
        ],
      },
    });
    const [move] = await migrate('claude');
    expect(move?.remarks.map(({ path }) => path)).toEqual([
      'hooks.PreToolUse[0].if',
      'hooks.PreToolUse[0]',
      'hooks.PreToolUse[1]',
    ]);
    expect((await hooksOf(join(cli.project, OURS))).hooks.BeforeTool).toMatchObject([
      { matcher: 'Read', dialect: 'claude', hooks: [{ type: 'command', command: 'b' }] },
    ]);
  });

  it('ends with what to run next, which then works', async () => {
    await cli.write('.claude/hooks/guard.sh', 'cat > /dev/null\n');
    const hook = { ...guard, command: `bash ${guard.command}` };
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [hook] }] } });
    const { stdout } = await cli.run(['migrate', '--from', 'claude', '--dry-run']);
    expect(stdout).toMatch(/Run next:\n {2}hookstack migrate --from claude$/u);
    const made = await cli.run(['migrate', '--from', 'claude']);
    const commands = made.stdout.match(/(?<=^ {2}hookstack ).*/gmu) ?? [];
    expect(commands).toEqual([
      'trust',
      'doctor',
      "fire BeforeTool --tool write_file --record '.llxprt/tests/first.hooktest.json'",
      'test',
    ]);
    expect(await cli.run(['trust', '--yes'])).toMatchObject({ exitCode: 0 });
    for (const command of commands.slice(1)) {
      const words = command.replaceAll("'", '').split(' ');
      expect(await cli.run(words)).toMatchObject({ exitCode: 0 });
    }
    const again = await cli.run(['migrate', '--from', 'claude', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({
      next: ['hookstack doctor', 'hookstack test'],
    });
  });

  it('says of a hook whose files nobody can know how it is allowed', async () => {
    const hook = { type: 'command', command: 'npm run guard' };
    await cli.write('.claude/hooks/x.sh', 'exit 2');
    await cli.write('.claude/settings.json', {
      hooks: { PreToolUse: [{ hooks: [hook, { ...hook, command: 'sh .claude/hooks/x.sh' }] }] },
    });
    const { stdout } = await cli.run(['migrate', '--from', 'claude']);
    expect(stdout).toContain(
      'Not allowed yet: 2 hooks. To see and allow, run: hookstack trust; of these, 1 hook can be',
    );
    expect(stdout).toContain('hookstack trust --open');
    const asked = await cli.run(['trust']);
    expect(asked.stderr).toContain(
      'hookstack trust --yes, or with what is open: hookstack trust --open',
    );
    expect(await cli.run(['trust', '--open'])).toMatchObject({ exitCode: 0 });
    const again = await cli.run(['migrate', '--from', 'claude']);
    expect(again.stdout).not.toContain('Not allowed yet');
  });

  it('tells of hooks of a plugin that it cannot take over, and then ends with exit code 1', async () => {
    const hook = { type: 'command', command: '${CLAUDE_PLUGIN_ROOT}/../../guard.sh' };
    await cli.write('hooks/hooks.json', { hooks: { PreToolUse: [{ hooks: [hook] }] } });
    const { exitCode, stdout } = await cli.run(['migrate', '--from', 'claude']);
    expect(stdout).toContain(
      `Lost guards: what they stop there is not stopped here\n${cli.project}`,
    );
    expect(stdout).toContain('hooks/hooks.json:1:1: hooks: hooks of a plugin or an extension are');
    expect(stdout).toContain('No hook is taken over.');
    expect(stdout).not.toContain('There are no settings');
    expect(exitCode).toBe(1);
  });

  it.each([
    ['a plugin is on', { 'a@b': true }, 1],
    ['each plugin is off', { 'a@b': false }, 0],
  ])('exits with the code of nothing done where only %s', async (_, enabledPlugins, exitCode) => {
    await cli.write('.claude/settings.json', { enabledPlugins });
    const migrated = await cli.run(['migrate', '--from', 'claude']);
    expect(migrated.exitCode).toBe(exitCode);
    expect(migrated.stdout.includes('No hook is taken over.')).toBe(exitCode === 1);
    expect(migrated.stdout.includes('hooks of plugins are not carried over')).toBe(exitCode === 1);
  });

  it('takes over hooks of a plugin beside others, and tells of what it cannot read', async () => {
    await cli.write('plugins/a/hooks/hooks.json', { hooks: { SessionEnd: [{ hooks: [guard] }] } });
    await cli.write('plugins/b/hooks/hooks.json', '{');
    await cli.write('plugins/c/hooks/hooks.json', { hooks: {} });
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [guard] }] } });
    const [{ added, remarks } = { added: 0, remarks: [] }] = await migrate('claude');
    expect(added).toBe(2);
    expect(remarks).toMatchObject([
      { file: join(cli.project, 'plugins/b/hooks/hooks.json'), kind: 'lost' },
    ]);
  });

  it.each([
    { event: 'PreToolUse', matcher: 'Bash', next: 'BeforeTool --tool run_shell_command' },
    { event: 'PreToolUse', matcher: 'mcp__x__y', next: undefined },
    { event: 'Stop', matcher: undefined, next: 'AfterAgent' },
    { event: 'PermissionRequest', matcher: undefined, next: undefined },
  ])('names an event that a hook of $event of $matcher waits for', async (row) => {
    const { event, matcher, next } = row;
    await cli.write('.claude/settings.json', { hooks: { [event]: [{ matcher, hooks: [guard] }] } });
    const { stdout } = await cli.run(['migrate', '--from', 'claude']);
    expect(stdout.match(/(?<=^ {2}hookstack fire ).*(?= --record)/mu)?.[0]).toBe(next);
  });

  it('names both commands where nobody says whose hooks to take over', async () => {
    const { exitCode, stderr } = await cli.run(['migrate', '--dry-run']);
    expect(stderr).toContain('hookstack migrate --from AGENT (claude, gemini, codex,');
    expect(exitCode).toBe(2);
  });

  it('finds the settings of another agent from a folder below', async () => {
    await cli.write('.claude/settings.json', { hooks: { PreToolUse: [{ hooks: [guard] }] } });
    await cli.write('src/file', '');
    const { stdout, stderr } = await cli.run(['migrate', '--from', 'claude', '--cwd', 'src']);
    expect(stderr).toContain(`${cli.project}, the nearest folder above with .claude/settings.json`);
    expect(stdout).toContain(`${join(cli.project, OURS)}: 1 hook added`);
    expect(stdout).toContain("hookstack trust --cwd 'src'");
  });

  it('names a hook whose command is one long word in no time, and shows what a terminal would hide', async () => {
    const command = `rm\u202E x; ${'w.'.repeat(100_000)}`;
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command }] }] };
    await cli.write('.claude/settings.json', { hooks });
    const args = ['migrate', '--from', 'claude', '--dry-run'];
    const { stdout } = await cli.runProgram(args, { timeout: 5000 });
    expect(stdout).toContain(String.raw`"command": "rm\u202e x; w.w.`);
  });

  it('has to know from whom', async () => {
    expect(await cli.run(['migrate'])).toMatchObject({ exitCode: 2 });
    expect(await cli.run(['migrate', '--from', 'nobody'])).toMatchObject({ exitCode: 2 });
  });
});
