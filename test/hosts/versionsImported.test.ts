import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../docs/markdown.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'hookstack-versions-'));
  await mkdir(path.join(directory, 'node_modules'));
  await symlink(ROOT, path.join(directory, 'node_modules/hookstack'));
});
afterAll(() => rm(directory, { recursive: true }));

/** Packages that are named and versioned like a host, and have nothing in them that works. */
const hosts = [
  {
    host: '@google/adk',
    version: '1.3.0',
    code: `export class BasePlugin {} export const isAgentTool = () => false; export const version = '1.3.0';`,
    use: `import { HooksPlugin } from 'hookstack/adk'; new HooksPlugin(new Config());`,
    message: 'hookstack/adk is for @google/adk 2.x, and this is @google/adk 1.3.0',
  },
  {
    host: 'langchain',
    version: '0.3.0',
    code: `export class AIMessage {} export { AIMessage as HumanMessage, AIMessage as SystemMessage, AIMessage as ToolMessage,
      AIMessage as ToolInvocationError, AIMessage as createMiddleware };`,
    use: `import { hooksMiddleware } from 'hookstack/langchain'; hooksMiddleware(new Config());`,
    message: 'hookstack/langchain is for langchain 1.5 or newer, and this is langchain 0.3.0',
  },
];

it.each(hosts)('$host $version is refused, with both versions', async (given) => {
  const { host, version, code, use, message } = given;
  const target = path.join(directory, 'node_modules', host);
  await mkdir(target, { recursive: true });
  const manifest = {
    name: host,
    version,
    type: 'module',
    exports: { '.': './index.js', './package.json': './package.json' },
  };
  await writeFile(path.join(target, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(target, 'index.js'), code);
  const program = path.join(directory, 'program.mjs');
  await writeFile(program, `import { Config } from 'hookstack'; ${use}`);
  const node = [process.execPath, '--preserve-symlinks', program] as const;
  const { stderr, exitCode } = await execa(node[0], node.slice(1), { reject: false });
  expect(stderr).toContain(message);
  expect(exitCode).toBe(1);
});
