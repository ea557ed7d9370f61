import { connect } from 'node:net';
import path from 'node:path';
import { describe, expect } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { callTool, fleetFault, forEachOf, SOON, toMiB, type Fleet } from './helpers/fleet.js';
import { askNumber, hasFailed, POLICY } from './helpers/fleetPolicy.js';
import { TIMED } from './helpers/host.js';

/** Asks over HTTP. */
function overHttp(url: string): Partial<CommandHookConfig> {
  return { url: `${url}/v1/events` };
}

/** Has the hooks of all servers started. */
async function warmUp(fleet: Fleet): Promise<void> {
  const agent = fleet.agent({ timeout: 10_000 });
  await forEachOf(40, 20, async (n) => {
    expect(hasFailed(10 * n, await askNumber(agent, 10 * n))).toBe(false);
  });
}

describe('a policy server', () => {
  fleetFault(
    '99 killed, one of three, in the middle of 10,000 questions',
    async ({ fleet, host }) => {
      const servers = await Promise.all([1, 2, 3].map(() => fleet.serve(POLICY)));
      const agent = fleet.agent();
      const total = 10_000;
      let [failed, failedLate, longest] = [0, 0, 0];
      let killed = false;
      const startedAt = performance.now();
      await forEachOf(total, 64, async (n) => {
        if (n === 4000) {
          await servers[0]!.server.kill();
          killed = true;
        }
        const isLate = killed;
        const called = await askNumber(agent, n);
        longest = Math.max(longest, called.ms);
        if (!hasFailed(n, called)) return;
        failed += 1;
        if (isLate) failedLate += 1;
      });
      host.measure('failed closed', failed, `of ${total}`);
      host.measure('longest', longest, 'ms');
      host.measure('all', performance.now() - startedAt, 'ms');
      expect(failed).toBeLessThanOrEqual(64);
      // Who asks once it is gone is answered by another one.
      expect(failedLate).toBe(0);
    },
  );

  fleetFault(
    '101 hangs, one of three: the others answer, and late answers change nothing',
    TIMED,
    async ({ fleet, host }) => {
      const servers = await Promise.all([1, 2, 3].map(() => fleet.serve(POLICY)));
      const agent = fleet.agent({ timeout: 500 });
      const ask = async (from: number, count: number) => {
        let failed = 0;
        await forEachOf(count, 30, async (n) => {
          const called = await askNumber(agent, from + n);
          expect(called.ms).toBeLessThan(500 + 1000);
          if (hasFailed(from + n, called)) failed += 1;
        });
        return failed;
      };
      await warmUp(fleet);
      servers[0]!.server.signal('SIGSTOP');
      const failed = await ask(100, 300);
      host.measure('failed', failed, 'of 300 while one of three hangs');
      expect(failed).toBe(0);
      servers[0]!.server.signal('SIGCONT');
      await expect.poll(() => ask(1000, 60), SOON).toBe(0);
    },
  );

  fleetFault(
    '101 hangs, the only one: the guard denies at its timeout',
    TIMED,
    async ({ fleet, host }) => {
      const { server } = await fleet.serve(POLICY);
      const agent = fleet.agent({ timeout: 300 });
      await warmUp(fleet);
      server.signal('SIGSTOP');
      const called = await askNumber(agent, 30);
      host.measure('denied after', called.ms, 'ms');
      expect(called.text).toContain('timed out');
      expect(called.ran).toBe(false);
      expect(called.ms).toBeLessThan(1300);
      server.signal('SIGCONT');
      await expect.poll(async () => (await askNumber(agent, 50)).ran, SOON).toBe(true);
    },
  );

  fleetFault(
    '102 slow, and full: it refuses at once what it cannot take, and keeps no queue',
    async ({ fleet, host }) => {
      const { server, url } = await fleet.serve(POLICY, { args: ['--max-concurrent', '8'] });
      const agent = fleet.agent({ timeout: 60_000 });
      await askNumber(agent, 10);
      const before = server.memory;
      const until = path.join(host.directory, 'go on');
      const slow = [1, 2, 3, 4].map((n) =>
        callTool(agent, 'write_file', { n, until, deny: n % 2 === 0 }),
      );
      await expect
        .poll(async () => (await fetch(`${url}/metrics`)).text(), SOON)
        .toMatch(/in_flight 4$/mu);
      let refused = 0;
      const large = 'x'.repeat(50_000);
      await forEachOf(200, 50, async (n) => {
        const { ran, text } = await callTool(agent, 'write_file', { n, deny: true, large });
        expect(ran).toBe(false);
        if (text.includes('status 503')) refused += 1;
      });
      host.measure('refused', refused, 'of 200');
      expect(refused).toBe(200);
      expect((await callTool(agent, 'read_file')).ran).toBe(true);
      host.touch('go on');
      const texts = (await Promise.all(slow)).map(({ ran, text }) => (ran ? 'ran' : text));
      expect(texts).toEqual(
        ['ran', 'forbids 2', 'ran', 'forbids 4'].map((each) => expect.stringContaining(each)),
      );
      const grown = toMiB(server.memory - before);
      host.measure('memory grown by', grown, 'MiB');
      expect(grown).toBeLessThan(128);
      expect(server.log).toContain(
        'a question was refused, as hooks work on 8 already, or on half as many',
      );
    },
  );

  fleetFault(
    '108 a question of 10 MB: answered or refused over HTTP, and not sent over NATS',
    async ({ fleet, host }) => {
      const [wide, narrow] = await Promise.all([
        fleet.serve(POLICY),
        fleet.serve(POLICY, { args: ['--max-body', '4'] }),
      ]);
      const large = 'x'.repeat(10 * 1024 * 1024);
      const put = (settings: Partial<CommandHookConfig>, input: object = {}) =>
        callTool(fleet.agent({ timeout: 10_000, ...settings }), 'write_file', { large, ...input });

      expect(await put(overHttp(wide.url))).toMatchObject({ ran: true });
      const denied = await put(overHttp(wide.url), { n: 7, deny: true });
      expect(denied.text).toContain('the policy forbids 7');
      const refused = await put(overHttp(narrow.url));
      expect(refused.ran).toBe(false);
      expect(refused.text).toMatch(/status 413: The body is larger than 4194304 bytes/u);
      const unsent = await put({});
      expect(unsent.ran).toBe(false);
      expect(unsent.text).toMatch(/could not ask: its question has \d+ bytes, and NATS takes \d+/u);

      const many = await Promise.all(
        Array.from({ length: 6 }, (_, n) => put(overHttp(wide.url), { n, deny: true })),
      );
      expect(many.filter(({ ran }) => ran)).toEqual([]);
      host.measure('memory of the server', toMiB(wide.server.memory), 'MiB');
      host.measure('of one that refuses', toMiB(narrow.server.memory), 'MiB');
      expect(toMiB(wide.server.memory)).toBeLessThan(700);
      expect(toMiB(narrow.server.memory)).toBeLessThan(200);
    },
  );

  fleetFault(
    '110 200 connections that send nothing, at HTTP and at NATS: they are closed',
    TIMED,
    async ({ fleet, host }) => {
      const { server, url } = await fleet.serve(POLICY);
      const before = server.memory;
      let open = 0;
      const sockets = [Number(new URL(url).port), fleet.nats.port].flatMap((port) =>
        Array.from({ length: 200 }, () => {
          const socket = connect(port, '127.0.0.1', () => (open += 1));
          return socket
            .on('error', () => undefined)
            .on('close', () => (open -= 1))
            .resume();
        }),
      );
      await expect.poll(() => open, SOON).toBe(sockets.length);
      const startedAt = performance.now();
      const agents = [fleet.agent(), fleet.agent(overHttp(url))];
      for (const agent of agents) {
        const called = await askNumber(agent, 20);
        expect(called.text).toContain('the policy forbids 20');
        expect(called.ms).toBeLessThan(1000);
        expect(await askNumber(agent, 30)).toMatchObject({ ran: true });
      }
      host.measure('memory grown by', toMiB(server.memory - before), 'MiB');
      expect(toMiB(server.memory - before)).toBeLessThan(64);
      await expect.poll(() => open, SOON).toBe(0);
      host.measure('all closed after', performance.now() - startedAt, 'ms');
    },
  );
});
