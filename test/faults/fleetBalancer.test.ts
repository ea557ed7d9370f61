import { execa } from 'execa';
import { describe, expect } from 'vitest';
import { freePort } from '../helpers/natsServer.js';
import { fleetFault, forEachOf, SOON, type Called, type Fleet } from './helpers/fleet.js';
import { askNumber, hasFailed, POLICY } from './helpers/fleetPolicy.js';
import { TIMED } from './helpers/host.js';

const TOKEN = 'token-of-acme-one-0123456789';

/** Debian's HAProxy before servers, which looks at `/readyz` each half second. */
async function balance(fleet: Fleet, urls: readonly string[]): Promise<string> {
  const port = await freePort();
  const servers = urls.map((url, n) => `  server p${n} ${new URL(url).host}`);
  const config = `
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
listen policy
  bind 127.0.0.1:${port}
  option httpchk GET /readyz
  timeout check 500ms
  default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
  const file = fleet.writeSecret('haproxy.cfg', config);
  const balancer = execa('haproxy', ['-db', '-f', file], { reject: false });
  fleet.onClose(async () => {
    balancer.kill('SIGKILL');
    await balancer;
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () => fetch(`${url}/readyz`).then(({ status }) => status, String);
  await expect.poll(isReady, SOON).toBe(200);
  return url;
}

describe('behind a load balancer', () => {
  fleetFault(
    'a server hangs under load: what it had fails, and the next ones are answered',
    { ...TIMED, timeout: 90_000 },
    async ({ fleet, host }) => {
      const args = ['--tokens', fleet.writeSecret('tokens', `acme/one ${TOKEN}`)];
      const served = await Promise.all([1, 2].map(() => fleet.serve(POLICY, { args })));
      const url = await balance(
        fleet,
        served.map((each) => each.url),
      );
      const tokenFile = fleet.writeSecret('token', TOKEN);
      const agent = fleet.agent({ url: `${url}/v1/events`, timeout: 4000, tokenFile });
      const askAll = async (from: number, count: number) => {
        const failed: Called[] = [];
        await forEachOf(count, 8, async (n) => {
          const called = await askNumber(agent, from + n);
          if (hasFailed(from + n, called)) failed.push(called);
        });
        return failed;
      };
      await expect.poll(() => askAll(0, 40), SOON).toEqual([]);
      served[0]!.server.signal('SIGSTOP');
      const startedAt = performance.now();
      const failed = await askAll(100, 1000);
      host.measure('failed', failed.length, 'of 1000 while one of two hangs');
      host.measure('all', performance.now() - startedAt, 'ms');
      expect(failed.length).toBeLessThanOrEqual(8);
      served[0]!.server.signal('SIGCONT');
      await expect.poll(() => askAll(2000, 100), SOON).toEqual([]);
    },
  );
});
