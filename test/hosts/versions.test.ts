import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { ROOT } from '../docs/markdown.js';

const OPENAI = `import { withHooks } from 'hookstack/openai'; withHooks(new Config(), {});`;
const CLAUDE = `import { claudeHooks } from 'hookstack/claude'; claudeHooks(new Config());`;

// Beside what was built, as npm installs it: hosts that do not export their package.json.
it.each([
  ['@openai/agents', '0.19.4', OPENAI, 'hookstack/openai is for @openai/agents 0.20.x'],
  [
    '@anthropic-ai/claude-agent-sdk',
    '0.4.0',
    CLAUDE,
    'hookstack/claude is for @anthropic-ai/claude-agent-sdk 0.3.x',
  ],
])('%s %s is refused, by both names', async (name, version, use, message) => {
  const root = await realpath(await mkdtemp(path.join(os.tmpdir(), 'hookstack-test-')));
  try {
    const modules = path.join(root, 'node_modules');
    const host = path.join(modules, name, 'dist');
    await mkdir(host, { recursive: true });
    await writeFile(path.join(host, 'index.js'), '');
    const manifest = { name, version, exports: { '.': './dist/index.js' } };
    await writeFile(path.join(host, '../package.json'), JSON.stringify(manifest));
    await mkdir(path.join(modules, 'hookstack'));
    for (const part of ['dist', 'package.json']) {
      await cp(path.join(ROOT, part), path.join(modules, 'hookstack', part), { recursive: true });
    }
    const dependencies = path.join(modules, 'hookstack/node_modules');
    await symlink(path.join(ROOT, 'node_modules'), dependencies);
    const program = path.join(root, 'program.mjs');
    await writeFile(program, `import { Config } from 'hookstack'; ${use}`);
    const { stderr, exitCode } = await execa(process.execPath, [program], { reject: false });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${message}, and this is ${name} ${version}`);
  } finally {
    await rm(root, { recursive: true });
  }
});
