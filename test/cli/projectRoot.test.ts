import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, group, keepingInput } from './helpers.js';

const cli = new Cli();

const BLOCKS = 'cat > /dev/null; echo Not here. >&2; exit 2';
const EVENT = ['fire', 'BeforeTool', '--trust'];
const NOT_FOUND = { exitCode: 0, stderr: expect.not.stringContaining('the project is') as string };

function shown({ stdout, exitCode }: { stdout: string; exitCode?: number | undefined }) {
  return { exitCode, stdout: stdout.replaceAll(/"durationMs":\d+/gu, '') };
}

/** A folder below the project; its absolute path. */
async function below(...names: string[]): Promise<string> {
  const folder = join(cli.project, ...names);
  await mkdir(folder, { recursive: true });
  return folder;
}

describe('the root of the project', () => {
  it('is found from a folder below, and is what hooks are told', async () => {
    await cli.projectSettings({ BeforeTool: group(keepingInput('input.json')) });
    const cwd = await below('src', 'deep');
    const { exitCode, stderr } = await cli.run(EVENT, { cwd });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `note: the project is ${cli.project}, the nearest folder above with .llxprt/settings.json`,
    });
    expect(JSON.parse(await cli.read('input.json'))).toMatchObject({ cwd: cli.project });
  });

  it('is named only where it is another folder', async () => {
    await cli.projectSettings({ BeforeTool: group(BLOCKS) });
    expect(await cli.run(EVENT)).toMatchObject({ exitCode: 2, stderr: '' });
  });

  it.each([
    ['list', '--json'],
    ['explain', 'BeforeTool', '--json'],
    ['doctor', '--trust', '--json'],
    ['validate', '--json'],
    ['stack'],
    ['trust', '--check', '--json'],
    ['disable', 'guard', '--json'],
  ])('counts for the command: %s', async (...args) => {
    await cli.projectSettings({ BeforeTool: group(BLOCKS, { name: 'guard' }) });
    const atRoot = await cli.run(args);
    if (args[0] === 'disable') await cli.run(['enable', 'guard']);
    const fromBelow = await cli.run(args, { cwd: await below('src') });
    expect(shown(fromBelow)).toEqual(shown(atRoot));
    expect(fromBelow.stderr).toContain(`the project is ${cli.project}`);
  });

  it('is what consent is for, wherever it was given', async () => {
    await cli.projectSettings({ BeforeTool: group(BLOCKS) });
    expect(await cli.run(['trust', '--open'], { cwd: await below('a') })).toMatchObject({
      exitCode: 0,
    });
    const event = ['fire', 'BeforeTool'];
    expect(await cli.run(event)).toMatchObject({ exitCode: 2 });
    expect(await cli.run(event, { cwd: await below('b') })).toMatchObject({ exitCode: 2 });
    expect((await cli.run(['untrust'], { cwd: await below('c') })).stdout).toContain(
      'No longer allowed: 1 hook',
    );
    expect(await cli.run(event)).toMatchObject({ exitCode: 0 });
  });

  it('is where tests are looked for, and where a hook is written', async () => {
    await cli.run(['init']);
    const cwd = await below('src');
    expect(await cli.run(['init', '--event', 'AfterTool'], { cwd })).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(await cli.read('.llxprt/settings.json'))).toHaveProperty('hooks.AfterTool');
    expect((await cli.run(['test', '--trust'], { cwd })).stdout).toContain('2 passed, 0 failed');
  });

  it('is looked for from where --cwd says', async () => {
    await cli.projectSettings({ BeforeTool: group(BLOCKS) });
    const from = ['--cwd', await below('src')];
    const { exitCode, stderr } = await cli.run([...EVENT, ...from], { cwd: cli.home });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`the project is ${cli.project}`),
    });
  });

  it('is the nearest folder, also one that has extensions only', async () => {
    await cli.projectSettings({ BeforeTool: group(BLOCKS) });
    await cli.write('inner/.llxprt/extensions/x/llxprt-extension.json', {
      name: 'x',
      hooks: { BeforeTool: group('cat > /dev/null; exit 0') },
    });
    const { exitCode, stderr } = await cli.run(EVENT, { cwd: await below('inner', 'src') });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining(`${join(cli.project, 'inner')}, the nearest folder above`),
    });
  });

  it.each(['a folder', 'a file, as in a worktree'])(
    'is never above the repository, whose .git is %s',
    async (kind) => {
      await cli.projectSettings({ BeforeTool: group(BLOCKS) });
      const cwd = await below('other', 'src');
      if (kind === 'a folder') await below('other', '.git');
      else await cli.write('other/.git', 'gitdir: elsewhere');
      expect(await cli.run(EVENT, { cwd })).toMatchObject(NOT_FOUND);
    },
  );

  it('is the root of the repository, where it has settings', async () => {
    await cli.projectSettings({ BeforeTool: group(BLOCKS) });
    await below('.git');
    expect(await cli.run(EVENT, { cwd: await below('src') })).toMatchObject({ exitCode: 2 });
  });

  it('is never the home directory, nor above it', async () => {
    await cli.userSettings({ BeforeTool: group(keepingInput('input.json')) });
    const cwd = join(cli.home, 'work');
    await mkdir(cwd);
    await cli.write(join(dirname(cli.home), '.llxprt/settings.json'), {
      hooks: { BeforeTool: group(BLOCKS) },
    });
    expect(await cli.run(EVENT, { cwd })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(await cli.read('../home/work/input.json'))).toMatchObject({ cwd });
  });

  it('is no folder that everybody may write', async () => {
    await cli.projectSettings({ BeforeTool: group(BLOCKS) });
    await chmod(cli.project, 0o1777);
    const cwd = await below('src');
    expect(await cli.run(EVENT, { cwd })).toMatchObject(NOT_FOUND);
  });

  it('is named once for many files, and is where a file belongs', async () => {
    await cli.projectSettings({});
    for (const file of ['src/a.json', 'src/b.json', 'src/own/.llxprt/c.json']) {
      await cli.write(file, {});
    }
    const { stderr } = await cli.run(['validate', 'a.json', 'b.json', 'own/.llxprt/c.json'], {
      cwd: await below('src'),
    });
    expect(stderr.match(/the project is/gu)).toHaveLength(1);
  });
});
