import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { FLEET_SECRETS, startNats, type TestNats } from '../../helpers/natsServer.js';
import { hook } from '../../helpers/hooks.js';
import { Cli } from '../helpers.js';

const cli = new Cli();
let nats: TestNats | undefined;

afterEach(async () => {
  await nats?.dispose();
  nats = undefined;
});

const parsed = (text: unknown) =>
  String(text)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, string>);

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u) as string;

describe('--log json', () => {
  it('has a server say each thing as one object on a line', async () => {
    const settings = await cli.settings({ BeforeTool: [{ hooks: [hook('true')] }] });
    const listen = ['--settings', settings, '--listen', '127.0.0.1:0'];
    const server = cli.start(['serve', ...listen, '--log', 'json']);
    const [first] = (await once(server.stdout!, 'data')) as [Buffer];
    const [listening] = parsed(first);
    expect(listening).toEqual({
      time,
      level: 'info',
      kind: 'listening',
      message: expect.stringMatching(/^hookstack serve: listening on http:/u) as string,
    });
    const url = /http\S+/u.exec(listening!['message']!)![0];
    const refused = await fetch(`${url}/v1/events`, {
      headers: { Origin: 'https://evil.example' },
    });
    expect(refused.status).toBe(403);
    server.kill('SIGTERM');
    const said = parsed((await server).stderr);
    expect(said).toEqual([
      {
        time,
        level: 'warn',
        kind: 'access',
        message: expect.stringContaining('refused') as string,
      },
      {
        time,
        level: 'info',
        kind: 'draining',
        message: expect.stringContaining('SIGTERM') as string,
      },
    ]);
  });

  it('has a server say like that why it does not start', async () => {
    const { exitCode, stderr } = await cli.runProgram(['serve', '--log', 'json']);
    expect(exitCode).toBe(2);
    expect(parsed(stderr)).toEqual([
      {
        time,
        level: 'error',
        kind: 'error',
        message: expect.stringContaining('--settings FILE') as string,
      },
    ]);
  });

  it('has a collector say each thing as one object on a line', async () => {
    nats = await startNats();
    const secret = await cli.write('policy.token', FLEET_SECRETS.policy);
    await chmod(secret, 0o600);
    const server = ['--nats', nats.url, '--token-file', secret];
    const collector = cli.start(['collect', ...server, '--out', 'record', '--log', 'json']);
    await once(collector.stderr!, 'data');
    collector.kill('SIGTERM');
    const { stdout, stderr } = await collector;
    expect(parsed(stderr)[0]).toMatchObject({ time, level: 'info', kind: 'note' });
    expect(parsed(stdout)).toEqual([
      { time, level: 'info', kind: 'collected', message: 'Wrote 0 spans' },
    ]);
  });
});
