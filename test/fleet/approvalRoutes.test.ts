import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startNats, type TestNats } from '../helpers/natsServer.js';
import {
  answerTo,
  requestOf,
  shownTo,
  signIn,
  startServer,
  type TestServer,
} from './approvalHelpers.js';

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
async function put(server: TestServer, body: object) {
  const response = await fetch(`${server.origin}/v1/approvals`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: await response.json(),
  };
}

/** Sends all of a body but its last character, and that when it is told to. */
function slowly(server: TestServer, path: string, body: string, localAddress = '127.0.0.1') {
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    Origin: server.origin,
  };
  const sent = httpRequest(`${server.origin}${path}`, {
    method: 'POST',
    headers,
    localAddress,
    agent: false,
  });
  const status = once(sent, 'response').then(([response]) => {
    (response as IncomingMessage).resume();
    return (response as IncomingMessage).statusCode;
  });
  status.catch(() => undefined);
  sent.write(body.slice(0, -1));
  return {
    status,
    isSent: () => sent.socket?.connecting === false && sent.writableLength === 0,
    finish: () => sent.end(body.slice(-1)),
    end: () => sent.destroy(),
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

  it('is of nobody who has had a name of his own point to this machine', async () => {
    const headers = { 'Content-Type': 'application/json', Host: 'evil.example:8787' };
    const own = { ...headers, Origin: `http://${headers.Host}` };
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/sign-in'],
      ['GET', '/session'],
    ]) {
      const sent = httpRequest(`${first.origin}/approvals${path}`, { method, headers: own });
      sent.end(method === 'POST' ? `{"token":"${ANNA}"}` : '');
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      expect(response.resume().statusCode).toBe(403);
    }
  });

  it('lets people answer at two servers, of whom the second is told who was first', async () => {
    const [anna, ben] = await Promise.all([signIn(first.origin, ANNA), signIn(second.origin, BEN)]);
    expect(anna.setCookie).toMatch(
      /^hookstack_[\da-f]{12}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    const { key, asked } = await putAndShow();
    const [toAnna, toBen] = await Promise.all([shownTo(anna, key), shownTo(ben, key)]);
    const allowed = await answerTo(anna, toAnna, { decision: 'allow', reason: 'fine' });
    expect(allowed.status).toBe(200);
    const denied = await answerTo(ben, toBen, { decision: 'deny' });
    expect([denied.status, await denied.json()]).toEqual([
      409,
      { error: 'already answered by anna' },
    ]);
    const hookstack = { version: 1, question: expect.stringMatching(/^question-/) as string };
    const { status, body } = await asked;
    expect([status, body]).toEqual([
      200,
      { decision: 'allow', reason: 'fine', by: 'anna', hookstack },
    ]);
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
    const denied = await answerTo(anna, await shownTo(anna, key), { decision: 'deny' });
    expect(denied.status).toBe(200);
    const hookstack: unknown = expect.anything();
    expect((await asked).body).toEqual({ decision: 'deny', by: 'anna', hookstack });
  });

  it('refuses what is no answer, and an answer to nothing', async () => {
    const anna = await signIn(first.origin, ANNA);
    const { key, asked } = await putAndShow();
    const post = async (path: string, body: unknown) =>
      (await anna.post(path, body, anna.own)).status;
    const path = `/approvals/${key}`;
    const shown = await shownTo(anna, key);
    const { revision, digest } = shown;
    const answer = { revision, digest, shown: shown.shown };
    expect(await post(path, { revision, digest, decision: 'maybe' })).toBe(422);
    expect(await post(path, { digest, decision: 'allow' })).toBe(422);
    expect(await post(path, { revision, decision: 'allow' })).toBe(422);
    expect(await post(path, { revision, digest, decision: 'allow' })).toBe(422);
    expect(await post(path, { ...answer, decision: 'allow', by: 'ben' })).toBe(422);
    expect(await post(path, '{')).toBe(400);
    expect(await post(path, '"x'.padEnd(20_000, 'x'))).toBe(413);
    const allow = { ...answer, decision: 'allow' };
    expect(await post(`/approvals/${'0'.repeat(64)}`, allow)).toBe(409);
    expect(await post('/approvals/..%2f', allow)).toBe(409);
    const denied = await answerTo(anna, shown, { decision: 'deny', remember: 'session' });
    expect(denied.status).toBe(200);
    const hookstack: unknown = expect.anything();
    expect((await asked).body).toEqual({ decision: 'deny', by: 'anna', hookstack });
    // Once more, as a replay would.
    expect(await post(path, allow)).toBe(409);
  });

  it('takes a yes for what it has shown to the same person, and for nothing else', async () => {
    const [anna, ben] = await Promise.all([signIn(first.origin, ANNA), signIn(first.origin, BEN)]);
    const [one, other] = await Promise.all([putAndShow(), putAndShow()]);
    const shown = await shownTo(anna, one.key);
    const otherShown = await shownTo(anna, other.key);
    const allow = { decision: 'allow' };
    const statuses = [
      await answerTo(ben, shown, allow),
      await answerTo(anna, { ...shown, revision: shown.revision + 1 }, allow),
      await answerTo(anna, { ...shown, digest: otherShown.digest }, allow),
      await answerTo(anna, { ...otherShown, key: one.key }, allow),
    ].map(({ status }) => status);
    expect(statuses).toEqual([409, 409, 409, 409]);
    const open = first.board.list().map(({ key }) => key);
    expect(open).toEqual(expect.arrayContaining([one.key, other.key]));
    for (const each of [shown, otherShown]) {
      expect((await answerTo(anna, each, { decision: 'deny' })).status).toBe(200);
    }
    await Promise.all([one.asked, other.asked]);
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

  it('looks at few wrong tokens, also where all of them are sent at once', async () => {
    const other = await startServer(nats);
    const bodies = Array.from({ length: 20 }, () =>
      slowly(other, '/approvals/sign-in', '{"token":"x"}'),
    );
    await vi.waitFor(() => expect(bodies.every(({ isSent }) => isSent())).toBe(true));
    for (const { finish } of bodies) finish();
    const statuses = await Promise.all(bodies.map(({ status }) => status));
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
    expect(other.lines).toHaveLength(5);
    await other.kill();
  });

  it('takes answers whatever somebody sends to the sign-in', async () => {
    const other = await startServer(nats);
    const anna = await signIn(other.origin, ANNA);
    const long = JSON.stringify({ token: 'x'.repeat(4000) });
    const from = '127.0.0.9';
    const held = Array.from({ length: 300 }, () => slowly(other, '/approvals/sign-in', long, from));
    const refused = held.map(({ status }) => status);
    // One address gets no more than half of the room.
    await Promise.race(refused);
    expect((await anna.post('/approvals/sign-out', {}, anna.own)).status).toBe(200);
    const ben = await signIn(other.origin, BEN);
    expect(ben.response.status).toBe(200);
    const answer = { revision: 1, digest: '', shown: '', decision: 'deny' };
    const answered = await ben.post('/approvals/00', answer, ben.own);
    expect(answered.status).toBe(409);
    for (const { end } of held) end();
    await other.kill();
  });

  it('is told all that is open, as fast as it reads', async () => {
    const lonely = await startNats();
    const other = await startServer(lonely);
    // Each is some 480 KB, as it is shown: together more than a connection may be behind.
    const text = 'x'.repeat(240_000);
    const askers = ['acme/one', 'acme/two'];
    const asked = Array.from({ length: 40 }, (_each, index) => {
      const { expiresAt: _, ...request } = requestOf({ input: { text }, originalInput: {} });
      const from = askers[index % 2] ?? '';
      return other.board.ask({ from, request, timeoutMs: 20_000, waitMs: 1 });
    });
    expect(await Promise.all(asked)).toEqual(Array.from(asked, () => ({ kind: 'open' })));
    await vi.waitFor(() => expect(other.board.list()).toHaveLength(40));
    const { cookie } = await signIn(other.origin, ANNA);
    const stream = await fetch(`${other.origin}/approvals/events`, { headers: { Cookie: cookie } });
    const told: Uint8Array[] = [];
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
      told.push(chunk);
      const end = Buffer.concat(told.slice(-2)).toString();
      if (end.endsWith('event: ready\ndata: {}\n\n')) break;
    }
    const questions = Buffer.concat(told).toString().split('event: question').length - 1;
    expect(questions).toBe(40);
    await other.kill();
    await lonely.dispose();
  });
});

describe('the path on which agents ask', () => {
  it('takes questions only', async () => {
    expect((await put(first, { hooks: [] })).status).toBe(422);
    expect((await put(first, requestOf({ input: { text: 'x'.repeat(300 * 1024) } }))).status).toBe(
      413,
    );
    const unseen = await put(first, requestOf({ input: { text: '\u0085'.repeat(10_001) } }));
    expect([unseen.status, unseen.body]).toEqual([
      413,
      {
        error: expect.stringMatching(
          /more than 20000 characters that nobody can see, or that look/,
        ) as string,
      },
    ]);
    const nested = Array.from({ length: 12_000 }, (_, index) => [index]);
    const large = await put(first, requestOf({ input: { nested }, originalInput: { nested: [] } }));
    expect([large.status, large.body]).toEqual([
      413,
      { error: expect.stringMatching(/as a person is shown it, has more than 512 K/) as string },
    ]);
    expect((await fetch(`${first.origin}/v1/approvals`)).status).toBe(405);
    const { expiresAt: _, ...request } = requestOf();
    const open = await put(first, { ...request, expiresInMs: 5000, waitMs: 1 });
    const hookstack = { version: 1, question: request.id };
    expect([open.status, open.body]).toEqual([202, { state: 'open', hookstack }]);
    expect((await put(first, { takeBack: request.id })).status).toBe(200);
    await vi.waitFor(() => expect(first.board.list()).toEqual([]));
  });
});
