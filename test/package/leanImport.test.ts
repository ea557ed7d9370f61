import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { execa } from 'execa';
import { glob } from 'tinyglobby';
import { expect, it } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const temp = useTempDir();

/** Of what calls tools of MCP servers, and of what asks models. */
const OF_HOOKS = ['client/streamableHttp.js', 'You judge an event'];

it('is imported without what only some hosts need: commander, picomatch, the SDK, NATS', async () => {
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

it('loads no package but those that are installed with it', async () => {
  const { dependencies, peerDependencies } = JSON.parse(
    await readFile(path.join(ROOT, 'package.json'), 'utf8'),
  );
  const known = Object.keys({ ...dependencies, ...peerDependencies });
  const loaded = new Set<string>();
  for (const file of await glob('dist/**/*.js', { cwd: ROOT, absolute: true })) {
    const text = await readFile(file, 'utf8');
    const imports = text.matchAll(/\b(?:from|import)\s*\(?\s*(["'`])(@?[a-z][\w./-]*)\1/gu);
    for (const [, , name = ''] of imports) if (!isBuiltin(name)) loaded.add(packageOf(name));
  }
  expect([...loaded]).toContain('execa');
  expect([...loaded].filter((name) => !known.includes(name) && name !== 'hookstack')).toEqual([]);
});

it('loads nothing of a fleet, of MCP and of prompts before somebody asks a server or a model', async () => {
  const texts = new Map<string, string>();
  const pending = [path.join(ROOT, 'dist/index.js')];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (texts.has(file)) continue;
    const text = await readFile(file, 'utf8');
    texts.set(file, text);
    const imports = text.matchAll(/\b(?:from|import)\s*"(\.[^"]+)"/gu);
    for (const [, name = ''] of imports) pending.push(path.join(path.dirname(file), name));
  }
  expect(texts.size).toBeGreaterThan(1);
  const all = [...texts.values()].join('\n');
  expect(all).toContain('executeToolWithHooks');
  for (const each of [
    'Hookstack-Question',
    '@nats-io',
    'prom-client',
    'no responders',
    ...OF_HOOKS,
  ]) {
    expect(all.includes(each), each).toBe(false);
  }
});

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
