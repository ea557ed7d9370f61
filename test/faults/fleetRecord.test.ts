import path from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect } from 'vitest';
import { parseFleetAddress } from '../../src/fleet/address.js';
import { postTo } from '../../src/fleet/fleetApprover.js';
import { remoteApprover } from '../../src/fleet/fleetApprover.js';
import { answerTo, requestOf, shownTo, signIn } from '../fleet/approvalHelpers.js';
import {
  collectOnce,
  startCollector,
  joinAs,
  mountSmallDisk,
  readCollected,
  readSpool,
} from '../fleet/recordHelpers.js';
import { rawClient } from '../helpers/fleetQuestions.js';
import { FLEET_SECRETS } from '../helpers/natsServer.js';
import { fixture } from './helpers/childHost.js';
import { fleetFault, forEachOf, SOON, type Fleet } from './helpers/fleet.js';
import { AgentProcess } from './helpers/fleetAgent.js';
import { askNumber, hasFailed, POLICY } from './helpers/fleetPolicy.js';
import { TIMED } from './helpers/host.js';

const HOUR_MS = 3_600_000;
const AN_HOUR_AHEAD = ['--import', fixture('anHourAhead.mjs')];
const ANNA = 'token-of-anna-0123456789';

/** Starts a collector that goes on until it is ended. */
async function collectOn(fleet: Fleet) {
  const child = startCollector(fleet.nats, fleet.host.directory);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return await child;
  };
  fleet.onClose(() => end('SIGKILL'));
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await expect.poll(() => log, SOON).toContain('spans of the fleet are written to');
  return end;
}

/** What a collector took, and has not acknowledged, goes to another one after so many seconds, in place of 30. */
async function redeliverAfter(fleet: Fleet, seconds: number): Promise<void> {
  const client = await rawClient(fleet.nats, 'policy');
  const { consumers } = await jetstreamManager(client);
  await consumers.update('HOOKS_RECORD', 'collect', { ack_wait: seconds * 1_000_000_000 });
  await client.close();
}

/** The names of the calls in the record, each as often as it is there. */
async function collectedTools(fleet: Fleet): Promise<string[]> {
  const spans = await readCollected(fleet.host.directory).catch(() => []);
  const ids = spans.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  return spans.filter(({ kind }) => kind === 'tool').map(({ name }) => name);
}

describe('the record', () => {
  fleetFault(
    '111 has each span once when collector, broker and agent are killed in turn',
    async ({ fleet, host }) => {
      await fleet.serve(POLICY);
      await collectOnce(fleet.nats, host.directory);
      await redeliverAfter(fleet, 1);
      const agent = await AgentProcess.start(fleet);
      const endCollector = await collectOn(fleet);
      const names: string[] = [];
      const call = async (by: AgentProcess, count: number) => {
        const added = Array.from({ length: count }, (_, n) => `tool${names.length + n}`);
        names.push(...added);
        await forEachOf(count, 16, async (n) => void (await by.call(added[n] ?? '')));
      };
      await call(agent, 100);
      await expect.poll(() => collectedTools(fleet), SOON).not.toHaveLength(0);
      await endCollector('SIGKILL');
      const endSecond = await collectOn(fleet);
      await call(agent, 50);
      await fleet.nats.kill();
      await call(agent, 50);
      await agent.kill();
      expect(agent.log).toMatch(/what happens is kept on disk, and sent later/u);
      const next = await AgentProcess.start(fleet);
      await call(next, 50);
      await fleet.nats.restart();
      await next.end();
      const last = await AgentProcess.start(fleet);
      await call(last, 50);
      await last.end();
      const has = async () => new Set(await collectedTools(fleet)).size;
      await expect.poll(has, SOON).toBe(names.length);
      expect(await endSecond('SIGTERM')).toMatchObject({ exitCode: 0 });
      expect((await collectedTools(fleet)).toSorted()).toEqual(names.toSorted());
      host.measure('spans', (await readCollected(host.directory)).length, 'each once');
    },
  );

  fleetFault(
    '105 finds its disk full: guards and tools go on, and what is missing is counted',
    async ({ fleet, host }) => {
      await fleet.serve(POLICY);
      await collectOnce(fleet.nats, host.directory);
      const unmount = mountSmallDisk(path.join(host.directory, 'spool'));
      try {
        const spool = unmount ? {} : { maxBytes: 65_536, segmentBytes: 8192 };
        const { sender, problems } = joinAs(fleet.nats.port, host.directory, { spool });
        const agent = fleet.agent({ timeout: 1000 });
        await expect.poll(async () => (await askNumber(agent, 10)).ran, SOON).toBe(true);
        await fleet.nats.kill();
        await expect.poll(() => problems.length, SOON).toBe(1);
        await forEachOf(250, 16, async (n) => {
          expect(hasFailed(n, await askNumber(agent, n))).toBe(true);
        });
        expect(problems.join('\n')).toMatch(/spans are lost, and counted/u);
        await fleet.nats.restart();
        await expect.poll(() => readSpool(host.directory), SOON).toEqual([]);
        await expect.poll(async () => (await askNumber(agent, 10)).ran, SOON).toBe(true);
        await sender.close();
      } finally {
        unmount?.();
      }
      await collectOnce(fleet.nats, host.directory);
      const spans = await readCollected(host.directory);
      const missing = spans.reduce((sum, { sizes }) => sum + (sizes?.missing ?? 0), 0);
      expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
      expect(missing).toBeGreaterThan(0);
      host.measure('spans', spans.length);
      host.measure('missing, and counted', missing);
    },
  );
});

describe('clocks', () => {
  fleetFault(
    '104 an hour apart: verdicts, deadlines and the record are the same',
    TIMED,
    async ({ fleet, host }) => {
      await collectOnce(fleet.nats, host.directory);
      const { server } = await fleet.serve(POLICY, { node: AN_HOUR_AHEAD });
      const behind = { CLOCK_SHIFT_MS: String(-HOUR_MS) };
      const agents = await Promise.all([
        AgentProcess.start(fleet, { guard: { timeout: 600 } }),
        AgentProcess.start(fleet, { guard: { timeout: 600 }, node: AN_HOUR_AHEAD, env: behind }),
      ]);
      for (const agent of agents) {
        const call = agent.call.bind(agent);
        await expect.poll(async () => (await askNumber(call, 10)).ran, SOON).toBe(true);
        expect(hasFailed(20, await askNumber(call, 20))).toBe(false);
        const late = await agent.call('write_file', { n: 1, until: '/nowhere' });
        expect(late).toMatchObject({ ran: false, text: expect.stringMatching(/timed out after/u) });
        expect(late.ms).toBeGreaterThan(590);
        expect(late.ms).toBeLessThan(1600);
        host.measure('denied after', late.ms, 'ms of 600');
      }
      expect(server.log).not.toMatch(/error/u);
      const calls = agents.reduce((sum, { answered }) => sum + answered, 0);
      await Promise.all(agents.map((agent) => agent.end()));
      await collectOnce(fleet.nats, host.directory);
      expect(await collectedTools(fleet)).toHaveLength(calls);
      host.measure('calls', calls, 'each once in the record');
    },
  );

  fleetFault(
    '104 an hour apart: a person has the time that was given',
    TIMED,
    async ({ fleet, host }) => {
      const args = ['--approvers', fleet.writeSecret('approvers', `anna ${ANNA}`)];
      const behind = { CLOCK_SHIFT_MS: String(-HOUR_MS) };
      const [ahead, late] = await Promise.all([
        fleet.serve(POLICY, { args, node: AN_HOUR_AHEAD }),
        fleet.serve(POLICY, { args, node: AN_HOUR_AHEAD, env: behind }),
      ]);
      const address = parseFleetAddress(`${fleet.nats.url}/acme/one`);
      const approve = remoteApprover(postTo(address, { secret: FLEET_SECRETS.one }));
      const ask = (ms: number) =>
        approve(requestOf({ expiresAt: Date.now() + ms }), {
          signal: new AbortController().signal,
        });
      for (const { url } of [ahead, late]) {
        const asked = Promise.resolve(ask(20_000));
        const anna = await signIn(url, ANNA);
        const shown = await shownTo(anna);
        const { leftMs } = shown;
        host.measure('time left', leftMs, 'ms of 20,000');
        expect(leftMs).toBeGreaterThan(15_000);
        expect(leftMs).toBeLessThanOrEqual(20_000);
        await answerTo(anna, shown, { decision: 'allow' });
        expect(await asked).toEqual({ decision: 'allow', by: 'anna' });
      }
      const startedAt = performance.now();
      await expect(Promise.resolve(ask(600))).rejects.toThrow('nobody has answered in time');
      host.measure('lapsed after', performance.now() - startedAt, 'ms of 600');
      expect(performance.now() - startedAt).toBeLessThan(4000);
    },
  );
});
