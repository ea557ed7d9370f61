import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { peopleWithTokens } from '../../src/cli/shared/people/people.js';
import { replaceApprovers } from '../../src/cli/serve/approvals/signIn.js';
import { remoteApprover } from '../../src/fleet/fleetApprover.js';
import { startNats, type TestNats } from '../helpers/natsServer.js';
import {
  answerTo,
  at,
  connectAs,
  postOver,
  putQuestion,
  requestOf,
  shownTo,
  signIn,
  startServer,
  told,
  tokensOf,
  type TestServer,
} from './approvalHelpers.js';

const ANNA = 'token-of-anna-0123456789';
const BEN = 'token-of-ben-0123456789';
const CARL = 'token-of-carl-0123456789';

let nats: TestNats;
const servers: TestServer[] = [];

beforeAll(async () => void (nats = await startNats()));
afterAll(async () => {
  await Promise.all(servers.map((each) => each.kill()));
  await nats.dispose();
});

async function start(options?: Parameters<typeof startServer>[1]) {
  const server = await startServer(nats, options);
  servers.push(server);
  return server;
}

function peopleOf(holders: Readonly<Record<string, string>>) {
  return peopleWithTokens(tokensOf(holders));
}

type Person = Awaited<ReturnType<typeof signIn>>;

function statusAt(origin: string, { cookie }: Person): Promise<number> {
  return fetch(`${origin}/approvals/session`, { headers: { Cookie: cookie } }).then(
    ({ status }) => status,
  );
}

describe('a session of an approver', () => {
  it('counts at all servers, and after one was started anew, until it is ended at one of them', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const anna = await signIn(first.origin, ANNA);
    expect(await statusAt(second.origin, anna)).toBe(200);
    await first.kill();
    const third = await start();
    expect(await statusAt(third.origin, anna)).toBe(200);
    const events = fetch(`${third.origin}/approvals/events`, { headers: { Cookie: anna.cookie } });
    const stream = await events;
    const there = at(anna, second.origin);
    expect((await there.post('/approvals/sign-out', {}, there.own)).status).toBe(200);
    expect(await stream.text()).toContain('event: ready');
    const after = [second, third].map(({ origin }) => statusAt(origin, anna));
    expect(await Promise.all(after)).toEqual([401, 401]);
  });

  it('is kept under a digest of what the cookie holds, with nothing that could be sent', async () => {
    const server = await start();
    const anna = await signIn(server.origin, ANNA);
    const { Kvm } = await import('@nats-io/kv');
    const bucket = await new Kvm(server.nc).open('hookstack_sessions');
    const secret = anna.cookie.split('=')[1] ?? '';
    let texts = '';
    for await (const key of await bucket.keys()) {
      texts += `${key} ${(await bucket.get(key))?.string()}\n`;
    }
    expect(texts).toContain('"name":"anna"');
    for (const each of [secret, anna.csrf, ANNA]) expect(texts).not.toContain(each);
    // What the bucket says is no cookie.
    const [key = ''] = texts.split(' ');
    const forged = { ...anna, cookie: `${anna.cookie.split('=')[0]}=${key}` };
    expect(await statusAt(server.origin, forged)).toBe(401);
  });

  it('ends at all servers when the token is revoked at one, while the page is open', async () => {
    const all = peopleOf({ anna: ANNA, ben: BEN, carl: CARL });
    const [first, second] = await Promise.all([start(), start({ people: all })]);
    const [anna, ben, carl] = await Promise.all([
      signIn(second.origin, ANNA),
      signIn(second.origin, BEN),
      signIn(second.origin, CARL),
    ]);
    const asked = await putQuestion(second);
    const shown = await shownTo(anna, asked.key);
    const headers = { Cookie: anna.cookie };
    const stream = await fetch(`${second.origin}/approvals/events`, { headers });
    const people = peopleOf({ ben: BEN, anna: 'another-token-of-anna' });
    replaceApprovers(first.approvers, { people });
    // At the one that has read the file at once, at the other as soon as it hears.
    expect(await statusAt(first.origin, anna)).toBe(401);
    expect(await stream.text()).toContain('event: question');
    expect((await answerTo(anna, shown, { decision: 'allow' })).status).toBe(401);
    expect(await statusAt(second.origin, anna)).toBe(401);
    expect(await statusAt(first.origin, ben)).toBe(200);
    // The first one never knew this one, and so takes nothing from him.
    expect(await statusAt(second.origin, carl)).toBe(200);
    const denied = await answerTo(ben, await shownTo(ben, asked.key), { decision: 'deny' });
    expect(denied.status).toBe(200);
    expect(await asked.outcome).toMatchObject({ approval: { decision: 'deny', by: 'ben' } });
  });

  it('answers at any server what a page of another was told, and nothing else', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const [anna, ben] = await Promise.all([signIn(first.origin, ANNA), signIn(first.origin, BEN)]);
    const asked = await putQuestion(first);
    const shown = await shownTo(anna, asked.key);
    const there = at(anna, second.origin);
    const answer = (change: object, who = there) =>
      who.post(`/approvals/${shown.key}`, { ...shownAs(shown), ...change }, who.own);
    const early = `${Date.now() - 60_000}.${shown.shown.split('.')[1]}`;
    const statuses = [
      await answer({ shown: early }),
      await answer({ shown: '' }),
      await answer({ digest: 'x' }),
      // Told to somebody else.
      await answer({}, at(ben, second.origin)),
    ].map(({ status }) => status);
    expect(statuses).toEqual([409, 409, 409, 409]);
    expect((await answerTo(there, shown, { decision: 'allow' })).status).toBe(200);
    expect(await asked.outcome).toMatchObject({ approval: { decision: 'allow', by: 'anna' } });
  });

  it('of one who signs in again and again takes no room from others', async () => {
    const server = await start();
    const statuses: number[] = [];
    for (let each = 0; each < 12; each += 1) {
      statuses.push((await signIn(server.origin, ANNA)).response.status);
    }
    expect(statuses.slice(-3)).toEqual([200, 429, 429]);
    expect((await signIn(server.origin, BEN)).response.status).toBe(200);
  });

  it('with many open pages leaves room for those of others', async () => {
    const server = await start();
    const [anna, ben] = await Promise.all([
      signIn(server.origin, ANNA),
      signIn(server.origin, BEN),
    ]);
    const open = ({ cookie }: Person) =>
      fetch(`${server.origin}/approvals/events`, { headers: { Cookie: cookie } });
    const pages = await Promise.all(Array.from({ length: 21 }, () => open(anna)));
    expect(pages.map(({ status }) => status).filter((status) => status === 503)).toHaveLength(1);
    const other = await open(ben);
    expect(other.status).toBe(200);
    for (const { body } of [...pages, other]) await body?.cancel();
    // There is room again, also after pages that were closed before the server had looked at them.
    await expect.poll(async () => (await open(anna)).status).toBe(200);
    for (let each = 0; each < 60; each += 1) {
      const sent = httpRequest(`${server.origin}/approvals/events`, {
        headers: { Cookie: ben.cookie },
      });
      sent.on('error', () => undefined).end();
      await once(sent, 'finish');
      sent.destroy();
    }
    await expect.poll(async () => (await open(ben)).status).toBe(200);
  });
});

function shownAs({ revision, digest, shown }: Awaited<ReturnType<typeof shownTo>>) {
  return { revision, digest, shown, decision: 'allow' };
}

describe('an answer', () => {
  it('counts when its agent has it, and people are told both', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const agent = await connectAs(nats, 'one');
    const anna = await signIn(second.origin, ANNA);
    const approve = remoteApprover(postOver(agent, 'one'), { waitMs: 5000 });
    const asked = Promise.resolve(approve(requestOf(), { signal: new AbortController().signal }));
    const shown = await shownTo(anna);
    const overs = told(anna, first.origin, shown.key, 2);
    const given = await answerTo(anna, shown, { decision: 'allow' });
    expect(await given.json()).toEqual({ decision: 'allow', state: 'given' });
    expect(await asked).toEqual({ decision: 'allow', by: 'anna' });
    expect(await overs).toEqual(['answered', 'taken']);
    await agent.close();
  });

  it('is given to nobody who may be gone by then: its agent asks again, and has it', async () => {
    const server = await start();
    const anna = await signIn(server.origin, ANNA);
    const { expiresAt: _, ...request } = requestOf();
    const asking = {
      from: 'acme/one',
      request,
      timeoutMs: 20_000,
      waitMs: 15_000,
      asksAgain: true,
    };
    const asked = server.board.ask(asking);
    expect((await answerTo(anna, await shownTo(anna), { decision: 'allow' })).status).toBe(200);
    expect(await asked).toEqual({ kind: 'open' });
    expect(server.lines.join()).not.toContain('has the answer');
    const approval = { decision: 'allow', by: 'anna' };
    expect(await server.board.ask(asking)).toEqual({ kind: 'approval', approval });
    expect(server.lines.join()).toContain('acme/one (run_shell_command) has the answer of anna');
  });

  it('does not count when its agent is gone, and people are told so', async () => {
    const own = await startNats();
    const server = await startServer(own, { goneMs: 1500 });
    const anna = await signIn(server.origin, ANNA);
    const { expiresAt: _, ...request } = requestOf();
    const from = 'acme/one';
    const times = { timeoutMs: 20_000, waitMs: 100, asksAgain: true };
    expect(await server.board.ask({ from, request, ...times })).toEqual({ kind: 'open' });
    const shown = await shownTo(anna);
    const overs = told(anna, server.origin, shown.key, 2);
    expect((await answerTo(anna, shown, { decision: 'allow' })).status).toBe(200);
    expect(await overs).toEqual(['answered', 'withdrawn']);
    expect(server.lines.join()).toContain('is gone, and the answer of anna does not count');
    // It comes back too late: nobody has allowed it any more.
    expect(await server.board.ask({ from, request, ...times })).toEqual({
      kind: 'approval',
      approval: { decision: 'deny', reason: 'the question was taken back' },
      isAgain: true,
    });
    await server.kill();
    await own.dispose();
  });
});

describe('the question of an agent that was killed', () => {
  it('goes, and one that is asked again stays', async () => {
    const own = await startNats();
    const [first, second] = await Promise.all([
      startServer(own, { goneMs: 1200 }),
      startServer(own, { goneMs: 1200 }),
    ]);
    const { expiresAt: _, ...request } = requestOf();
    const { expiresAt: __, ...doomed } = requestOf();
    const times = { from: 'acme/one', timeoutMs: 20_000, waitMs: 200 };
    await first.board.ask({ ...times, request: doomed });
    const until = performance.now() + 3000;
    for (let turn = 0; performance.now() < until; turn += 1) {
      const { board } = turn % 2 ? first : second;
      expect(await board.ask({ ...times, request })).toEqual({ kind: 'open' });
    }
    for (const { board } of [first, second]) {
      expect(board.list().map(({ request: { id } }) => id)).toEqual([request.id]);
    }
    await vi.waitFor(() => expect(second.board.list()).toEqual([]), { timeout: 5000 });
    await Promise.all([first.kill(), second.kill()]);
    await own.dispose();
  });
});
