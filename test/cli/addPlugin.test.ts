import { existsSync } from 'node:fs';
import {
  chmod,
  mkdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Cli } from './helpers.js';

const cli = new Cli();

/** Denies what has the word, and says where its folders are. */
const GUARD = `#!/bin/sh
input=$(cat)
echo seen >> "$CLAUDE_PLUGIN_DATA/log"
case $input in
*forbidden*) echo "no, says $CLAUDE_PLUGIN_ROOT with $LLXPRT_PLUGIN_DATA" >&2; exit 2 ;;
esac
`;

const HOOKS = {
  description: 'a guard',
  hooks: {
    PreToolUse: [
      {
        matcher: 'Bash',
        hooks: [{ type: 'command', command: '${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh', timeout: 5 }],
      },
    ],
  },
};

let root = '';
const extension = () => join(cli.home, '.llxprt/extensions/word-guard');
const data = () => join(cli.home, '.llxprt/plugin-data/word-guard');

async function write(files: Record<string, string | object>, folder = root): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    if (name.endsWith('.sh')) await chmod(file, 0o755);
  }
}

beforeEach(async () => {
  root = join(cli.home, 'word guard');
  await write({
    '.claude-plugin/plugin.json': { name: 'word-guard', version: '1.2.0' },
    'hooks/hooks.json': HOOKS,
    'scripts/guard.sh': GUARD,
  });
});

function fire(command: string) {
  const input = JSON.stringify({ command });
  return cli.run(['fire', 'BeforeTool', '--tool', 'run_shell_command', '--input', input]);
}

describe('hookstack add of a plugin', () => {
  it('takes its hooks over, which find its root and its private data folder', async () => {
    const added = await cli.run(['add', root, '--yes']);
    expect(added).toMatchObject({ exitCode: 0, stderr: '' });
    expect(added.stdout).toContain('word-guard 1.2.0 from');
    expect(added.stdout).toContain('${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh');
    expect((await stat(data())).mode & 0o777).toBe(0o700);

    const denied = await fire('echo forbidden');
    expect(denied.exitCode).toBe(2);
    expect(denied.stdout).toContain(`no, says ${extension()}/plugin with ${data()}`);
    expect(await fire('echo fine')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await readFile(join(data(), 'log'), 'utf8')).toBe('seen\nseen\n');
    const listed = await cli.run(['list', '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject({
      enableHooks: true,
      hooks: [{ event: 'BeforeTool', hook: 'guard', extension: 'word-guard', dialect: 'claude' }],
    });
  });

  it('gives its folders to a program without a shell, and quotes them in a command', async () => {
    const touch = { type: 'command', command: 'touch', args: ['${CLAUDE_PLUGIN_DATA}/$(id)'] };
    const echo = { type: 'command', command: 'echo $CLAUDE_PLUGIN_ROOT >&2; exit 2' };
    await write({ 'hooks/hooks.json': { hooks: { PreToolUse: [{ hooks: [touch, echo] }] } } });
    await cli.run(['add', root, '--yes']);
    const spaced = join(cli.home, '.llxprt/extensions/word-guard/plugin');
    expect((await fire('ls')).stdout).toContain(`blocked: ${spaced}`);
    expect(existsSync(join(data(), '$(id)'))).toBe(true);
  });

  it('adds nothing where nobody can be asked, or the answer is no', async () => {
    const added = await cli.run(['add', root]);
    expect(added.exitCode).toBe(1);
    expect(added.stdout).toContain('${CLAUDE_PLUGIN_ROOT}/scripts/guard.sh');
    expect(added.stderr).toContain('nobody can be asked here');
    const shown = await cli.run(['add', root, '--dry-run', '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ added: false, dryRun: true, status: 'new' });
    const asked = await cli.onTerminal(`add '${root}'`, 's\n', 'q\n');
    expect(asked.shown).toContain('*forbidden*) echo');
    expect(asked.shown).toContain('Nothing is added.');
    expect(existsSync(join(cli.home, '.llxprt'))).toBe(false);
    await cli.onTerminal(`add '${root}'`, 'y\n');
    expect((await fire('echo forbidden')).exitCode).toBe(2);
  });

  it('runs what was shown, whatever becomes of the folder, and asks again for a change', async () => {
    await cli.run(['add', root, '--yes']);
    await write({ 'scripts/guard.sh': `${GUARD}exit 0 # weaker\n`, 'new.txt': 'x' });
    expect((await fire('echo forbidden')).exitCode).toBe(2);

    const asked = await cli.run(['add', root]);
    expect(asked.exitCode).toBe(1);
    expect(asked.stdout).toContain('It differs from what you have added:');
    expect(asked.stdout).toContain('~ scripts/guard.sh');
    expect(asked.stdout).toContain('+ new.txt');
    expect(await readFile(join(extension(), 'plugin/scripts/guard.sh'), 'utf8')).toBe(GUARD);

    expect(await cli.run(['add', root, '--yes'])).toMatchObject({ exitCode: 0, stderr: '' });
    const again = await cli.run(['add', root]);
    expect(again).toMatchObject({ exitCode: 0, stderr: '' });
    expect(again.stdout).toContain('is there already: nothing is changed');

    await writeFile(join(extension(), 'plugin/scripts/guard.sh'), 'exit 0\n');
    expect((await cli.run(['add', root])).stdout).toContain('~ scripts/guard.sh');
  });

  it('reads hooks that the manifest names or holds, each once', async () => {
    const [group] = HOOKS.hooks.PreToolUse;
    await write({
      '.claude-plugin/plugin.json': {
        name: 'word-guard',
        hooks: [
          './hooks/hooks.json',
          './more.json',
          { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
        ],
      },
      'more.json': { hooks: { PostToolUse: [group] } },
    });
    const shown = await cli.run(['add', root, '--dry-run', '--json']);
    expect(JSON.parse(shown.stdout).hooks.map(({ event }: { event: string }) => event)).toEqual([
      'BeforeTool',
      'AfterTool',
      'AfterAgent',
    ]);
  });

  it('names what cannot run here, with its place', async () => {
    const agent = { type: 'agent', prompt: 'judge' };
    await write({
      'hooks/hooks.json': {
        hooks: { PreToolUse: [...HOOKS.hooks.PreToolUse, { hooks: [agent] }], Setup: [] },
      },
    });
    const { stdout } = await cli.run(['add', root, '--yes']);
    expect(stdout).toMatch(
      /hooks\.json:\d+:\d+: hooks\.PreToolUse\[1\]\.hooks\[0\]\.type: .*'agent' cannot run here/u,
    );
    expect(stdout).toMatch(/hooks\.json:\d+:\d+: hooks\.Setup: this event/u);

    await write({ 'hooks/hooks.json': { hooks: { PreToolUse: [{ hooks: [agent] }] } } });
    const none = await cli.run(['add', root, '--yes']);
    expect(none.exitCode).toBe(1);
    expect(none.stderr).toContain('has no hook that can run here');
  });

  it('leaves an extension of the user that has the name', async () => {
    await write({ 'llxprt-extension.json': { name: 'word-guard' } }, extension());
    const added = await cli.run(['add', root, '--yes']);
    expect(added.exitCode).toBe(2);
    expect(added.stderr).toContain('is an extension of yours with the name of this plugin');
    expect(await readFile(join(extension(), 'llxprt-extension.json'), 'utf8')).toContain('name');

    await rename(extension(), join(dirname(extension()), 'z'));
    const other = await cli.run(['add', root, '--yes']);
    expect(other).toMatchObject({ exitCode: 2 });
    expect(other.stderr).toContain('/z is an extension of yours with the name of this plugin');
    expect(existsSync(extension())).toBe(false);
  });
});

describe('what hookstack add shows of a plugin', () => {
  const hook = {
    type: 'command',
    command: 'true',
    timeout: 7,
    env: { WORD: 'x\u202Ey' },
    async: true,
    onFailure: 'allow',
  };
  const group = { matcher: `Edit|${'W'.repeat(300)}|Bash`, hooks: [hook] };
  const ask = { type: 'mcp_tool', server: 's', tool: 't', input: { command: 'deep' } };

  it('is all that decides what runs, as for hooks of a project', async () => {
    await write({
      'hooks/hooks.json': {
        hooks: {
          PostToolUse: [group],
          PreToolUse: [{ hooks: [{ ...ask, if: 'Bash(git push *)' }] }],
        },
      },
      '.mcp.json': { mcpServers: { s: { command: 'serve', env: { WORD: 'y' } } } },
    });
    const { stdout } = await cli.run(['add', root, '--dry-run']);
    for (const line of [
      `matcher: "${group.matcher}"`,
      'timeout: 7',
      String.raw`env: {"WORD":"x\u202ey"}`,
      'async: true',
      'input: {"command":"deep"}',
      'when: ["Bash(git push *)"]',
      'mcpServer: {"command":"serve","env":{"WORD":"y"}}',
    ]) {
      expect(stdout).toContain(`    ${line}\n`);
    }
    const asked = await cli.onTerminal(`add '${root}'`, 'q\n');
    expect(asked.shown).toContain('async: true');
    const { definitions } = JSON.parse((await cli.run(['add', root, '--json'])).stdout);
    expect(definitions).toMatchObject([{ tool: 't' }, { async: true, env: { WORD: 'x\u202Ey' } }]);
  });

  it('is the difference from what is there, and where that came from', async () => {
    await write({ 'hooks/hooks.json': { hooks: { PostToolUse: [group] } } });
    await cli.run(['add', root, '--yes']);
    const other = join(cli.home, 'other');
    await write({ '.claude-plugin/plugin.json': { name: 'word-guard' } }, other);
    await write(
      {
        'hooks/hooks.json': {
          hooks: { PostToolUse: [{ ...group, hooks: [{ ...hook, timeout: 8 }] }] },
        },
      },
      other,
    );
    const { stdout } = await cli.run(['add', other, '--dry-run']);
    expect(stdout).toContain(`takes the place, and the data, of what you have added from ${root}`);
    expect(stdout).toContain('  - timeout: 7\n');
    expect(stdout).toContain('  + timeout: 8\n');
    expect(stdout).toContain('- scripts/guard.sh');
  });

  it('is a link that leads elsewhere', async () => {
    await write({ 'scripts/other.sh': 'exit 0\n' });
    await symlink('guard.sh', join(root, 'scripts/link.sh'));
    await cli.run(['add', root, '--yes']);
    await rm(join(root, 'scripts/link.sh'));
    await symlink('other.sh', join(root, 'scripts/link.sh'));
    const { stdout } = await cli.run(['add', root, '--dry-run']);
    expect(stdout).toContain('~ scripts/link.sh leads to other.sh');
  });
});

describe('hookstack add of a hostile plugin', () => {
  it.each([
    ['NODE_OPTIONS', { command: 'node x.mjs', env: { NODE_OPTIONS: '--import=./y.mjs' } }],
    ['Bash_Env', { command: 'true', env: { Bash_Env: './y.sh' } }],
    ['LD_PRELOAD', { type: 'mcp_tool', server: 's', tool: 't' }],
  ])('refuses %s, as in a project', async (name, hook) => {
    await write({
      'hooks/hooks.json': { hooks: { PreToolUse: [{ hooks: [{ type: 'command', ...hook }] }] } },
      '.mcp.json': { s: { command: 'serve', env: { LD_PRELOAD: './y.so' } } },
    });
    const { exitCode, stderr } = await cli.run(['add', root, '--yes']);
    expect(stderr).toMatch(
      new RegExp(
        `"word-guard" is not taken over: its hook ".+" \\(BeforeTool\\) .* sets ${name}`,
        'u',
      ),
    );
    expect(exitCode).toBe(2);
    expect(existsSync(join(cli.home, '.llxprt'))).toBe(false);
  });

  it('refuses more hooks than a project may have, in however many files', async () => {
    const hooks = Array.from({ length: 600 }, (_, index) => ({ command: `echo ${index}` }));
    await write({
      '.claude-plugin/plugin.json': { name: 'word-guard', hooks: './more.json' },
      'hooks/hooks.json': { hooks: { Stop: hooks } },
      'more.json': { hooks: { Stop: hooks } },
    });
    const { exitCode, stderr } = await cli.run(['add', root, '--yes']);
    expect(stderr).toContain('its hooks are more than');
    expect(exitCode).toBe(2);
  });

  it('reads hooks behind a link to their folder, once', async () => {
    await rename(join(root, 'hooks'), join(root, 'real'));
    await symlink('real', join(root, 'hooks'));
    await write({
      '.claude-plugin/plugin.json': { name: 'word-guard', hooks: './real/hooks.json' },
    });
    const { stdout } = await cli.run(['add', root, '--dry-run', '--json']);
    expect(JSON.parse(stdout).hooks).toHaveLength(1);
  });

  const MANIFEST = '.claude-plugin/plugin.json';
  it.each([
    ['a name that leads up', { name: '../../evil' }, /plugin\.json:2:3: name: expected a name/u],
    ['a hidden name', { name: '.evil' }, /plugin\.json:2:3: name: expected a name/u],
    ['control characters', { name: 'a\u001B[2J' }, /plugin\.json:2:3: name: expected a name/u],
    ['a version that is none', { name: 'a', version: '1\n\n2' }, /plugin\.json:3:3: version: /u],
    [
      'a path that leads out',
      { name: 'a', hooks: '../x.json' },
      /:3:3: hooks: the path leads out/u,
    ],
    ['a file that is missing', { name: 'a', hooks: './x.json' }, /:3:3: hooks: there is no such/u],
    ['a proto', '{"name": "a",\n "x": [{"__proto__": 1}]}', /:2:9: x\[0\]\.__proto__: a key/u],
    ['no JSON', '{"name": \n', /plugin\.json:\d:\d+: not valid JSON/u],
    ['a deep nest', '['.repeat(200_000), /plugin\.json:\d:\d+: /u],
    ['a huge file', `{"name": "${'a'.repeat(2_000_000)}"}`, /plugin\.json:1:1: it has more than/u],
  ])('refuses %s, with its place', async (_what, manifest, message) => {
    await write({ [MANIFEST]: manifest });
    const { exitCode, stderr } = await cli.run(['add', root, '--yes']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('\u001B[2J');
    expect(exitCode).toBe(2);
    expect(existsSync(join(cli.home, '.llxprt'))).toBe(false);
  });

  it('refuses links that lead out of it, and keeps those within', async () => {
    await symlink('/etc/passwd', join(root, 'out'));
    const refused = await cli.run(['add', root, '--yes']);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/out is a link that leads out of the plugin's folder/u);

    await rm(join(root, 'out'));
    await symlink(join(root, 'scripts'), join(root, 'absolute'));
    await symlink('.', join(root, 'circle'));
    expect((await cli.run(['add', root, '--yes'])).exitCode).toBe(0);
    expect(await readlink(join(extension(), 'plugin/absolute'))).toBe('scripts');
    expect(await readlink(join(extension(), 'plugin/circle'))).toBe('.');
  });
});

async function makeMarket(source: unknown): Promise<string> {
  const market = join(cli.home, 'market');
  await write(
    {
      '.claude-plugin/marketplace.json': {
        name: 'market',
        plugins: [
          { name: 'word-guard', source, description: 'guards words' },
          { name: 'far', source: { source: 'github', repo: 'a/b' } },
        ],
      },
      'plugins/word-guard/hooks/hooks.json': HOOKS,
      'plugins/word-guard/scripts/guard.sh': GUARD,
    },
    market,
  );
  return market;
}

describe('hookstack add of a marketplace', () => {
  it('lists its plugins, and adds the one that is named', async () => {
    const market = await makeMarket('./plugins/word-guard');
    const listed = await cli.run(['add', market]);
    expect(listed).toMatchObject({ exitCode: 0, stderr: '' });
    expect(listed.stdout).toContain('word-guard\n  guards words');
    expect(listed.stdout).toContain('far (elsewhere: it is not in this folder)');
    expect(existsSync(extension())).toBe(false);

    expect(await cli.run(['add', market, 'word-guard', '--yes'])).toMatchObject({ exitCode: 0 });
    expect((await fire('echo forbidden')).exitCode).toBe(2);
    const far = await cli.run(['add', market, 'far']);
    expect(far).toMatchObject({ exitCode: 2 });
    expect(far.stderr).toMatch(
      /marketplace\.json:\d+:\d+: plugins\[1\]\.source: .*not in this folder/u,
    );
    const unknown = await cli.run(['add', market, 'word-gard']);
    expect(unknown.stderr).toContain("did you mean 'word-guard'?");
  });

  it('refuses a plugin that is outside of it', async () => {
    const market = await makeMarket('../word guard');
    const { exitCode, stderr } = await cli.run(['add', market, 'word-guard', '--yes']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/plugins\[0\]\.source: it leads out of the marketplace/u);
  });
});
