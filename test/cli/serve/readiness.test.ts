import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { startNats } from '../../helpers/natsServer.js';
import { saying } from '../../helpers/hooks.js';
import { writeToken } from '../../fleet/recordHelpers.js';
import { Cli } from '../helpers.js';

const cli = new Cli();

async function readyz(url: string) {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, json: await response.json() };
}

it('a server is ready while it has NATS, hooks and room, and alive also without', async () => {
  const nats = await startNats();
  onTestFinished(() => nats.dispose());
  const before = 'touch begun; until [ -e go ]; do sleep 0.02; done';
  const hooks = [saying({ decision: 'deny' }, { before })];
  const args = ['serve', '--settings', await cli.settings({ BeforeTool: [{ hooks }] })];
  args.push('--listen', '127.0.0.1:0', '--max-concurrent', '1');
  args.push('--nats', nats.url, '--token-file', writeToken(cli.project));
  const server = cli.start(args);
  onTestFinished(async () => {
    server.kill('SIGKILL');
    await server;
  });
  const [line] = (await once(server.stdout!, 'data')) as [Buffer];
  const url = /http:\S+/u.exec(line.toString())?.[0] ?? '';
  const policy = { version: expect.stringMatching(/^[\da-f]{12}$/u) as string };
  const ready = { ready: true, policy, nats: true, room: 1 };
  expect(await readyz(url)).toEqual({ status: 200, json: ready });

  const full = { status: 503, json: { ...ready, ready: false, room: 0 } };
  const headers = { 'Content-Type': 'application/json' };
  const body = '{"tool_name":"deploy","tool_input":{}}';
  const asked = fetch(`${url}/v1/events/BeforeTool`, { method: 'POST', headers, body });
  await expect.poll(() => readyz(url)).toEqual(full);
  await cli.write('go', '');
  expect((await asked).status).toBe(200);
  expect(await readyz(url)).toMatchObject({ status: 200 });

  await nats.kill();
  const lost = { status: 503, json: { ...ready, ready: false, nats: false } };
  await expect.poll(() => readyz(url)).toEqual(lost);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await nats.restart();
  await expect.poll(() => readyz(url), { timeout: 5000 }).toEqual({ status: 200, json: ready });
}, 30_000);
