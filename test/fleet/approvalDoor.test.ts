import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, it, vi } from 'vitest';
import { approvalRoutes } from '../../src/cli/serve/approvals/approvalRoutes.js';
import { KvBoard } from '../../src/cli/serve/approvals/kvBoard.js';
import { NatsDoor, type NatsDoorOptions } from '../../src/cli/serve/natsDoor.js';
import { connectNats } from '../../src/fleet/natsConnection.js';
import { agentAt, ask, rawClient, useNats } from '../helpers/fleetQuestions.js';
import { FLEET_SECRETS, startNats } from '../helpers/natsServer.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const { nats, closing } = useNats();

async function openDoor(options: Partial<NatsDoorOptions> = {}) {
  const onWarn = vi.fn<(message: string) => void>();
  const door = await NatsDoor.open({
    url: nats.url,
    readSecret: async () => FLEET_SECRETS.policy,
    answers: { answer: async () => ({ status: 200, body: '{}' }) },
    board: new KvBoard(),
    name: 'test',
    onWarn,
    ...options,
  });
  closing.push(() => door.close());
  return { door, onWarn };
}

const log = () => undefined;

/** Asks over HTTP, and takes that back at once: the status, and what was answered. */
async function postQuestion(board: KvBoard): Promise<[status: number, text: string]> {
  const options = { board, approvers: undefined, isTls: false };
  const routes = approvalRoutes({ ...options, log, onFault: log, onRefused: log });
  const server = createServer(
    (request, response) => void routes(request, response, () => true, 'one'),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1/approvals`;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: '{"takeBack":"x"}' });
  server.close();
  return [response.status, await response.text()];
}

function sockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
}

describe('questions to people', () => {
  it('are answered nowhere but where their asker reads', async () => {
    const { onWarn } = await openDoor();
    const thief = await rawClient(nats, 'one', '_INBOX.acme.one');
    closing.push(() => thief.close());
    const nothing = JSON.stringify({ takeBack: 'x' });
    // An answer to it is all that this command needs.
    const reply = '$JS.API.STREAM.DELETE.KV_hookstack_approvals';
    thief.publish('hooks.approve.acme.one', nothing, { reply });
    const answer = await thief.request('hooks.approve.acme.one', nothing, { timeout: 4000 });
    expect(answer.json()).toEqual({ hookstack: { version: 1, question: 'x' } });
    const policy = await rawClient(nats, 'policy');
    closing.push(() => policy.close());
    const { streams } = await jetstreamManager(policy);
    expect(await streams.names().next()).toEqual(['KV_hookstack_approvals']);
    expect(onWarn.mock.calls).toEqual([[expect.stringMatching(/wants its answer elsewhere/u)]]);
  });

  it('come over the connection of those to hooks', async () => {
    await vi.waitFor(() => expect(sockets()).toBe(0));
    await openDoor();
    // It looks with another one whether the server greets.
    await vi.waitFor(() => expect(sockets()).toBe(1));
  });

  it('keep nobody from asking hooks where there is no JetStream', async () => {
    const own = await startNats('test/fixtures/fleet/withoutJetstream.conf');
    closing.push(() => own.dispose());
    const board = new KvBoard();
    const options = { url: own.url, readSecret: async () => undefined, board };
    const { onWarn } = await openDoor(options);
    expect(await postQuestion(board)).toEqual([404, expect.stringContaining('with JetStream')]);
    expect(await ask(own, { secret: undefined })).toEqual({ status: 200, text: '{}' });
    expect(onWarn.mock.calls).toEqual([
      [expect.stringMatching(/^no person can be asked, .*not enabled \(switch on "jetstream" in/u)],
    ]);
    await expect(openDoor({ ...options, needsBoard: true })).rejects.toThrow(
      /there is no room for questions: .*not enabled \(switch on "jetstream" in/u,
    );
  });

  it('are taken once there is JetStream', { timeout: 20_000 }, async () => {
    const config = path.join(temp.path, 'nats.conf');
    await writeFile(config, 'max_payload: 1MB');
    const own = await startNats(config);
    closing.push(() => own.dispose());
    const board = new KvBoard();
    const { onWarn } = await openDoor({ url: own.url, readSecret: async () => undefined, board });
    expect(await postQuestion(board)).toEqual([404, expect.any(String)]);
    await writeFile(config, `jetstream { store_dir: "${temp.path}" }`);
    await own.restart();
    await vi.waitFor(
      () => expect(onWarn.mock.lastCall).toEqual([expect.stringMatching(/^people can be asked/u)]),
      { timeout: 15_000 },
    );
    expect(await postQuestion(board)).toEqual([200, expect.any(String)]);
    const client = await connectNats({ address: agentAt(own), name: 'raw' });
    closing.push(() => client.close());
    const reply = { reply: '_INBOX.acme.one.a', noMux: true, timeout: 4000 };
    const answer = await client.request('hooks.approve.acme.one', '{"takeBack":"x"}', reply);
    expect(answer.json()).toEqual({ hookstack: { version: 1, question: 'x' } });
  });
});
