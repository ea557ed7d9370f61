import { GUARD_NAMES } from '../../src/cli/add/guardNames.js';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guards } from '../../src/cli/add/guards.js';
import { Cli } from './helpers.js';

const cli = new Cli();
const SETTINGS = '.llxprt/settings.json';

function fireCommand(command: string) {
  const input = JSON.stringify({ command });
  return cli.run(['fire', 'BeforeTool', '--tool', 'run_shell_command', '--input', input]);
}

it('the help knows the guards that there are', () => {
  expect(guards.map(({ name }) => name)).toEqual(GUARD_NAMES);
});

describe('hookstack add', () => {
  it('lists what there is, and what each covers and does not, without a name', async () => {
    const { exitCode, stdout } = await cli.run(['add']);
    expect(exitCode).toBe(0);
    for (const { name, covers, misses } of guards) {
      expect(stdout).toContain(`${name}\n  ${covers}\n  ${misses}`);
    }
    const listed = await cli.run(['add', '--json']);
    expect(JSON.parse(listed.stdout)).toEqual({
      guards: guards.map(({ name, covers, misses }) => ({ name, covers, misses })),
    });
    expect(existsSync(join(cli.project, '.llxprt'))).toBe(false);
  });

  it('adds a guard that works at once, with tests that pass', async () => {
    const added = await cli.run(['add', 'protect-git']);
    expect(added).toMatchObject({ exitCode: 0, stderr: '' });
    expect(added.stdout).toContain('.llxprt/tests/protect-git (11 tests)');
    expect(added.stdout).toContain('All of it is allowed as it was written now');

    const denied = await fireCommand('cd . && git push --force');
    expect(denied.exitCode).toBe(2);
    expect(denied.stdout).toContain('Verdict: blocked: History that others have');
    expect(await fireCommand('git push')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await cli.run(['test'])).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each([
    ['rules', guards.filter(({ script }) => script === undefined)],
    ['scripts', guards.filter(({ script }) => script !== undefined)],
  ])('adds all %s, of which no test contradicts another, without warnings', async (_what, all) => {
    const names = all.map(({ name }) => name);
    const added = await cli.run(['add', ...names, '--json']);
    expect(JSON.parse(added.stdout)).toMatchObject({ added: names, present: [], allowed: true });
    const tested = await cli.run(['test', '--json']);
    expect(JSON.parse(tested.stdout)).toMatchObject({ failed: 0 });
    expect(tested.exitCode).toBe(0);
    const checked = await cli.run(['validate', '--max-warnings', '0']);
    expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await cli.run(['trust', '--check'])).toMatchObject({ exitCode: 0 });
  });

  it('leaves a guard that is there as it is, and says so', async () => {
    await cli.run(['add', 'protect-git']);
    const edited = (await cli.read(SETTINGS)).replace(
      'are for people to change',
      'are for nobody to change',
    );
    await cli.write(SETTINGS, edited);
    const again = await cli.run(['add', 'protect-git', 'no-network']);
    expect(again.exitCode).toBe(0);
    expect(again.stdout).toContain('protect-git is in ');
    expect(again.stdout).toContain('already: nothing is changed');
    expect(again.stdout).toContain('no-network added to ');

    const before = await cli.read(SETTINGS);
    const third = await cli.run(['add', 'protect-git', 'no-network', '--json']);
    expect(JSON.parse(third.stdout)).toMatchObject({
      added: [],
      present: ['protect-git', 'no-network'],
      created: [],
    });
    expect(await cli.read(SETTINGS)).toBe(before);
  });

  it('shows what would change, and writes nothing, with --dry-run', async () => {
    const { exitCode, stdout } = await cli.run(['add', 'budget', '--dry-run']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('budget would be added to');
    expect(stdout).toContain('+            "name": "budget",');
    expect(stdout).toContain('.llxprt/hooks/budget.mjs');
    expect(existsSync(join(cli.project, '.llxprt'))).toBe(false);
  });

  it('writes to the settings of the user with --user, where scripts run as well', async () => {
    const added = await cli.run(['add', 'audit-log', 'protect-delete', '--user', '--json']);
    expect(JSON.parse(added.stdout)).toMatchObject({
      settings: join(cli.home, SETTINGS),
      allowed: true,
      obstacles: [],
    });
    expect(existsSync(join(cli.project, '.llxprt'))).toBe(false);
    expect((await fireCommand('shred notes.txt')).exitCode).toBe(2);
    const log = join(cli.home, '.llxprt/audit.jsonl');
    expect(JSON.parse(await readFile(log, 'utf8'))).toMatchObject({
      tool: 'run_shell_command',
      input: { command: 'shred notes.txt' },
      cwd: cli.project,
    });
    expect((await stat(log)).mode & 0o777).toBe(0o600);
  });

  it('suggests a name for one that is not known, and writes nothing', async () => {
    const { exitCode, stderr } = await cli.run(['add', 'protect-git', 'protect-secret']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`There is no guard "protect-secret"; did you mean 'protect-secrets'?`);
    expect(existsSync(join(cli.project, '.llxprt'))).toBe(false);
  });

  it('keeps all else of settings, and allows nothing that nobody has seen', async () => {
    await cli.write(
      SETTINGS,
      `// Ours.
{
  "enableHooks": true,
  "hooks": {
    "BeforeTool": [{ "hooks": [{ "type": "command", "name": "other", "command": "exit 2" }] }]
  }
}
`,
    );
    const added = await cli.run(['add', 'protect-git', '--json']);
    expect(JSON.parse(added.stdout)).toMatchObject({
      obstacles: [expect.stringContaining('Not allowed yet: 1 hook')],
    });
    expect(await cli.read(SETTINGS)).toMatch(/^\/\/ Ours\.\n\{\n {2}"enableHooks": true,/u);
    const { stdout } = await cli.run(['trust', '--check', '--json']);
    const { items } = JSON.parse(stdout) as {
      items: { status: string; definition: { name: string } }[];
    };
    const waiting = items.filter(({ status }) => status !== 'allowed');
    expect(waiting.map(({ definition }) => definition.name)).toEqual(['other']);
  });

  it('takes a script that somebody else has written for no script of its own', async () => {
    await cli.write('.llxprt/hooks/budget.mjs', 'console.log("{}");');
    const { exitCode, stderr } = await cli.run(['add', 'budget']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('.llxprt/hooks/budget.mjs is there already');
    expect(existsSync(join(cli.project, SETTINGS))).toBe(false);
    expect(existsSync(join(cli.project, '.llxprt/tests/budget'))).toBe(false);
  });

  it('adds a guard again whose hooks were taken out of the settings', async () => {
    await cli.run(['add', 'budget']);
    await cli.write(SETTINGS, '{}');
    expect(await cli.run(['add', 'budget'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await cli.run(['test'])).toMatchObject({ exitCode: 0 });
  });

  it('writes nothing through a link that leads out of the project', async () => {
    await mkdir(join(cli.home, 'elsewhere'));
    await mkdir(join(cli.project, '.llxprt'));
    await symlink(join(cli.home, 'elsewhere'), join(cli.project, '.llxprt/tests'));
    const { exitCode, stderr } = await cli.run(['add', 'protect-git']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('a link leads to a place outside of the project');
    expect(existsSync(join(cli.project, SETTINGS))).toBe(false);
  });

  it('is listed with a few of its patterns', async () => {
    await cli.run(['add', 'protect-git']);
    const { stdout } = await cli.run(['list']);
    expect(stdout).toMatch(/when: Bash\(git push \* --force \*\), .*, … \(\d\d patterns\)/u);
    const listed = await cli.run(['list', '--json']);
    expect(listed.stdout).toContain('Edit(~/.gitconfig)');
  });

  it('is switched off and on by its name', async () => {
    await cli.run(['add', 'protect-git']);
    expect(await cli.run(['disable', 'protect-git'])).toMatchObject({ exitCode: 0 });
    expect((await fireCommand('git push --force')).exitCode).toBe(0);
    expect(await cli.run(['enable', 'protect-git'])).toMatchObject({ exitCode: 0 });
    expect((await fireCommand('git push --force')).exitCode).toBe(2);
  });
});

describe('hookstack init', () => {
  it('offers guards first on a terminal', async () => {
    const { exitCode, shown } = await cli.onTerminal('init', 'nothing\n', 'protect-git, budget\n');
    expect(exitCode).toBe(0);
    expect(shown).toContain('Guards that are ready to use:');
    expect(shown.split('Which of them?')).toHaveLength(3);
    expect(await cli.read(SETTINGS)).toContain('"name": "budget"');
    expect((await fireCommand('git push --force')).exitCode).toBe(2);
    expect(existsSync(join(cli.project, '.llxprt/hooks/protect-env.mjs'))).toBe(false);
  });

  it('writes a first hook there for who wants one, and nothing for who quits', async () => {
    expect((await cli.onTerminal('init', 'q\n')).exitCode).toBe(2);
    expect(existsSync(join(cli.project, '.llxprt'))).toBe(false);
    expect((await cli.onTerminal('init', 'own\n')).exitCode).toBe(0);
    expect(existsSync(join(cli.project, '.llxprt/hooks/protect-env.mjs'))).toBe(true);
  });

  it('asks nothing where something is said of the hook, or nobody is there', async () => {
    const { exitCode, shown } = await cli.onTerminal('init --language node');
    expect(exitCode).toBe(0);
    expect(shown).not.toContain('Guards that are ready to use:');
    expect((await cli.run(['init', '--help'])).stdout).toContain('hookstack add');
  });
});
