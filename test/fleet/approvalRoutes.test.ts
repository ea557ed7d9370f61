import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startNats, type TestNats } from '../helpers/natsServer.js';
import { requestOf, signIn, startServer, type TestServer } from './approvalHelpers.js';

const ANNA = 'token-of-anna-0123456789';
const BEN = 'token-of-ben-0123456789';

let nats: TestNats;
let first: TestServer;
let second: TestServer;

beforeAll(async () => {
  nats = await startNats();
  [first, second] = await Promise.all([startServer(nats), startServer(nats)]);
});
afterAll(async () => {
  await Promise.all([first.kill(), second.kill()]);
  await nats.dispose();
});

/** An agent that asks over HTTP. */
async function put(server: TestServer, body: object, authorization = 'Bearer one') {
  const response = await fetch(`${server.origin}/v1/approvals`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: authorization },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: await response.json(),
  };
}

async function putAndShow() {
  const { expiresAt: _, ...request } = requestOf();
  const asked = put(first, { ...request, expiresInMs: 20_000, waitMs: 15_000 });
  const found = await vi.waitFor(() => {
    const lists = [first, second].map(({ board }) =>
      board.list().find((question) => question.request.id === request.id),
    );
    if (!lists[0] || !lists[1]) throw new Error('it is not there');
    return lists[0];
  });
  return { ...found, asked, request };
}

describe('the page of questions', () => {
  it('runs nothing but its own, and cannot be framed or kept', async () => {
    const response = await fetch(`${first.origin}/approvals`);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'/,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(html).not.toMatch(/https?:\/\//);
  });

  it('lets people answer at two servers, of whom the second is told who was first', async () => {
    const [anna, ben] = await Promise.all([signIn(first.origin, ANNA), signIn(second.origin, BEN)]);
    expect(anna.setCookie).toMatch(
      /^hookstack_\d+=[\w-]{43}; Path=\/approvals; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    const { key, revision, asked } = await putAndShow();
    const path = `/approvals/${key}`;
    const allowed = await anna.post(
      path,
      { revision, decision: 'allow', reason: 'fine' },
      anna.own,
    );
    expect(allowed.status).toBe(200);
    const denied = await ben.post(path, { revision, decision: 'deny' }, ben.own);
    expect([denied.status, await denied.json()]).toEqual([
      409,
      { error: 'already answered by anna' },
    ]);
    const { status, body, headers } = await asked;
    expect([status, body]).toEqual([200, { decision: 'allow', reason: 'fine', by: 'anna' }]);
    expect(headers.get('hookstack-question')).toMatch(/^question-/);
    expect(first.lines).toContain('anna allowed acme/one (run_shell_command): fine');
  });

  it('takes no answer of a page of another origin', async () => {
    const anna = await signIn(first.origin, ANNA);
    const { key, revision, asked } = await putAndShow();
    const path = `/approvals/${key}`;
    const answer = { revision, decision: 'allow' };
    const foreign = 'https://evil.example';
    const statuses = [
      // No session, another's, or no sign of the own page.
      await anna.post(path, answer),
      await anna.post(path, answer, { 'Hookstack-Csrf': anna.csrf }),
      await anna.post(path, answer, { Cookie: anna.cookie }),
      await anna.post(path, answer, { Cookie: anna.cookie, 'Hookstack-Csrf': '' }),
      await anna.post(path, answer, { ...anna.own, Cookie: `${anna.cookie.slice(0, -1)}_` }),
      // Another origin, none, or the one of another port.
      await anna.post(path, answer, { ...anna.own, Origin: foreign }),
      await anna.post(path, answer, { ...anna.own, Origin: 'null' }),
      await anna.post(path, answer, { ...anna.own, Origin: second.origin }),
      await fetch(`${first.origin}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...anna.own },
        body: JSON.stringify(answer),
      }),
      // What an image or a form can send.
      await fetch(`${first.origin}${path}?decision=allow`, { headers: anna.own }),
      await anna.post(path, JSON.stringify(answer), { ...anna.own, 'Content-Type': 'text/plain' }),
      await anna.post(path, 'decision=allow', {
        ...anna.own,
        'Content-Type': 'application/x-www-form-urlencoded',
      }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 403, 403, 401, 403, 403, 403, 403, 403, 415, 415]);
    expect(first.board.list().map((question) => question.key)).toContain(key);
    const denied = await anna.post(path, { revision, decision: 'deny' }, anna.own);
    expect(denied.status).toBe(200);
    expect((await asked).body).toEqual({ decision: 'deny', by: 'anna' });
  });

  it('refuses what is no answer, and an answer to nothing', async () => {
    const anna = await signIn(first.origin, ANNA);
    const { key, revision, asked } = await putAndShow();
    const post = async (path: string, body: unknown) =>
      (await anna.post(path, body, anna.own)).status;
    const path = `/approvals/${key}`;
    expect(await post(path, { revision, decision: 'maybe' })).toBe(422);
    expect(await post(path, { decision: 'allow' })).toBe(422);
    expect(await post(path, { revision, decision: 'allow', by: 'ben' })).toBe(422);
    expect(await post(path, '{')).toBe(400);
    expect(await post(path, '"x'.padEnd(20_000, 'x'))).toBe(413);
    expect(await post(path, { revision: revision + 1, decision: 'allow' })).toBe(404);
    expect(await post(`/approvals/${'0'.repeat(64)}`, { revision, decision: 'allow' })).toBe(404);
    expect(await post('/approvals/..%2f', { revision, decision: 'allow' })).toBe(404);
    expect(await post(path, { revision, decision: 'deny', remember: 'session' })).toBe(200);
    expect((await asked).body).toEqual({ decision: 'deny', by: 'anna' });
    // Once more, as a replay would.
    expect(await post(path, { revision, decision: 'allow' })).toBe(409);
  });

  it('ends a session, and the stream of whoever looked on', async () => {
    const anna = await signIn(first.origin, ANNA);
    const { Cookie } = anna.own;
    const stream = await fetch(`${first.origin}/approvals/events`, { headers: { Cookie } });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect((await anna.post('/approvals/sign-out', {}, anna.own)).status).toBe(200);
    expect(await stream.text()).toContain('event: ready');
    for (const path of ['session', 'events']) {
      const after = await fetch(`${first.origin}/approvals/${path}`, { headers: { Cookie } });
      expect(after.status).toBe(401);
    }
  });

  it('looks at few wrong tokens, logs them without what they were, and lets no agent in', async () => {
    const other = await startServer(nats);
    const tokens = ['', 'one', 'token-of-anna-012345678', '__proto__', 'Bearer one', ANNA];
    const statuses: number[] = [];
    for (const token of tokens) {
      statuses.push((await signIn(other.origin, token)).response.status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect(other.lines).toHaveLength(5);
    expect(other.lines.join()).not.toContain('token-of');
    await other.kill();
  });
});

describe('the path on which agents ask', () => {
  it('wants to know who asks, and takes questions only', async () => {
    expect((await put(first, requestOf(), 'Bearer anna')).status).toBe(401);
    expect((await put(first, { hooks: [] })).status).toBe(422);
    expect((await put(first, requestOf({ input: { text: 'x'.repeat(300 * 1024) } }))).status).toBe(
      413,
    );
    expect((await fetch(`${first.origin}/v1/approvals`)).status).toBe(405);
    const { expiresAt: _, ...request } = requestOf();
    const open = await put(first, { ...request, expiresInMs: 5000, waitMs: 1 });
    expect([open.status, open.body]).toEqual([202, { state: 'open' }]);
    expect((await put(first, { takeBack: request.id })).status).toBe(200);
    await vi.waitFor(() => expect(first.board.list()).toEqual([]));
  });
});
