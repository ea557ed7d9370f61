import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { makeCertificates } from '../fleet/certificates.js';
import { collectOnce, readCollected } from '../fleet/recordHelpers.js';
import { startNats } from '../helpers/natsServer.js';
import { fleetFault, forEachOf, SOON, type Called, type Fleet } from './helpers/fleet.js';
import { AgentProcess } from './helpers/fleetAgent.js';
import { askNumber, hasFailed, POLICY, type Caller } from './helpers/fleetPolicy.js';
import { TIMED, type Host } from './helpers/host.js';

const LANES = 8;
const TOKEN = 'token-of-acme-one-0123456789';
const CONFIG = path.resolve('examples/fleet/nats-server.conf');

/** Asks on and on while something is changed, and a while longer. */
async function during(ask: Parameters<typeof askNumber>[0], change: () => Promise<unknown>) {
  const failed: Called[] = [];
  let [from, asked] = [1000, 0];
  const some = async (count: number) => {
    const start = from;
    from += count;
    asked += count;
    await forEachOf(count, LANES, async (n) => {
      const called = await askNumber(ask, start + n);
      if (hasFailed(start + n, called)) failed.push(called);
    });
  };
  const over = new AbortController();
  const changed = change().finally(() => over.abort());
  while (!over.signal.aborted) await some(100);
  await changed;
  await some(300);
  return { failed: failed.map(({ text }) => text), asked };
}

function certificatesOf(host: Host) {
  const directory = path.join(host.directory, 'certificates');
  mkdirSync(directory, { recursive: true });
  // Another authority each time, in the same files.
  return makeCertificates(directory);
}

async function configOf(fleet: Fleet, more: string): Promise<string> {
  const config = await readFile(CONFIG, 'utf8');
  return fleet.writeSecret('nats.conf', `${config}\n${more}`);
}

describe('while agents ask', () => {
  fleetFault(
    'the certificate and the authority of a server are replaced: no question fails',
    { ...TIMED, timeout: 90_000 },
    async ({ fleet, host }) => {
      const { ca, cert, key } = certificatesOf(host);
      const tokens = fleet.writeSecret('tokens', `acme/one ${TOKEN}`);
      const args = ['--cert', cert, '--key', key, '--tokens', tokens];
      const { server, url } = await fleet.serve(POLICY, { args });
      const tokenFile = fleet.writeSecret('token', TOKEN);
      const agent = fleet.agent({
        url: `${url}/v1/events`,
        caFile: ca,
        tokenFile,
        timeout: 10_000,
      });
      await expect.poll(async () => (await askNumber(agent, 10)).ran, SOON).toBe(true);
      for (let times = 0; times < 3; times++) {
        const { failed, asked } = await during(agent, async () => {
          certificatesOf(host);
          server.signal('SIGHUP');
        });
        host.measure('asked', asked);
        expect(failed).toEqual([]);
      }
    },
  );

  fleetFault(
    'certificates of NATS are replaced, with a reload and with a restart: no question fails',
    { ...TIMED, timeout: 90_000 },
    async ({ fleet, host }) => {
      const { ca, cert, key } = certificatesOf(host);
      const config = await configOf(fleet, `tls { cert_file: "${cert}", key_file: "${key}" }`);
      const nats = await startNats(config);
      fleet.onClose(() => nats.dispose());
      const at = `tls://127.0.0.1:${nats.port}`;
      await fleet.serve(POLICY, { nats: at, args: ['--nats-ca', ca] });
      const agent = fleet.agent({ url: `${at}/acme/one`, caFile: ca, timeout: 10_000 });
      await expect.poll(async () => (await askNumber(agent, 10)).ran, SOON).toBe(true);
      const reloaded = await during(agent, async () => {
        certificatesOf(host);
        process.kill(nats.pid, 'SIGHUP');
      });
      expect(reloaded.failed).toEqual([]);
      const restarted = await during(agent, () => nats.restart());
      host.measure('failed around the restart', restarted.failed.length, `of ${restarted.asked}`);
      expect(restarted.failed).toEqual([]);
    },
  );

  fleetFault(
    'NATS is replaced by one of another configuration: no question fails, and the record is whole',
    { ...TIMED, timeout: 90_000 },
    async ({ fleet, host }) => {
      const nats = await startNats(await configOf(fleet, ''));
      fleet.onClose(() => nats.dispose());
      await fleet.serve(POLICY, { nats: nats.url });
      await collectOnce(nats, host.directory);
      const agent = await AgentProcess.start(fleet, { nats: nats.url });
      const ask: Caller = (tool, input) => agent.call(tool, input);
      await expect.poll(async () => (await askNumber(ask, 10)).ran, SOON).toBe(true);
      for (const payload of ['4MB', '8MB', '2MB']) {
        const { failed, asked } = await during(ask, async () => {
          await configOf(fleet, `max_payload: ${payload}`);
          await nats.restart();
        });
        host.measure('failed', failed.length, `of ${asked}`);
        expect(failed).toEqual([]);
      }
      await agent.end();
      await collectOnce(nats, host.directory);
      const spans = await readCollected(host.directory);
      expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
      expect(spans.filter(({ kind }) => kind === 'tool')).toHaveLength(agent.answered);
    },
  );
});
