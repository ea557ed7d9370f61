import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { describe, expect } from 'vitest';
import { collectOnce, readCollected } from '../fleet/recordHelpers.js';
import { startNats, type FLEET_SECRETS } from '../helpers/natsServer.js';
import { rawClient } from '../helpers/fleetQuestions.js';
import { callTool, fleetFault, SOON, type Fleet } from './helpers/fleet.js';
import { POLICY } from './helpers/fleetPolicy.js';

const TOKEN = 'token-of-two-0123456789';

/** A client with the rights of a user. */
async function clientOf(fleet: Fleet, user: keyof typeof FLEET_SECRETS): Promise<NatsConnection> {
  const client = await rawClient(
    fleet.nats,
    user,
    user === 'policy' ? undefined : '_INBOX.acme.two',
  );
  fleet.onClose(() => client.close());
  return client;
}

/** Counts connections, and keeps what comes over them, on all addresses of this machine. */
async function listen(fleet: Fleet, greeting = '') {
  const heard = { connections: 0, text: '', port: 0 };
  const server = createServer((socket) => {
    heard.connections += 1;
    socket.on('error', () => undefined).on('data', (data) => (heard.text += data.toString()));
    socket.write(greeting);
  }).listen(0, '0.0.0.0');
  await once(server, 'listening');
  heard.port = (server.address() as AddressInfo).port;
  fleet.onClose(async () => server.close());
  return heard;
}

describe('a secret', () => {
  fleetFault(
    '106 of another agent: it asks, records and reads in its own name alone',
    async ({ fleet, host }) => {
      const tokens = fleet.writeSecret('tokens', `acme/two ${TOKEN}\nacme/one ${TOKEN}-of-one`);
      const { url } = await fleet.serve(POLICY, { args: ['--tokens', tokens] });
      await collectOnce(fleet.nats, host.directory);
      const stolen = { tokenFile: fleet.secretFile('two') };
      const asOne = await callTool(fleet.agent(stolen), 'write_file', { n: 1 });
      expect(asOne.ran).toBe(false);
      expect(asOne.text).toMatch(/has a secret with which it may not (?:ask|read its answers)/u);
      const asTwo = fleet.agent({ ...stolen, url: `${fleet.nats.url}/acme/two` });
      expect((await callTool(asTwo, 'write_file', { n: 2, deny: true })).text).toContain(
        'to acme/two',
      );
      const overHttp = fleet.agent({
        url: `${url}/v1/events`,
        tokenFile: fleet.writeSecret('token-two', TOKEN),
      });
      const said = await callTool(overHttp, 'write_file', { n: 3, deny: true });
      expect(said.text).toContain('forbids 3 to acme/two');

      const two = await clientOf(fleet, 'two');
      const refused: string[] = [];
      void (async () => {
        for await (const status of two.status()) {
          if (status.type === 'error') refused.push(status.error.message);
        }
      })();
      const publishing = [
        'hooks.ask.acme.one',
        'hooks.approve.acme.one',
        'hooks.event.acme.one',
        '_INBOX.acme.one.x',
        '$KV.hookstack_approvals.x',
        '$KV.hookstack_answers.x',
        '$JS.API.STREAM.INFO.HOOKS_RECORD',
        '$JS.API.CONSUMER.MSG.NEXT.HOOKS_RECORD.collect',
      ];
      const reading = ['hooks.>', '_INBOX.acme.one.>', '_INBOX.>', '$KV.>', '>'];
      for (const subject of publishing)
        two.publish(subject, '{"id":"00f067aa0ba902b7","name":"forged"}');
      for (const subject of reading) two.subscribe(subject, { callback: () => undefined });
      await expect.poll(() => refused.length, SOON).toBe(publishing.length + reading.length);
      host.measure('refused by NATS', refused.length, `of ${publishing.length + reading.length}`);
      await collectOnce(fleet.nats, host.directory);
      const names = (await readCollected(host.directory).catch(() => [])).map(({ name }) => name);
      expect(names).not.toContain('forged');
    },
  );

  fleetFault(
    '109 that is wrong, empty, or would go over plain HTTP: denied, and nothing is sent',
    async ({ fleet, host }) => {
      const heard = await listen(fleet);
      const tokens = fleet.writeSecret('tokens', `acme/one ${TOKEN}`);
      const { server, url } = await fleet.serve(POLICY, { args: ['--tokens', tokens] });
      const right = fleet.writeSecret('right', TOKEN);
      const wrong = fleet.writeSecret('wrong', `${TOKEN}-no`);
      const empty = fleet.writeSecret('empty', '\n');
      const here = `127.0.0.1:${heard.port}`;
      const elsewhere = `0.0.0.0:${heard.port}`;
      const cases = [
        [{ url: `${url}/v1/events`, tokenFile: wrong }, /status 401: The token is not known/u],
        [{ url: `http://${here}/`, tokenFile: empty }, /it is empty/u],
        [{ url: `nats://${here}/acme/one`, tokenFile: empty }, /it is empty/u],
        [{ url: `http://${elsewhere}/`, tokenFile: right }, /http:\/\/ to another machine/u],
        [{ tokenFile: fleet.writeSecret('no', 'one:password-of-no') }, /does not know this user/u],
      ] as const;
      for (const [settings, why] of cases) {
        const called = await callTool(fleet.agent(settings), 'read_file');
        expect(called).toMatchObject({ ran: false, text: expect.stringMatching(why) });
        expect(called.text).not.toContain('password-of-no');
      }
      expect(heard).toMatchObject({ connections: 0, text: '' });
      expect(server.log).toContain('a request was refused: The token is not known');
      expect(server.log).not.toContain(TOKEN);
      host.measure('connections', heard.connections);
      host.measure('denied', cases.length, `of ${cases.length}`);
      const fine = await callTool(
        fleet.agent({ url: `${url}/v1/events`, tokenFile: right }),
        'read_file',
      );
      expect(fine.ran).toBe(true);
    },
  );

  fleetFault(
    '109 that NATS without TLS would hear, on another machine: it is not said',
    async ({ fleet }) => {
      const heard = await listen(
        fleet,
        'INFO {"server_id":"x","version":"2.10.0","proto":1,"max_payload":1048576}\r\n',
      );
      const called = await callTool(
        fleet.agent({ url: `nats://0.0.0.0:${heard.port}/acme/one` }),
        'read_file',
      );
      expect(called).toMatchObject({ ran: false, text: expect.stringMatching(/tls/iu) });
      expect(heard.connections).toBeGreaterThan(0);
      expect(heard.text).toBe('');
    },
  );
});

describe('the secret of a server', () => {
  fleetFault(
    'is replaced at NATS, and then in its file: the server is back without a signal',
    async ({ fleet }) => {
      const config = await readFile('examples/fleet/nats-server.conf', 'utf8');
      const configWith = (password: string) =>
        fleet.writeSecret('nats.conf', config.replace('$FLEET_POLICY', `"${password}"`));
      const nats = await startNats(configWith('password-of-policy'));
      fleet.onClose(() => nats.dispose());
      const { server, url } = await fleet.serve(POLICY, { nats: nats.url });
      const status = async () => (await fetch(`${url}/readyz`)).status;
      await expect.poll(status, SOON).toBe(200);
      configWith('password-of-later');
      process.kill(nats.pid, 'SIGHUP');
      await expect.poll(status, SOON).toBe(503);
      await expect.poll(() => server.log, SOON).toContain('the secret is another one');
      // Also one that is half written is no end.
      fleet.writeSecret('secret-policy', '-----BEGIN NATS USER JWT-----');
      const refusals = async () =>
        (await readFile(path.join(nats.store, 'log'), 'utf8')).split('authentication error').length;
      const before = await refusals();
      await expect.poll(refusals, SOON).toBeGreaterThan(before + 4);
      fleet.writeSecret('secret-policy', 'policy:password-of-later');
      await expect.poll(status, SOON).toBe(200);
      const agent = fleet.agent({ url: `${nats.url}/acme/one` });
      expect((await callTool(agent, 'read_file')).ran).toBe(true);
      expect(server.log).not.toContain('password-of');
    },
  );
});

/** Takes what comes on a subject. */
function keepIn(messages: Msg[]) {
  return { callback: (_: unknown, message: Msg) => void messages.push(message) };
}

describe('an answer', () => {
  fleetFault('107 that is replayed, or to nobody: lets nothing run', async ({ fleet, host }) => {
    await fleet.serve(POLICY);
    const agent = fleet.agent({ timeout: 10_000 });
    const spy = await clientOf(fleet, 'policy');
    const questions: Msg[] = [];
    const answers: Msg[] = [];
    spy.subscribe('hooks.ask.>', keepIn(questions));
    spy.subscribe('_INBOX.acme.one.>', keepIn(answers));
    await spy.flush();
    expect(await callTool(agent, 'write_file', { n: 1 })).toMatchObject({ ran: true });
    await expect.poll(() => [questions.length, answers.length], SOON).toEqual([1, 1]);
    const [allowed] = answers;
    const text = allowed?.string() ?? '';

    const until = path.join(host.directory, 'go on');
    const ask = async (n: number) => {
      const asking = callTool(agent, 'write_file', { n, until, deny: true });
      await expect.poll(() => questions.length, SOON).toBe(n);
      return { asking, inbox: questions[n - 1]?.reply ?? '' };
    };
    const second = await ask(2);
    spy.publish(allowed?.subject ?? '', text);
    spy.publish(`${second.inbox}0`, text);
    spy.publish('_INBOX.acme.one.nobody', text);
    await spy.flush();
    await expect.poll(() => answers.length, SOON).toBe(4);
    const third = await ask(3);
    spy.publish(third.inbox, text);
    expect(await third.asking).toMatchObject({
      ran: false,
      text: expect.stringContaining('the answer to another question'),
    });
    host.touch('go on');
    expect(await second.asking).toMatchObject({
      ran: false,
      text: expect.stringContaining('the policy forbids 2'),
    });
    await expect.poll(() => answers.length, SOON).toBe(7);
    // The right one again, once nobody waits.
    spy.publish(second.inbox, text);
    await spy.flush();
    expect(await callTool(agent, 'write_file', { n: 4 })).toMatchObject({ ran: true });
    host.measure('answers that count', 4, `of ${answers.length}`);
  });
});
