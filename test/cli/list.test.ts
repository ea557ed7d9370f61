import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

async function listJson(...args: string[]) {
  const { exitCode, stdout, stderr } = await cli.run(['list', '--json', ...args]);
  expect(exitCode).toBe(0);
  const listing = JSON.parse(stdout) as { enableHooks: boolean; hooks: object[] };
  return { ...listing, stderr };
}

const neverAllowed = 'untrusted: it has not been allowed yet; to see and allow it: hookstack trust';

describe('list', () => {
  it('says that there is nothing', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['list']);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout:
        'Hooks are off: no settings file that counts says "enableHooks": true. None is configured.',
      stderr: '',
    });
    expect(await listJson()).toEqual({ enableHooks: false, hooks: [], stderr: '' });
  });

  it('says which hooks are persistent, and what of that is not as usual', async () => {
    await cli.userSettings({
      BeforeTool: [
        ...group('a.sh', { name: 'plain', persistent: false }),
        ...group('b.sh', { name: 'usual', persistent: true }),
        ...group('c.sh', { name: 'many', persistent: { processes: 4, maxMemory: 1024 } }),
      ],
    });
    const { hooks } = await listJson();
    expect(hooks).toMatchObject([
      { hook: 'plain', persistent: null },
      { hook: 'usual', persistent: { processes: 1, maxMemory: 512 } },
      { hook: 'many', persistent: { processes: 4, maxMemory: 1024 } },
    ]);
    const { stdout } = await cli.run(['list']);
    expect(stdout.split('\n').filter((line) => line.includes('matcher:'))).toEqual([
      '    matcher: all, timeout: 60000 ms',
      '    matcher: all, timeout: 60000 ms, persistent',
      '    matcher: all, timeout: 60000 ms, persistent (4 processes, 1024 MB)',
    ]);
  });

  it('tells everything of each hook, by event', async () => {
    const user = await cli.userSettings({
      AfterTool: group('log.sh'),
      BeforeTool: group('guard.sh', {
        name: 'guard',
        matcher: 'write_.*',
        sequential: true,
        timeout: 5000,
      }),
    });
    expect(await listJson()).toEqual({
      enableHooks: true,
      hooks: [
        {
          event: 'BeforeTool',
          hook: 'guard',
          args: null,
          command: 'guard.sh',
          source: 'user',
          file: user,
          extension: null,
          matcher: 'write_.*',
          verdict: null,
          when: [],
          sequential: true,
          dialect: null,
          moment: null,
          timeoutMs: 5000,
          async: null,
          persistent: null,
          class: null,
          enabled: true,
          reason: null,
          duplicateOf: null,
        },
        {
          event: 'AfterTool',
          hook: 'log.sh',
          args: null,
          command: 'log.sh',
          source: 'user',
          file: user,
          extension: null,
          matcher: null,
          verdict: null,
          when: [],
          sequential: false,
          dialect: null,
          moment: null,
          timeoutMs: 60_000,
          async: null,
          persistent: null,
          class: null,
          enabled: true,
          reason: null,
          duplicateOf: null,
        },
      ],
      stderr: '',
    });

    const { stdout } = await cli.run(['list']);
    expect(stdout).toBe(`Hooks are on.

BeforeTool
  guard [active]
    command: guard.sh
    source: user ${user}
    matcher: "write_.*", timeout: 5000 ms, sequential

AfterTool
  log.sh [active]
    source: user ${user}
    matcher: all, timeout: 60000 ms`);
  });

  it('tells the dialect, and the timeout in ms', async () => {
    const [theirs] = group('theirs.sh', { timeout: 5 });
    await cli.userSettings({
      PreToolUse: [{ ...theirs, dialect: 'claude', hooks: theirs?.hooks ?? [] }],
    });
    const { hooks } = await listJson();
    expect(hooks).toMatchObject([{ event: 'BeforeTool', dialect: 'claude', timeoutMs: 5000 }]);
    expect((await cli.run(['list'])).stdout).toContain('timeout: 5000 ms, dialect: claude');
  });

  it('writes a program and its arguments as one would type them', async () => {
    const args = ['${CLAUDE_PROJECT_DIR}/guard.sh', '$HOME', "it's", ''];
    await cli.userSettings({
      PreToolUse: [{ dialect: 'claude', hooks: [{ type: 'command', command: 'bash', args }] }],
      BeforeTool: group('bash', { name: 'named', args: ['x y.sh'] }),
    });
    const written = `bash \${CLAUDE_PROJECT_DIR}/guard.sh '$HOME' 'it'\\''s' ''`;
    const { hooks } = await listJson();
    expect(hooks).toMatchObject([
      { hook: written, command: 'bash', args, timeoutMs: 600_000 },
      { hook: 'named', args: ['x y.sh'] },
    ]);
    const { stdout } = await cli.run(['list']);
    expect(stdout).toContain(`  ${written} [active]\n`);
    expect(stdout).toContain(`    command: bash 'x y.sh'\n`);
  });

  it('tells why a hook would not run', async () => {
    await cli.projectSettings({ BeforeTool: group('theirs') });
    const user = await cli.userSettings(
      {
        BeforeTool: [
          ...group('mine', { name: 'off' }),
          ...group('', { name: 'plug', type: 'plugin' }),
        ],
      },
      { disabledHooks: ['off'] },
    );
    const { hooks, stderr } = await listJson();
    expect(hooks).toMatchObject([
      { hook: 'theirs', source: 'project', enabled: false, reason: neverAllowed },
      {
        hook: 'off',
        source: 'user',
        enabled: false,
        reason: `disabled by name in ${user}; to switch it on: hookstack enable off`,
      },
      { hook: 'plug', source: 'user', enabled: false, reason: 'type plugin cannot be run' },
    ]);
    expect(stderr).toBe(
      'warning: 1 hook of this project skipped until you allow it; to see and allow it, run in the project: hookstack trust',
    );
    const { stdout } = await cli.run(['list']);
    expect(stdout).toContain(`theirs [not run: ${neverAllowed}]`);
  });

  it('tells that hooks are off', async () => {
    const user = await cli.userSettings({ BeforeTool: group('mine') }, { enableHooks: false });
    const { enableHooks, hooks } = await listJson();
    expect(enableHooks).toBe(false);
    expect(hooks).toMatchObject([{ enabled: false, reason: 'hooks are off' }]);
    const { stdout } = await cli.run(['list']);
    expect(stdout).toContain(`Hooks are off: enableHooks is false in ${user}.\n`);
  });

  it('tells how often each hook has run, by a trace', async () => {
    await cli.userSettings({
      BeforeTool: [
        ...group('exit 2', { name: 'guard' }),
        ...group('true', { name: 'idle', matcher: '^read_' }),
      ],
    });
    const traced = ['--trace', 'trace.jsonl'];
    await cli.run(['fire', 'BeforeTool', '--repeat', '2', ...traced]);
    const { hooks } = await listJson(...traced);
    expect(hooks).toMatchObject([
      { hook: 'guard', fired: 2, lastVerdict: 'block' },
      { hook: 'idle', fired: 0, lastVerdict: null },
    ]);
    const { stdout } = await cli.run(['list'], { env: { HOOKSTACK_TRACE: 'trace.jsonl' } });
    expect(stdout).toContain('fired 2 times, last verdict: block');
    expect(stdout).toContain('not fired in the trace');
    const missing = await cli.run(['list', '--trace', 'missing.jsonl']);
    expect(missing).toMatchObject({ exitCode: 0, stderr: 'note: missing.jsonl is not there yet' });
    await symlink('loop', path.join(cli.project, 'loop'));
    for (const unreadable of ['.', 'loop', 'trace.jsonl/in-a-file']) {
      const refused = await cli.run(['list', '--trace', unreadable]);
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    }
  });

  it('trusts the project with --trust, and with the environment variable', async () => {
    await cli.projectSettings({ BeforeTool: group('theirs') });
    const { hooks, stderr } = await listJson('--trust');
    expect(hooks).toMatchObject([{ enabled: true, reason: null }]);
    expect(stderr).toBe('');
    const byEnvironment = await cli.run(['list'], { env: { HOOKSTACK_TRUST_WORKSPACE: 'true' } });
    expect(byEnvironment.stdout).toContain('theirs [active]');
  });

  it('looks at the project of --cwd', async () => {
    const file = await cli.write('sub/.llxprt/settings.json', {
      enableHooks: true,
      hooks: { BeforeTool: group('theirs') },
    });
    const { hooks } = await listJson('--cwd', 'sub');
    expect(hooks).toMatchObject([{ file }]);
  });

  it('looks only at the file of --settings', async () => {
    await cli.userSettings({ BeforeTool: group('mine') });
    const file = await cli.settings({ BeforeAgent: group('named') });
    const { hooks } = await listJson('--settings', file);
    expect(hooks).toMatchObject([{ hook: 'named', source: 'file', file, enabled: true }]);
    expect(hooks).toHaveLength(1);
  });

  it('lists the hooks of extensions, and imports none of their modules', async () => {
    const middleware = [{ module: './mw.mjs', stack: 'tool' }];
    const files = { 'mw.mjs': 'process.stderr.write("imported")' };
    const theirs = await cli.extension('project', 'theirs', { hooks: { BeforeTool: group('a') } });
    const mine = await cli.extension(
      'user',
      'mine',
      { hooks: { BeforeTool: group('a') }, middleware },
      files,
    );
    await cli.userSettings({});
    const { hooks, stderr } = await listJson();
    expect(hooks).toMatchObject([
      { source: 'extension', extension: 'theirs', file: theirs, reason: neverAllowed },
      { source: 'extension', extension: 'mine', file: mine, reason: null, duplicateOf: null },
    ]);
    expect(stderr).toMatch(/^warning: 1 hook of this project skipped.*$/u);
    const { stdout } = await cli.run(['list']);
    expect(stdout).toContain(`source: extension mine ${mine}`);
  });

  it('leaves extensions out where a file is named', async () => {
    await cli.extension('user', 'mine', { hooks: { BeforeTool: group('a') } });
    const { hooks } = await listJson('--settings', await cli.settings({}));
    expect(hooks).toEqual([]);
  });

  it('shows control characters of a settings file nowhere', async () => {
    await cli.userSettings({
      BeforeTool: group('echo \u001b]0;x\u0007\u001b[2Jhi', { name: '\u009bx' }),
    });
    const { stdout } = await cli.run(['list']);
    expect(stdout).toContain(String.raw`command: echo \x1b]0;x\x07\x1b[2Jhi`);
    expect(stdout).toMatch(/^[\P{Cc}\n]+$/u);
  });

  it('warns of what is wrong in a default file, one line each', async () => {
    const user = await cli.userSettings({ BeforTool: group('mine'), AfterTool: group('', {}) });
    const { hooks, stderr } = await listJson();
    expect(hooks).toEqual([]);
    const lines = stderr.split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^warning: .*:1:\d+: hooks\.BeforTool: .*did you mean 'BeforeTool'\?/u,
    );
    expect(stderr).toContain(user);
  });

  it('warns of a default file that is not JSON', async () => {
    const user = await cli.write(`${cli.home}/.llxprt/settings.json`, '{');
    const { exitCode, stdout, stderr } = await cli.run(['list', '--json']);
    expect({ exitCode, hooks: JSON.parse(stdout).hooks }).toEqual({ exitCode: 2, hooks: [] });
    expect(stderr).toMatch(/^warning: .*:1:2: not valid JSON/u);
    expect(stderr).toContain(user);
  });

  it.each([
    { what: 'is missing', content: undefined, says: /there is no such file/u },
    { what: 'is not JSON', content: '{', says: /not valid JSON/u },
  ])('refuses a file of --settings that $what', async ({ content, says }) => {
    if (content !== undefined) await cli.write('named.json', content);
    const { exitCode, stdout, stderr } = await cli.run(['list', '--settings', 'named.json']);
    expect(stderr).toMatch(says);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  it('refuses a --cwd that is missing, or no directory', async () => {
    await cli.write('file', '');
    const missing = await cli.run(['list', '--cwd', 'missing']);
    expect(missing).toMatchObject({ exitCode: 2, stdout: '' });
    expect(missing.stderr).toContain('--cwd missing cannot be used (ENOENT');
    const file = await cli.run(['list', '--cwd', 'file']);
    expect(file).toMatchObject({
      exitCode: 2,
      stderr: 'error: --cwd file is not a directory; name one',
    });
  });
});
