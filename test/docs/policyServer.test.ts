import { once } from 'node:events';
import { execa } from 'execa';
import { expect, it, onTestFinished } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { Cli } from '../cli/helpers.js';
import { findSnippets, readDocument } from './markdown.js';

const cli = new Cli();
const program = findSnippets(await readDocument('docs/fleet.md')).find(({ language }) => {
  return language === 'python';
});

/** Starts the policy server that docs/fleet.md shows, and has a guard ask it about a file. */
async function askAbout(file: string, content = program?.content ?? '') {
  const script = await cli.write('policy_server.py', content);
  const server = execa('python3', [script, '0'], { stderr: 'ignore', reject: false });
  onTestFinished(async () => {
    server.kill('SIGKILL');
    await server;
  });
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  const url = line.toString().trim();
  const guard: CommandHookConfig = { type: 'remote', command: '', url, onFailure: 'deny' };
  const settings = await cli.settings({ BeforeTool: [{ hooks: [guard] }] });
  const input = JSON.stringify({ file_path: file, content: '' });
  const call = ['--tool', 'write_file', '--input', input];
  return cli.run(['fire', 'BeforeTool', '--settings', settings, ...call]);
}

it('the server in Python answers a guard', async () => {
  expect(await askAbout('prod/prices.yaml')).toMatchObject({
    exitCode: 2,
    stdout: expect.stringContaining('blocked: Production is frozen.') as string,
  });
  expect(await askAbout('test/prices.yaml')).toMatchObject({ exitCode: 0, stderr: '' });
});

it('the server in Python says yes to nothing once it marks no answers', async () => {
  const unmarked = program?.content.replace(/^.*"hookstack".*\n/mu, '');
  expect(await askAbout('test/prices.yaml', unmarked)).toMatchObject({
    exitCode: 2,
    stdout: expect.stringContaining('not marked as an answer: have the server write') as string,
  });
});
