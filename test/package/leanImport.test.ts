import { cp, mkdir, symlink } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const temp = useTempDir();

it('is imported without what only some hosts need: commander, jsonc-parser, picomatch, recheck, the SDK', async () => {
  await cp(path.join(ROOT, 'dist'), path.join(temp.path, 'dist'), { recursive: true });
  await cp(path.join(ROOT, 'package.json'), path.join(temp.path, 'package.json'));
  await mkdir(path.join(temp.path, 'node_modules'));
  for (const needed of ['debug', 'ms', 'koa-compose', 'signal-exit', 'superstruct']) {
    const place = path.join('node_modules', needed);
    await symlink(path.join(ROOT, place), path.join(temp.path, place));
  }
  const script = `
    const { Config, executeToolWithHooks } = await import('./dist/index.js');
    const config = new Config({ enableHooks: true });
    const execute = async () => ({ llmContent: 'ran', returnDisplay: '' });
    console.log((await executeToolWithHooks(config, 'add', {}, execute)).llmContent);`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await execa(process.execPath, args, { cwd: temp.path });
  expect(stdout).toBe('ran');
});
