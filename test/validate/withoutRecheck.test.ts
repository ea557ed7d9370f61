import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const temp = useTempDir();

/** Installs the built package with all that it depends on, but for one package. */
async function installWithout(missing: string): Promise<string> {
  const folder = path.join(temp.path, `without-${missing}`);
  await cp(path.join(ROOT, 'dist'), path.join(folder, 'dist'), { recursive: true });
  await cp(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  await mkdir(path.join(folder, 'node_modules'));
  for (const name of await readdir(path.join(ROOT, 'node_modules'))) {
    const place = path.join('node_modules', name);
    if (name !== missing) await symlink(path.join(ROOT, place), path.join(folder, place));
  }
  return path.join(folder, 'dist/cli.cjs');
}

async function validate(cli: string, matchers: readonly string[]) {
  const groups = matchers.map((matcher) => ({
    matcher,
    hooks: [{ type: 'command', command: 'cat' }],
  }));
  const file = path.join(temp.path, 'settings.json');
  await writeFile(file, JSON.stringify({ enableHooks: true, hooks: { BeforeTool: groups } }));
  const args = [cli, 'validate', '--json', file];
  const { stdout, exitCode } = await execa(process.execPath, args, { reject: false });
  const { findings } = JSON.parse(stdout) as { findings: { rule: string; message: string }[] };
  return { exitCode, findings: findings.filter(({ rule }) => rule !== 'duplicate-command') };
}

const HARD = '^(\\w+_?)+$';

it('says in one line what was not checked while recheck is not installed', async () => {
  const cli = await installWithout('recheck');
  const { exitCode, findings } = await validate(cli, [HARD, '^(read_|write_)+file$', 'glob']);
  expect(findings).toMatchObject([{ rule: 'matcher-undecided' }]);
  expect(findings[0]?.message).toMatch(/and others like it.* npm install --save-dev recheck/);
  expect(exitCode).toBe(0);
  expect((await validate(cli, ['^glob$'])).findings).toEqual([]);
});

it('checks it where recheck is installed', async () => {
  const cli = await installWithout('nothing');
  const { exitCode, findings } = await validate(cli, [HARD]);
  expect(findings).toMatchObject([{ rule: 'matcher-catastrophic' }]);
  expect(exitCode).toBe(1);
});
