import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { get } from 'node:https';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { execa } from 'execa';
import { describe, expect } from 'vitest';
import { freePort } from '../helpers/natsServer.js';
import {
  callTool,
  fleetFault,
  forEachOf,
  SOON,
  type Called,
  type Fleet,
  type PolicyServer,
} from './helpers/fleet.js';
import { askNumber, hasFailed, POLICY } from './helpers/fleetPolicy.js';
import { TIMED } from './helpers/host.js';

const DEPLOY = path.resolve(import.meta.dirname, '../../examples/fleet/deploy');

/** Makes certificates and tokens as an operator does. */
function makeSecrets(fleet: Fleet) {
  const at = (file: string) => path.join(fleet.host.directory, file);
  cpSync(path.join(DEPLOY, 'secrets.sh'), at('secrets.sh'));
  execFileSync(at('secrets.sh'), ['one'], { stdio: 'pipe' });
  const [cert, key, tokens] = ['server.pem', 'server.key', 'tokens'].map((name) =>
    at(`secrets/${name}`),
  ) as [string, string, string];
  const token = /^acme\/one (\S+)$/mu.exec(readFileSync(tokens, 'utf8'))![1]!;
  const pair = readFileSync(cert, 'utf8') + readFileSync(key, 'utf8');
  return {
    cert,
    key,
    tokens,
    tokenFile: fleet.writeSecret('token', token),
    pairFile: fleet.writeSecret('pair.pem', pair),
  };
}

/** Debian's HAProxy with the file that operators begin with, before two servers. */
async function balance(fleet: Fleet, args: readonly string[] = []) {
  const { cert, key, tokens, tokenFile, pairFile } = makeSecrets(fleet);
  const tls = ['--cert', cert, '--key', key, '--tokens', tokens];
  const serve = () => fleet.serve(POLICY, { args: [...tls, ...args] });
  const served = [await serve(), await serve()] as const;
  const [port, people] = [await freePort(), await freePort()];
  const config = readFileSync(path.join(DEPLOY, 'haproxy.cfg'), 'utf8')
    .replaceAll(/\/etc\/haproxy\/(?:policy|approvals)\.example\.pem/gu, pairFile)
    .replaceAll('/etc/haproxy/servers.pem', cert)
    .replace('bind :8787', `bind 127.0.0.1:${port}`)
    .replace('bind :443', `bind 127.0.0.1:${people}`)
    .replaceAll(/policy-(\d):8787/gu, (_, n) => new URL(served[Number(n) - 1]!.url).host);
  const file = fleet.writeSecret('haproxy.cfg', config);
  const balancer = execa('haproxy', ['-db', '-f', file], { reject: false, buffer: false });
  let log = '';
  for (const stream of [balancer.stdout, balancer.stderr])
    stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  fleet.onClose(async () => {
    balancer.kill('SIGKILL');
    await balancer;
  });
  const secrets = { tokenFile, caFile: cert };
  return {
    servers: served.map(({ server }) => server),
    /** How many more questions each server takes. */
    rooms: () => Promise.all(served.map(({ url }) => roomOf(url, readFileSync(cert, 'utf8')))),
    askWithin: (timeout: number) =>
      fleet.agent({ url: `https://127.0.0.1:${port}/v1/events`, timeout, ...secrets }),
    log: () => log,
  };
}

async function roomOf(url: string, ca: string): Promise<number> {
  const said = await new Promise<unknown>((resolve, reject) => {
    get(`${url}/readyz`, { ca, agent: false }, (response) => resolve(json(response))).on(
      'error',
      reject,
    );
  });
  return (said as { room: number }).room;
}

const READY = ['ready/policy-1', 'ready/policy-2'];

interface Unready {
  readonly why: string;
  readonly args?: readonly string[];
  /** Servers that are not ready when questions are asked, as NATS is gone. */
  readonly before?: readonly string[];
  /** Servers that HAProxy takes out then. */
  readonly gone: readonly string[];
  readonly change?: (what: { fleet: Fleet; first: PolicyServer }) => unknown;
}

const UNREADY: readonly Unready[] = [
  {
    why: 'one server drains',
    gone: ['ready/policy-1'],
    change: ({ first }) => first.signal('SIGTERM'),
  },
  {
    why: 'one server drains where NATS is lost',
    before: READY,
    gone: ['alive/policy-1'],
    change: ({ first }) => first.signal('SIGTERM'),
  },
  { why: 'both are full', args: ['--max-concurrent', '1'], gone: READY },
  { why: 'both lose NATS', gone: READY, change: ({ fleet }) => fleet.nats.kill() },
];

describe('behind a load balancer', () => {
  fleetFault(
    'a server hangs under load: what it had fails, and the next ones are answered',
    { ...TIMED, timeout: 90_000 },
    async ({ fleet, host }) => {
      const { servers, askWithin } = await balance(fleet);
      const agent = askWithin(4000);
      const askAll = async (from: number, count: number) => {
        const failed: Called[] = [];
        await forEachOf(count, 8, async (n) => {
          const called = await askNumber(agent, from + n);
          if (hasFailed(from + n, called)) failed.push(called);
        });
        return failed;
      };
      await expect.poll(() => askAll(0, 40), SOON).toEqual([]);
      servers[0]!.signal('SIGSTOP');
      const startedAt = performance.now();
      const failed = await askAll(100, 1000);
      host.measure('failed', failed.length, 'of 1000 while one of two hangs');
      host.measure('all', performance.now() - startedAt, 'ms');
      expect(failed.length).toBeLessThanOrEqual(8);
      servers[0]!.signal('SIGCONT');
      await expect.poll(() => askAll(2000, 100), SOON).toEqual([]);
    },
  );

  for (const { why, args, before = [], gone, change } of UNREADY)
    fleetFault(
      `${why}: what is open is answered`,
      { ...TIMED, timeout: 90_000 },
      async ({ fleet, host }) => {
        const { servers, rooms, askWithin, log } = await balance(fleet, args);
        const notices = async (names: readonly string[]) => {
          for (const name of names) {
            const noticed = new RegExp(`Server ${name} is (?:stopping|DOWN)`, 'u');
            await expect.poll(log, SOON).toMatch(noticed);
          }
        };
        if (before.length > 0) await fleet.nats.kill();
        await notices(before);
        const agent = askWithin(30_000);
        await expect.poll(async () => (await callTool(agent, 'read_file')).ran, SOON).toBe(true);
        const [all = 0] = await rooms();
        const until = path.join(host.directory, 'go on');
        const open: Promise<Called>[] = [];
        const busy = async () => (await rooms()).filter((room) => room < all).length;
        for (const n of [1, 2]) {
          open.push(callTool(agent, 'write_file', { n, until }));
          await expect.poll(busy, SOON).toBe(n);
        }
        await change?.({ fleet, first: servers[0]! });
        await notices(gone);
        // No hook looks at it: it needs no room, and no server that is ready.
        expect(await callTool(agent, 'read_file')).toMatchObject({ ran: true });
        host.touch('go on');
        const answers = await Promise.all(open);
        expect(answers.map((each) => (each.ran ? 'ran' : each.text))).toEqual(['ran', 'ran']);
      },
    );
});
