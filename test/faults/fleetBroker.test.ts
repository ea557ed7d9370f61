import { describe, expect } from 'vitest';
import { fleetFault, forEachOf, SOON, type Called } from './helpers/fleet.js';
import { TestNetwork } from './helpers/testNetwork.js';
import { collectOnce, readCollected } from '../fleet/recordHelpers.js';
import { AgentProcess } from './helpers/fleetAgent.js';
import { askNumber, hasFailed, POLICY } from './helpers/fleetPolicy.js';
import { TIMED } from './helpers/host.js';

describe('the broker', () => {
  fleetFault(
    '100 is killed, and comes back: guards fail closed meanwhile',
    TIMED,
    async ({ fleet, host }) => {
      const { server } = await fleet.serve(POLICY);
      const agent = fleet.agent({ timeout: 1000 });
      const askAll = async (from: number, count: number) => {
        const failed: Called[] = [];
        await forEachOf(count, 16, async (n) => {
          const called = await askNumber(agent, from + n);
          if (hasFailed(from + n, called)) failed.push(called);
        });
        return failed;
      };
      await expect.poll(() => askAll(0, 40), SOON).toEqual([]);
      let broken: Promise<void> | undefined;
      const around: Called[] = [];
      await forEachOf(1000, 16, async (n) => {
        if (n === 600) broken = fleet.nats.kill();
        const called = await askNumber(agent, n);
        if (hasFailed(n, called)) around.push(called);
      });
      await broken;
      host.measure('failed around its end', around.length, 'of 1000');
      expect(around.length).toBeLessThanOrEqual(416);
      const meanwhile = await askAll(3000, 40);
      expect(meanwhile).toHaveLength(40);
      const longest = Math.max(...meanwhile.map(({ ms }) => ms));
      host.measure('longest meanwhile', longest, 'ms');
      expect(longest).toBeLessThan(2000);
      const startedAt = performance.now();
      await fleet.nats.restart();
      await expect.poll(async () => (await askNumber(agent, 10)).ran, SOON).toBe(true);
      host.measure('answered again after', performance.now() - startedAt, 'ms');
      expect(await askAll(4000, 200)).toEqual([]);
      expect(server.log).toMatch(/NATS at \S+ is lost; it is tried again/u);
      expect(host.warnings.join('\n')).toMatch(
        /lost its connection to NATS|NATS cannot be reached/u,
      );
    },
  );

  fleetFault.skipIf(process.getuid?.() !== 0)(
    '103 cannot be reached, as the network is cut: the guard denies by its deadline',
    TIMED,
    async ({ fleet, host }) => {
      const network = await TestNetwork.open(fleet, `hs${process.pid}`);
      await collectOnce(fleet.nats, host.directory);
      const { server } = await fleet.serve(POLICY, { nats: network.here });
      const agent = await AgentProcess.start(fleet, {
        nats: network.there,
        namespace: network.name,
        guard: { timeout: 800 },
      });
      const ask = (n: number) => askNumber((tool, input) => agent.call(tool, input), n);
      await expect.poll(async () => (await ask(10)).ran, SOON).toBe(true);
      expect((await ask(20)).text).toContain('the policy forbids 20');
      await network.cut();
      const cut = await Promise.all([30, 40, 41, 50].map(ask));
      expect(cut.map(({ ran }) => ran)).toEqual([false, false, false, false]);
      const longest = Math.max(...cut.map(({ ms }) => ms));
      host.measure('longest while it is cut', longest, 'ms');
      expect(longest).toBeLessThan(1800);
      expect(agent.log).toMatch(/timed out after 800 ms/u);
      const startedAt = performance.now();
      await network.mend();
      await expect.poll(async () => (await ask(70)).ran, SOON).toBe(true);
      host.measure('answered again after', performance.now() - startedAt, 'ms');
      expect((await ask(80)).text).toContain('the policy forbids 80');
      await agent.end();
      await collectOnce(fleet.nats, host.directory);
      const spans = await readCollected(host.directory);
      expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
      const tools = spans.filter(({ kind }) => kind === 'tool');
      expect(tools.length).toBe(agent.answered);
      host.measure('spans', spans.length, 'each once');
      expect(server.log).not.toMatch(/error/u);
    },
  );
});
