import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { KvSessions } from '../../../src/cli/serve/approvals/kvSessions.js';
import { SignIn } from '../../../src/cli/serve/approvals/signIn.js';
import { peopleWithTokens } from '../../../src/cli/shared/people/people.js';

/** Tries wrong tokens from addresses that this machine does not have. */
async function start() {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const approvers = { people: peopleWithTokens(new Map()), sessions: new KvSessions() };
  const signIn = new SignIn({ isTls: false, log, onRefused: log }, approvers);
  const server = createServer((request, response) => {
    Object.defineProperty(request.socket, 'remoteAddress', {
      configurable: true,
      value: request.headers['x-from'],
    });
    void signIn.begin(request, response);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tryFrom = async (address: string) => {
    const headers = { 'Content-Type': 'application/json', 'X-From': address, Origin: origin };
    const sent = { method: 'POST', headers, body: '{"token":"x"}' };
    return (await fetch(origin, { ...sent, keepalive: false })).status;
  };
  return { lines, tryFrom };
}

it('counts wrong tokens of all addresses that one machine has as those of one', async () => {
  const { lines, tryFrom } = await start();
  const own = Array.from({ length: 20 }, (_, n) => `2001:db8:1:2::${n.toString(16)}`);
  const statuses: number[] = [];
  for (const address of own) statuses.push(await tryFrom(address));
  expect(statuses).toEqual([...Array<number>(5).fill(401), ...Array<number>(15).fill(429)]);
  // Of others it says nothing.
  for (const other of ['2001:db8:1:3::1', '::ffff:192.0.2.1', '::ffff:192.0.2.2', '192.0.2.3']) {
    for (let times = 0; times < 3; times++) expect(await tryFrom(other)).toBe(401);
  }
  expect(lines).toHaveLength(17);
  expect(lines[4]).toContain('from 2001:db8:1:2::4');
});
