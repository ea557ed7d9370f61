import { chmodSync } from 'node:fs';
import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectNats } from '../../src/fleet/natsConnection.js';
import { MAIN } from '../cli/helpers.js';
import { rawClient } from '../helpers/fleetQuestions.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';
import { useTempDir } from '../helpers/tempDir.js';
import {
  collectOnce,
  endSpans,
  joinAs,
  numbered,
  readCollected,
  readSpool,
  writeToken,
} from './recordHelpers.js';

const directory = useTempDir();

let nats: TestNats;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.dispose());

function asPolicy() {
  const address = { server: `127.0.0.1:${nats.port}`, tls: false };
  return connectNats({ address, secret: FLEET_SECRETS.policy, name: 'test' });
}

describe('the record of a fleet', () => {
  it('keeps spans on disk while there is no stream, and has each once when there is one', async () => {
    const first = joinAs(nats.port, directory.path);
    endSpans('early');
    // Over the border of an account nobody says that there is none.
    await vi.waitFor(() => expect(first.problems).toHaveLength(1), 8000);
    expect(first.problems[0]).toMatch(/does not take what is sent .*kept on disk, and sent later/);
    await first.sender.close();
    expect(await readSpool(directory.path)).toEqual(['early']);

    expect(await collectOnce(nats, directory.path)).toMatchObject({ exitCode: 0 });
    const second = joinAs(nats.port, directory.path);
    endSpans(...numbered(600));
    await second.sender.close();
    await second.sender.close();
    expect(second.problems).toEqual([]);
    expect(await readSpool(directory.path)).toEqual([]);

    expect((await collectOnce(nats, directory.path)).stdout).toBe('Wrote 601 spans');
    const spans = await readCollected(directory.path);
    expect(spans.map(({ name }) => name).toSorted()).toEqual(
      ['early', ...numbered(600)].toSorted(),
    );
    expect(new Set(spans.map(({ from }) => from))).toEqual(new Set(['acme/one']));
  });

  it('is read as a trace, of which each file is of its owner alone', async () => {
    const { sender } = joinAs(nats.port, directory.path);
    endSpans('guard');
    await sender.close();
    await collectOnce(nats, directory.path);
    const [day = ''] = await readdir(path.join(directory.path, 'out'));
    expect(day).toBe(`${new Date().toISOString().slice(0, 10)}.jsonl`);
    const file = path.join(directory.path, 'out', day);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { stdout } = await execa(process.execPath, [MAIN, 'trace', file]);
    expect(stdout).toMatch(/^hook guard \(BeforeTool\) block .*acme\/one\n +why guard/);
  });

  it('is not at the command of an agent by where the acknowledgement goes', async () => {
    const { sender } = joinAs(nats.port, directory.path);
    endSpans('evidence');
    await sender.close();
    const thief = await rawClient(nats, 'two', '_INBOX.acme.two');
    const span = JSON.stringify({
      id: 'b'.repeat(16),
      kind: 'hook',
      name: 'x',
      start: 1,
      durationMs: 1,
    });
    // An acknowledgement can be read as: remove all up to here.
    const sent = { reply: '$JS.API.STREAM.PURGE.HOOKS_RECORD' };
    thief.publish('hooks.event.acme.two', span, sent);
    await thief.request('hooks.event.acme.two', span.replaceAll('b', 'c'), { timeout: 4000 });
    await thief.close();
    expect((await collectOnce(nats, directory.path)).stdout).toBe('Wrote 3 spans');
  });

  it('takes nothing that an agent sends under the name of another', async () => {
    const { sender, problems } = joinAs(nats.port, directory.path, { agent: 'two', flushMs: 200 });
    endSpans('stolen');
    await vi.waitFor(() => expect(problems).toHaveLength(1));
    await sender.close();
    expect(problems[0]).toMatch(/Permissions Violation/i);
    expect(await readSpool(directory.path)).toEqual(['stolen']);
    expect((await collectOnce(nats, directory.path)).stdout).toBe('Wrote 0 spans');
  });

  it('has only spans, with the sender that the server names', async () => {
    const policy = await asPolicy();
    const span = {
      id: 'a'.repeat(16),
      parent: null,
      kind: 'hook',
      verdict: 'allow',
      durationMs: 1,
    };
    const start = Date.now();
    const lines = [
      { ...span, name: 'liar\u001b[31m', start, from: 'acme/two', other: 1 },
      { ...span, name: 'of another day', start: 4e15, id: 'b'.repeat(16) },
      { ...span, id: '../../etc', name: 'x', start },
      { ...span, name: 7, start },
      [],
    ];
    for (const line of lines) policy.publish('hooks.event.acme.one', JSON.stringify(line));
    policy.publish('hooks.event.acme.one.more', JSON.stringify(lines[0]));
    policy.publish('hooks.event.acme.one', '{');
    await policy.drain();
    const { stdout, stderr } = await collectOnce(nats, directory.path);
    expect(stdout).toBe('Wrote 2 spans, 5 messages left out');
    expect(stderr).toMatch(/^warning: a message of hooks\.event\.acme\.one is left out: its id/);
    const collected = await readCollected(directory.path);
    expect(collected).toEqual([
      { ...span, name: 'liar', start, from: 'acme/one' },
      expect.objectContaining({ name: 'of another day', from: 'acme/one' }),
    ]);
    expect(await readdir(path.join(directory.path, 'out'))).toHaveLength(1);
  });

  it('is followed live', async () => {
    const token = writeToken(directory.path);
    const following = execa(
      process.execPath,
      [MAIN, 'trace', '--nats', nats.url, '--token-file', token],
      { reject: false },
    );
    let shown = '';
    following.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    const { sender } = joinAs(nats.port, directory.path);
    // It tells what comes from when it is connected.
    await vi.waitFor(
      () => {
        endSpans('live');
        expect(shown).toMatch(/^[\d:.]+ acme\/one hook live \(BeforeTool\) block: why live\n/);
      },
      { timeout: 10_000, interval: 100 },
    );
    following.kill('SIGINT');
    expect(await following).toMatchObject({ exitCode: 0 });
    await sender.close();
    await collectOnce(nats, directory.path);
  });

  it('is of what commands do where the settings say so, and not the project', async () => {
    const token = writeToken(directory.path, FLEET_SECRETS.one);
    const fleet = { url: `${nats.url}/acme/one`, tokenFile: token, record: true };
    const hooks = { BeforeTool: [{ hooks: [{ type: 'command', command: 'true', name: 'own' }] }] };
    const settings = path.join(directory.path, 'settings.json');
    await writeFile(settings, JSON.stringify({ enableHooks: true, hooks, fleet }));
    const env = { HOME: directory.path };
    const fire = (...args: string[]) =>
      execa(process.execPath, [MAIN, 'fire', 'BeforeTool', ...args], { cwd: directory.path, env });
    expect((await fire('--settings', settings)).stderr).toBe('');
    writeToken(directory.path, 'one:of-nobody');
    expect((await fire('--settings', settings)).stderr).toMatch(
      /Authorization Violation \(compare the user and its secret with .*\); what happens is kept on disk/,
    );
    chmodSync(token, 0o644);
    expect((await fire('--settings', settings)).stderr).toMatch(
      /"record" has no effect in "fleet" of the settings: .*others can read it/,
    );
    await collectOnce(nats, directory.path);
    const collected = await readCollected(directory.path);
    expect(collected.map(({ name }) => name).toSorted()).toEqual(['BeforeTool', 'own']);
  });
});
