import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KvSessions } from '../../../src/cli/serve/approvals/kvSessions.js';
import { SignIn, type SignInOptions } from '../../../src/cli/serve/approvals/signIn.js';
import { peopleWithTokens } from '../../../src/cli/shared/people/people.js';
import { senderBehind } from '../../../src/cli/shared/people/senders.js';
import { tokensOf } from '../../fleet/approvalHelpers.js';

const ANNA = 'token-of-anna-0123456789';

/** Tries tokens from addresses that this machine does not have. */
async function start(options: Partial<SignInOptions> = {}, people = peopleWithTokens(new Map())) {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const approvers = { people, sessions: new KvSessions() };
  const signIn = new SignIn({ isTls: false, log, onRefused: log, ...options }, approvers);
  const server = createServer((request, response) => {
    Object.defineProperty(request.socket, 'remoteAddress', {
      configurable: true,
      value: request.headers['x-from'],
    });
    // Without NATS, no session begins.
    signIn.begin(request, response).catch(() => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tryFrom = async (address: string, token = 'x', more: Record<string, string> = {}) => {
    const own = { 'X-From': address, Origin: options.origin ?? at };
    const headers = { 'Content-Type': 'application/json', ...own, ...more };
    const sent = { method: 'POST', headers, body: JSON.stringify({ token }) };
    return (await fetch(at, { ...sent, keepalive: false })).status;
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

it('lets nobody wait who has a token of his own for what others have tried', async () => {
  const { lines, tryFrom } = await start({}, peopleWithTokens(tokensOf({ anna: ANNA })));
  const tries: Promise<number>[] = [];
  for (let n = 0; n < 1010; n++) tries.push(tryFrom(`10.0.${n % 202}.1`));
  const statuses = await Promise.all(tries);
  expect(statuses.filter((status) => status === 401)).toHaveLength(1000);
  expect(lines).toHaveLength(1000);
  expect(await tryFrom('192.0.2.9')).toBe(429);
  expect(await tryFrom('192.0.2.9', ANNA)).toBe(204);
  // Of its own address it waits.
  expect(await tryFrom('10.0.0.1', ANNA)).toBe(429);
});

describe('behind a proxy', () => {
  const origin = 'https://approvals.example';
  const people = peopleWithTokens(tokensOf({ anna: ANNA }));

  it('counts wrong tokens by the last address that a trusted proxy names', async () => {
    const trusted = { origin, senderOf: senderBehind(['10.1.0.0/16']) };
    const { lines, tryFrom } = await start(trusted, people);
    const through = (list: string, token?: string) =>
      tryFrom('10.1.0.2', token, { 'X-Forwarded-For': list });
    for (let n = 0; n < 5; n++) expect(await through(`192.0.2.${n}, 198.51.100.1`)).toBe(401);
    expect(await through('192.0.2.9, 198.51.100.1', ANNA)).toBe(429);
    expect(await through('198.51.100.1, 192.0.2.9', ANNA)).toBe(204);
    // Who names it himself is no proxy.
    const own = { 'X-Forwarded-For': '198.51.100.1' };
    expect(await tryFrom('10.2.0.2', ANNA, own)).toBe(204);
    expect(lines[0]).toContain('from 198.51.100.1');
  });

  it.each(['', 'unknown', '198.51.100.1:4711'])('counts nobody by the proxy: %j', async (name) => {
    const { tryFrom } = await start({ origin, senderOf: senderBehind(['10.1.0.2']) }, people);
    const through = (token?: string) => tryFrom('10.1.0.2', token, { 'X-Forwarded-For': name });
    for (let n = 0; n < 10; n++) expect(await through()).toBe(401);
    expect(await through(ANNA)).toBe(204);
  });
});
