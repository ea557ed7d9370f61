import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Config } from '../../src/config/config.js';
import { closeIdle } from '../../src/fleet/ask.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { HookEventName, type CommandHookConfig } from '../../src/protocol/types.js';
import { Cli } from '../cli/helpers.js';
import { ask, rawClient, useNats } from '../helpers/fleetQuestions.js';
import { saying } from '../helpers/hooks.js';
import { FLEET_SECRETS, startNats } from '../helpers/natsServer.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { writeToken } from './recordHelpers.js';

const { nats, closing } = useNats();
const cli = new Cli();
const running: ReturnType<Cli['start']>[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each;
  }
});

/** A server that denies, and says which one it is, after a command. */
async function serve(name: string, { over = 'nats', at = nats.url, before = 'true' } = {}) {
  const hooks = {
    BeforeTool: [{ hooks: [saying({ decision: 'deny', reason: name }, { before })] }],
  };
  const settings = await cli.write(`${name}.json`, { enableHooks: true, hooks });
  const token = writeToken(cli.project);
  const more = over === 'nats' ? ['--nats', at, '--token-file', token, '--name', name] : [];
  const args = ['serve', '--settings', settings, '--listen', '127.0.0.1:0', ...more];
  const server = cli.start(args, { buffer: true });
  running.push(server);
  const ended = server.then(({ stderr }) => Promise.reject(new Error(String(stderr))));
  const [line] = (await Promise.race([once(server.stdout!, 'data'), ended])) as [Buffer];
  return { server, url: /http:\S+/u.exec(line.toString())?.[0] ?? '' };
}

/** An agent whose guard asks: what the server says, or why it could not be asked, and the ms that took. */
function agent(hook: Partial<CommandHookConfig>, logger?: RecordingLogger) {
  vi.stubEnv('HOOK_TEST_FLEET', FLEET_SECRETS.one);
  const guard = {
    type: 'remote',
    command: '',
    tokenVariable: 'HOOK_TEST_FLEET',
    timeout: 5000,
    onFailure: 'deny',
    ...hook,
  } as CommandHookConfig;
  const hooks = { BeforeTool: [{ hooks: [guard] }] };
  const config = new Config({ enableHooks: true, hooks, ...(logger && { debugLogger: logger }) });
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await config.dispose();
    await closeIdle();
  });
  return async () => {
    const startedAt = performance.now();
    const payload = { toolName: 'deploy', toolInput: {} };
    const fired = await fireHook(config, HookEventName.BeforeTool, payload);
    const { reason = '' } = fired?.aggregated.finalOutput ?? {};
    return { reason, ms: performance.now() - startedAt };
  };
}

async function askTimes(put: ReturnType<typeof agent>, times: number) {
  const answers: Awaited<ReturnType<typeof put>>[] = [];
  for (let n = 0; n < times; n++) answers.push(await put());
  const by = (name: string) => answers.filter(({ reason }) => reason === name).length;
  const slow = answers.filter(({ ms }) => ms > 1000).length;
  return { A: by('A'), B: by('B'), slow };
}

describe('a policy server that hangs', () => {
  it('costs no question over NATS, and the time of one, and is used again', async () => {
    const { server } = await serve('A');
    await serve('B');
    const put = agent({ url: `${nats.url}/acme/one` });
    await expect
      .poll(async () => (await askTimes(put, 10)).A, { timeout: 10_000 })
      .toBeGreaterThan(0);
    server.kill('SIGSTOP');
    const { B, slow } = await askTimes(put, 40);
    expect(B).toBe(40);
    expect(slow).toBeLessThanOrEqual(2);
    server.kill('SIGCONT');
    await expect
      .poll(async () => (await askTimes(put, 10)).A, { timeout: 20_000 })
      .toBeGreaterThan(0);
  }, 60_000);

  it('costs the time of one question over HTTP, and is used again', async () => {
    const { server, url } = await serve('A', { over: 'http' });
    const put = agent({ url: `${url}/v1/events`, timeout: 2000 });
    expect(await put()).toMatchObject({ reason: 'A' });
    server.kill('SIGSTOP');
    expect((await put()).reason).toContain('timed out after 2000 ms');
    const next = await put();
    expect(next.reason).toMatch(/was not asked: http:\S+ hangs, .* tried again every 3 s/u);
    expect(next.ms).toBeLessThan(1900);
    const rest = await Promise.all(Array.from({ length: 5 }, put));
    for (const { reason, ms } of rest) {
      expect(reason).toContain('hangs');
      expect(ms).toBeLessThan(500);
    }
    server.kill('SIGCONT');
    await expect.poll(async () => (await put()).reason, { timeout: 10_000 }).toBe('A');
  }, 30_000);
});

describe('a question without an answer', () => {
  it('is put to no other server while one works on it', async () => {
    const before = 'echo $$ >> asked; sleep 2.5';
    await serve('A', { before });
    await serve('B', { before });
    const { reason } = await agent({ url: `${nats.url}/acme/one` })();
    expect(['A', 'B']).toContain(reason);
    expect((await cli.read('asked')).trim().split('\n')).toHaveLength(1);
  }, 20_000);

  it('is put to no other server while one that is about to end works on it', async () => {
    const { server } = await serve('A', { before: 'touch begun; sleep 3' });
    const asked = agent({ url: `${nats.url}/acme/one` })();
    await expect.poll(() => cli.read('begun').catch(() => undefined), { timeout: 10_000 }).toBe('');
    await serve('B', { before: 'touch twice' });
    server.kill('SIGTERM');
    expect(await asked).toMatchObject({ reason: 'A' });
    await expect(cli.read('twice')).rejects.toThrow('ENOENT');
  }, 20_000);

  it('is put to another server where the first one is killed, also in the middle', async () => {
    const { server } = await serve('A', { before: 'touch begun; sleep 60' });
    const put = agent({ url: `${nats.url}/acme/one`, timeout: 15_000 });
    const asked = put();
    await expect.poll(() => cli.read('begun').catch(() => undefined), { timeout: 10_000 }).toBe('');
    await serve('B');
    server.kill('SIGKILL');
    expect(await asked).toMatchObject({ reason: 'B' });
    expect(await askTimes(put, 5)).toMatchObject({ B: 5, slow: 0 });
  }, 20_000);

  it('is waited for where servers do not say what they have, as those before this version', async () => {
    const old = await rawClient(nats, 'policy');
    closing.push(() => old.close());
    let asked = 0;
    old.subscribe('hooks.ask.*.*', {
      queue: 'policy',
      callback: (_error, message) => {
        asked += 1;
        setTimeout(() => message.respond('{}'), 1500);
      },
    });
    await old.flush();
    expect(await ask(nats, { timeoutMs: 3000 })).toEqual({ status: 200, text: '{}' });
    expect(asked).toBe(1);
  });

  it('is waited for where the agent may not look for servers, as NATS was configured before', async () => {
    const config = await readFile(path.resolve('examples/fleet/nats-server.conf'), 'utf8');
    const file = await cli.write(
      'nats.conf',
      config.replaceAll(/"hooks\.at\.\*\.acme\.\w+", /gu, ''),
    );
    const own = await startNats(file);
    closing.push(() => own.dispose());
    const { server } = await serve('A', { at: own.url, before: 'sleep 1.5' });
    const logger = new RecordingLogger();
    const put = agent({ url: `${own.url}/acme/one` }, logger);
    expect(await put()).toMatchObject({ reason: 'A' });
    expect(await put()).toMatchObject({ reason: 'A' });
    server.kill('SIGSTOP');
    expect((await put()).reason).toContain('timed out after 5000 ms');
    expect(JSON.stringify(logger.records)).toMatch(
      /its user in nats-server has to publish on hooks\.at\.\*\.acme\.one/u,
    );
  }, 20_000);
});
