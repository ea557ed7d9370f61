import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRunning } from '../process/helpers.js';
import { Cli, group } from './helpers.js';
import { RawClient, SERVER, textOf } from './mcpClient.js';

const cli = new Cli();

/** Ms for which the main thread may be busy. */
const env = { HOOKSTACK_TIMEOUT: '2000' };

/** Keeps the id of the server's process. */
const command = ['bash', '-c', `echo $$ > server.pid; exec '${process.execPath}' '${SERVER}'`];

describe('a proxy whose main thread does not come back', () => {
  it.each([
    ['from code without an end', 'export default async () => { for (;;); };'],
    ['from a system call', 'export default async () => { readFileSync(pipe); };'],
  ])('ends, which no client takes for a result: %s', async (_where, text) => {
    execFileSync('mkfifo', [join(cli.home, 'pipe')]);
    const source = `import { readFileSync } from 'node:fs';
      const pipe = process.env.HOME + '/pipe';
      ${text}`;
    const middleware = [{ module: './guard.mjs', stack: 'tool' }];
    await cli.extension('user', 'guard', { middleware }, { 'guard.mjs': source });
    const client = new RawClient(cli, { env, command });
    await client.initialize();
    client.say({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { name: 'echo' } });
    const { signal, stderr } = await client.process;
    expect(signal).toBe('SIGKILL');
    expect(stderr).toMatch(/error: the MCP server "test": .* does not go on/u);
    expect(client.received.filter(({ id }) => id === 'call')).toEqual([]);
    const server = Number(await cli.read('server.pid'));
    await expect.poll(() => isRunning(server)).toBe(false);
  });
});

it('is not ended while a hook takes its time', async () => {
  await cli.userSettings({ BeforeTool: group('cat > /dev/null; sleep 3') });
  const client = new RawClient(cli, { env });
  await client.initialize();
  expect(textOf(await client.call('echo', { text: 'x' }))).not.toBe('');
  expect((await client.end()).exitCode).toBe(0);
});

it('is not ended where it was stopped for a while', async () => {
  await cli.userSettings({ BeforeTool: group('cat > /dev/null; exit 0') });
  const client = new RawClient(cli, { env });
  await client.initialize();
  client.process.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  client.process.kill('SIGCONT');
  expect(textOf(await client.call('echo', { text: 'x' }))).not.toBe('');
  expect((await client.end()).exitCode).toBe(0);
});
