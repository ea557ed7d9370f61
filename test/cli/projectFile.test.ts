import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

const outside = () => join(dirname(cli.home), 'outside');
const userFile = () => join(cli.home, '.llxprt/settings.json');

/** A project that brings a link, and a hook of its own in the settings of another agent. */
async function linkedProject(link: string, target: string): Promise<void> {
  await cli.write('.claude/settings.json', {
    hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'theirs' }] }] },
  });
  await mkdir(outside(), { recursive: true });
  await mkdir(dirname(join(cli.project, link)), { recursive: true });
  await symlink(target, join(cli.project, link));
}

const COMMANDS = [
  ['migrate', '--from', 'claude'],
  ['init'],
  ['disable', 'mine', '--project'],
  ['enable', 'mine', '--project'],
];

describe('what is written for a project', () => {
  it.each(COMMANDS)(
    'does not reach the settings of the user through a link: %s',
    async (...args) => {
      await cli.userSettings({ BeforeTool: group('mine') }, { disabledHooks: ['mine'] });
      const before = await readFile(userFile(), 'utf8');
      await linkedProject('.llxprt/settings.json', '../../home/.llxprt/settings.json');
      const { exitCode, stderr } = await cli.run(args);
      expect(stderr).toContain(
        'it is the settings file of the user, which counts in every project',
      );
      expect(exitCode).toBe(2);
      expect(await readFile(userFile(), 'utf8')).toBe(before);
    },
  );

  it.each([
    { what: 'a directory of settings', link: '.llxprt', target: '../outside' },
    { what: 'a directory of hooks', link: '.llxprt/hooks', target: '../../outside' },
    { what: 'a directory of tests', link: '.llxprt/tests', target: '../../outside' },
    {
      what: 'settings that do not exist',
      link: '.llxprt/settings.json',
      target: '../../outside/s',
    },
  ])('does not leave the project through a link in place of $what', async ({ link, target }) => {
    await linkedProject(link, target);
    for (const args of COMMANDS.slice(0, 2)) {
      const { exitCode, stderr } = await cli.run(args);
      expect(stderr).toContain('is not written: a link leads to a place');
      expect(exitCode).toBe(2);
    }
    expect(await readdir(outside())).toEqual([]);
  });

  it('may lie behind a link inside of the project', async () => {
    await mkdir(join(cli.project, 'shared'));
    await linkedProject('.llxprt', 'shared');
    expect(await cli.run(['init'])).toMatchObject({ exitCode: 0 });
    expect(await readdir(join(cli.project, 'shared'))).toContain('settings.json');
  });

  it('is nothing in the home directory, where a hook would run a file of whatever project is open', async () => {
    const { exitCode, stderr } = await cli.run(['init'], { cwd: cli.home });
    expect(stderr).toContain('it is the settings file of the user');
    expect(exitCode).toBe(2);
    expect(existsSync(join(cli.home, '.llxprt'))).toBe(false);
  });

  it('leaves enable and disable in the home directory to the settings of the user', async () => {
    await cli.userSettings({ BeforeTool: group('mine') });
    const at = { cwd: cli.home };
    expect(await cli.run(['disable', 'mine'], at)).toMatchObject({ exitCode: 0 });
    expect(await cli.run(['enable', 'mine'], at)).toMatchObject({ exitCode: 0 });
  });
});
