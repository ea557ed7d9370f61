import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { collectOnce, readCollected } from '../fleet/recordHelpers.js';
import { freePort, startNats } from '../helpers/natsServer.js';
import { fleetFault, forEachOf, SOON, type Called, type Fleet } from './helpers/fleet.js';
import { AgentProcess } from './helpers/fleetAgent.js';
import { askNumber, hasFailed, POLICY, type Caller } from './helpers/fleetPolicy.js';

const CONFIG = path.resolve('examples/fleet/nats-server.conf');

/** The way between two regions: what is cut swallows everything and closes nothing, as a network does. */
async function cable(fleet: Fleet, to: number) {
  const ends = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.on('data', (data) => void (isCut || into.write(data)));
      from.on('error', () => undefined).on('close', () => void (ends.delete(from), into.destroy()));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  fleet.onClose(async () => {
    server.close();
    for (const end of ends) end.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => void (isCut = true),
    // What was swallowed is lost, and with it the connections that it was of.
    join: () => {
      isCut = false;
      for (const end of ends) end.destroy();
    },
  };
}

const linkOf = (account: string) =>
  `{ user: link_${account}, password: "link", account: ${account} }`;

/** Two nats-servers: the second one is a leaf node of the first, which has JetStream. */
async function regions(fleet: Fleet) {
  const config = await readFile(CONFIG, 'utf8');
  const port = await freePort();
  const home = await startNats(
    fleet.writeSecret(
      'home.conf',
      `${config}
ping_interval: "1s"
leafnodes { listen: "127.0.0.1:${port}", authorization { users: [${linkOf('policy')}, ${linkOf('agents')}] } }`,
    ),
  );
  fleet.onClose(() => home.dispose());
  const between = await cable(fleet, port);
  const remote = (account: string) =>
    `{ url: "nats://link_${account}:link@127.0.0.1:${between.port}", account: ${account} }`;
  const away = await startNats(
    fleet.writeSecret(
      'away.conf',
      `${config.replace(/^jetstream \{[^}]*\}/mu, '').replace('jetstream: enabled', '')}
ping_interval: "1s"
leafnodes { reconnect: 1, remotes: [${remote('policy')}, ${remote('agents')}] }`,
    ),
  );
  fleet.onClose(() => away.dispose());
  return { home, away, between };
}

describe('two regions', () => {
  fleetFault(
    'are cut from each other, and joined: each asks its own servers, and the record is whole',
    { timeout: 90_000 },
    async ({ fleet, host }) => {
      const { home, away, between } = await regions(fleet);
      await collectOnce(home, host.directory);
      await fleet.serve(POLICY, { nats: home.url });
      const far = await fleet.serve(POLICY, { nats: away.url });
      const agents = [
        await AgentProcess.start(fleet, { nats: home.url }),
        await AgentProcess.start(fleet, { nats: away.url }),
      ];
      const askAll = async (from: number, count: number) => {
        const failed: Called[] = [];
        await forEachOf(count, 8, async (n) => {
          const agent = agents[n % 2]!;
          const ask: Caller = (tool, input) => agent.call(tool, input);
          const called = await askNumber(ask, from + 10 * n);
          if (hasFailed(from + 10 * n, called)) failed.push(called);
        });
        return failed.map(({ text }) => text);
      };
      await expect.poll(() => askAll(0, 20), SOON).toEqual([]);
      expect(await askAll(1000, 200)).toEqual([]);
      between.cut();
      expect(await askAll(10_000, 400)).toEqual([]);
      // Once NATS has noticed it, too.
      const log = () => readFile(path.join(away.store, 'log'), 'utf8');
      await expect.poll(log, SOON).toMatch(/Leafnode connection closed/iu);
      expect((await fetch(`${far.url}/readyz`)).status).toBe(200);
      expect(await askAll(20_000, 200)).toEqual([]);
      between.join();
      expect(await askAll(30_000, 400)).toEqual([]);
      // Without servers of its own, a region asks those of the other one.
      await far.server.kill();
      await expect.poll(() => askAll(40_000, 40), SOON).toEqual([]);
      for (const agent of agents) await agent.end();
      await expect
        .poll(async () => {
          await collectOnce(home, host.directory);
          const spans = await readCollected(host.directory);
          expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
          return spans.filter(({ kind }) => kind === 'tool').length;
        }, SOON)
        .toBe(agents[0]!.answered + agents[1]!.answered);
    },
  );
});
