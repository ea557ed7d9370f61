import { once } from 'node:events';
import { appendFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectNats } from '../../src/fleet/natsConnection.js';
import { MAIN } from '../cli/helpers.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';
import { useTempDir } from '../helpers/tempDir.js';
import {
  collectApart,
  collectOnce,
  endSpans,
  joinAs,
  mountSmallDisk,
  numbered,
  readCollected,
  readSpool,
  startCollector,
  writeToken,
} from './recordHelpers.js';

const directory = useTempDir();

let nats: TestNats;
beforeEach(async () => {
  nats = await startNats();
  await collectOnce(nats, directory.path);
});
afterEach(() => nats.dispose());

async function manage() {
  const { jetstreamManager } = await import('@nats-io/jetstream');
  const address = { server: `127.0.0.1:${nats.port}`, tls: false };
  const connection = await connectNats({ address, secret: FLEET_SECRETS.policy, name: 'test' });
  onTestFinished(() => connection.close());
  return jetstreamManager(connection);
}

describe('the record of a fleet', () => {
  it('has every span once when the server is killed in the middle, and comes back', async () => {
    const { sender, problems } = joinAs(nats.port, directory.path);
    const names = numbered(3000);
    const { streams } = await manage();
    await vi.waitFor(async () => {
      endSpans('first');
      expect((await streams.info('HOOKS_RECORD')).state.messages).toBeGreaterThan(0);
    });
    for (let at = 0; at < names.length; at += 100) {
      endSpans(...names.slice(at, at + 100));
      if (at === 1000) void nats.kill();
      if (at === 2000) await vi.waitFor(() => expect(problems).not.toEqual([]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await readSpool(directory.path)).length).toBeGreaterThan(900);
    await nats.restart();
    await vi.waitFor(async () => expect(await readSpool(directory.path)).toEqual([]), 10_000);
    await sender.close();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/the connection was lost; what happens is kept on disk/);
    await collectOnce(nats, directory.path);
    const collected = (await readCollected(directory.path)).map(({ name }) => name);
    expect(collected.filter((name) => name !== 'first').toSorted()).toEqual(names.toSorted());
  });

  it('gets later what a process could not send before its end, without a server from the beginning', async () => {
    await nats.kill();
    const host = path.join(directory.path, 'host.mjs');
    await writeFile(
      host,
      `import { Config, executeToolWithHooks } from '${import.meta.dirname}/../../dist/index.js';
      import { joinFleet } from '${import.meta.dirname}/../../dist/fleet.js';
      const settings = { url: '${nats.url}/acme/one', tokenFile: process.argv[2], record: true };
      const membership = await joinFleet(settings, { onProblem: console.log });
      const config = new Config();
      const execute = async () => ({ llmContent: '', returnDisplay: '' });
      for (let n = 0; n < 50; n++) await executeToolWithHooks(config, 'tool' + n, {}, execute);
      if (process.argv[3] === 'close') await membership.close();
      else process.exit();`,
    );
    const token = writeToken(directory.path, FLEET_SECRETS.one);
    const env = { HOME: directory.path };
    await execa(process.execPath, [host, token], { env });
    const place = path.join(directory.path, '.llxprt/fleet/acme.one');
    const [left = ''] = readdirSync(place);
    // As of one that was killed while it wrote.
    appendFileSync(path.join(place, left), '{"id":"half');
    await nats.restart();
    const { stdout } = await execa(process.execPath, [host, token, 'close'], { env });
    expect(stdout).toMatch(
      /^The record of .*: spans are lost, and counted: a line on disk was damaged$/,
    );
    expect(readdirSync(place)).toEqual([]);
    await collectOnce(nats, directory.path);
    const names = (await readCollected(directory.path)).map(({ name }) => name);
    const twice = [...numbered(50, 'tool'), ...numbered(50, 'tool'), 'missing spans'];
    expect(names.toSorted()).toEqual(twice.toSorted());
  });

  it('says how many are missing where the spool was too small, or the disk full', async () => {
    await nats.kill();
    const unmount = mountSmallDisk(path.join(directory.path, 'spool'));
    try {
      await loseSpans(unmount !== undefined);
    } finally {
      unmount?.();
    }
    const collected = await readCollected(directory.path);
    const missing = collected.reduce((sum, { sizes }) => sum + (sizes?.missing ?? 0), 0);
    const there = collected.filter(({ name }) => name !== 'missing spans').length;
    expect(missing).toBeGreaterThan(0);
    expect(there).toBeGreaterThan(100);
    expect(there + missing).toBe(2000);
  });

  it('is collected as soon as there is a server, by who was started before it', async () => {
    await nats.kill();
    const { sender } = joinAs(nats.port, directory.path);
    endSpans('early');
    const collector = startCollector(nats, directory.path);
    onTestFinished(() => void collector.kill('SIGKILL'));
    const [warning] = (await once(collector.stderr, 'data')) as [Buffer];
    expect(String(warning)).toMatch(/^warning: NATS at .*; it is tried again and again\n$/);
    await nats.restart();
    const names = async () => (await readCollected(directory.path)).map(({ name }) => name);
    await expect.poll(names, { timeout: 10_000 }).toContain('early');
    await sender.close();
    collector.kill('SIGTERM');
    const { exitCode, stdout } = await collector;
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^Wrote \d+ spans?$/)]);
  });

  it('is waited for by no collector that is to end, or is not let in', async () => {
    await nats.kill();
    const collector = startCollector(nats, directory.path);
    await once(collector.stderr, 'data');
    collector.kill('SIGTERM');
    expect((await collector).exitCode).toBe(0);
    expect((await collectApart(nats, directory.path)).exitCode).toBe(2);
    await nats.restart();
    const { exitCode, stderr } = await startCollector(
      nats,
      directory.path,
      '--token-file',
      writeToken(directory.path, 'policy-but:wrong'),
    );
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('compare the user and its secret'),
    ]);
  });

  it('has each span once where a collector is killed before it acknowledges, or there are two', async () => {
    const manager = await manage();
    await manager.consumers.update('HOOKS_RECORD', 'collect', { ack_wait: 500_000_000 });
    const { sender } = joinAs(nats.port, directory.path);
    endSpans(...numbered(200));
    // What was written, and not acknowledged, comes again.
    const consumer = await manager.jetstream().consumers.get('HOOKS_RECORD', 'collect');
    await sender.close();
    const taken = await consumer.fetch({ max_messages: 200, expires: 1000 });
    const lines: string[] = [];
    for await (const message of taken) {
      lines.push(JSON.stringify({ ...message.json<object>(), from: 'acme/one' }));
    }
    const day = `${new Date().toISOString().slice(0, 10)}.jsonl`;
    const half = lines.slice(100, 101).join('').slice(0, 50);
    await writeFile(
      path.join(directory.path, 'out', day),
      [...lines.slice(0, 100), half].join('\n'),
      { mode: 0o600 },
    );
    const [one, two] = await Promise.all([
      collectApart(nats, directory.path),
      collectApart(nats, directory.path),
    ]);
    expect([one.exitCode, two.exitCode]).toEqual([0, 0]);
    const collected = await readCollected(directory.path);
    expect(collected.map(({ name }) => name).toSorted()).toEqual(numbered(200).toSorted());
  });

  it('is collected until a signal comes, through the end and the return of the server', async () => {
    const token = writeToken(directory.path);
    const out = path.join(directory.path, 'out');
    const args = ['collect', '--nats', nats.url, '--token-file', token, '--out', out];
    const collecting = execa(process.execPath, [MAIN, ...args], { reject: false });
    const { sender } = joinAs(nats.port, directory.path);
    const collected = async () =>
      (await readCollected(directory.path)).map(({ name }) => name).toSorted();
    endSpans('before');
    await vi.waitFor(async () => expect(await collected()).toEqual(['before']), 10_000);
    // Until the server knows that it was written, it would come again.
    const { consumers } = await manage();
    await vi.waitFor(async () => {
      expect(await consumers.info('HOOKS_RECORD', 'collect')).toMatchObject({ num_ack_pending: 0 });
    });
    await nats.restart();
    endSpans('behind');
    await vi.waitFor(async () => expect(await collected()).toEqual(['before', 'behind']), 10_000);
    collecting.kill('SIGTERM');
    const { exitCode, stdout } = await collecting;
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Wrote 2 spans' });
    await sender.close();
  });
});

/** Sends 2000 spans, for which there is no room. */
async function loseSpans(isFull: boolean): Promise<void> {
  const spool = isFull ? {} : { maxBytes: 65_536, segmentBytes: 8192 };
  const { sender, problems } = joinAs(nats.port, directory.path, { spool });
  await vi.waitFor(() => expect(problems).toHaveLength(1));
  for (let at = 0; at < 2000; at += 100) {
    endSpans(...numbered(100, `part${at}-`));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(problems).toHaveLength(2);
  expect(problems[1]).toMatch(
    isFull ? /spans are lost.*cannot be kept on disk either .*ENOSPC/ : /the oldest had to go/,
  );
  await nats.restart();
  await vi.waitFor(async () => expect(await readSpool(directory.path)).toEqual([]), 10_000);
  await sender.close();
  await collectOnce(nats, directory.path);
}
