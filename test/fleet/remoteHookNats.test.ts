import { headers } from '@nats-io/transport-node';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Config } from '../../src/config/config.js';
import { HEADERS } from '../../src/fleet/question.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { HookEventName } from '../../src/protocol/types.js';
import { rawClient } from '../helpers/fleetQuestions.js';
import { marked } from '../helpers/marked.js';
import { FLEET_SECRETS, startNats } from '../helpers/natsServer.js';
import { useTempDir } from '../helpers/tempDir.js';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli.cjs');
const directory = useTempDir();

it('a command that has asked over NATS ends, and does not wait for the next question', async () => {
  const nats = await startNats();
  try {
    const settings = path.join(directory.path, 'settings.json');
    const hook = {
      type: 'remote',
      name: 'policy',
      url: `${nats.url}/acme/one`,
      tokenVariable: 'HOOK_TEST_FLEET',
      onFailure: 'deny',
    };
    const hooks = { BeforeTool: [{ hooks: [hook] }] };
    await writeFile(settings, JSON.stringify({ enableHooks: true, hooks }));
    const env = { HOOK_TEST_FLEET: FLEET_SECRETS.one };
    const fired = await execa(
      process.execPath,
      [CLI, 'fire', 'BeforeTool', '--settings', settings],
      {
        env,
        reject: false,
        // A connection without questions is closed after 10 s.
        timeout: 9000,
      },
    );
    expect(fired.exitCode).toBe(2);
    expect(fired.stdout).toContain('got no answer: no policy server is there (no responders)');
  } finally {
    await nats.dispose();
  }
});

it('what a full server refuses is put again, under the same id, and the deny of a free one counts', async () => {
  const nats = await startNats();
  const server = await rawClient(nats, 'policy');
  const asked: (string | undefined)[] = [];
  server.subscribe('hooks.ask.*.*', {
    callback: (_error, message) => {
      const id = message.headers?.get(HEADERS.question);
      asked.push(id);
      const said = headers();
      if (asked.length === 1) said.set(HEADERS.status, '503');
      const deny = marked(id, { decision: 'deny', reason: 'free' });
      const answer = asked.length === 1 ? { error: 'full' } : deny;
      message.respond(JSON.stringify(answer), { headers: said });
    },
  });
  await server.flush();
  process.env['HOOK_TEST_FLEET'] = FLEET_SECRETS.one;
  const url = `${nats.url}/acme/one`;
  const hook = { type: 'remote', command: '', url, tokenVariable: 'HOOK_TEST_FLEET' } as const;
  const config = new Config({ enableHooks: true, hooks: { BeforeTool: [{ hooks: [hook] }] } });
  try {
    const payload = { toolName: 'deploy', toolInput: {} };
    const fired = await fireHook(config, HookEventName.BeforeTool, payload);
    expect(fired?.aggregated.finalOutput).toMatchObject({ decision: 'deny', reason: 'free' });
    expect(asked).toEqual([expect.any(String), asked[0]]);
  } finally {
    delete process.env['HOOK_TEST_FLEET'];
    await config.dispose();
    await server.close();
    await nats.dispose();
  }
});

it('a server that says nothing is a timeout, whichever of two clocks is first', async () => {
  vi.stubEnv('HOOK_TEST_FLEET', FLEET_SECRETS.one);
  onTestFinished(() => void vi.unstubAllEnvs());
  const nats = await startNats();
  const server = await rawClient(nats, 'policy');
  server.subscribe('hooks.ask.*.*', { callback: () => undefined });
  await server.flush();
  const url = `${nats.url}/acme/one`;
  const hook = {
    type: 'remote',
    command: '',
    url,
    // No file is read between the starts of the clocks.
    tokenVariable: 'HOOK_TEST_FLEET',
    timeout: 300,
    onFailure: 'deny',
  } as const;
  const config = new Config({ enableHooks: true, hooks: { BeforeTool: [{ hooks: [hook] }] } });
  try {
    for (let n = 0; n < 5; n++) {
      const payload = { toolName: 'deploy', toolInput: {} };
      const fired = await fireHook(config, HookEventName.BeforeTool, payload);
      const reason = expect.stringContaining('timed out after 300 ms') as string;
      expect(fired?.aggregated.finalOutput).toMatchObject({ reason });
    }
  } finally {
    await config.dispose();
    await server.close();
    await nats.dispose();
  }
});
