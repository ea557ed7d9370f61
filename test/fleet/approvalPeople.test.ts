import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Kvm } from '@nats-io/kv';
import { OidcPeople } from '../../src/cli/shared/people/oidc.js';
import { replaceApprovers, type Approvers } from '../../src/cli/serve/approvals/signIn.js';
import { peopleOfProxy, peopleWithTokens } from '../../src/cli/shared/people/people.js';
import { Roles } from '../../src/cli/shared/people/roles.js';
import { startNats, type TestNats } from '../helpers/natsServer.js';
import { startOidcProvider, type OidcProvider, type Said } from '../helpers/oidcProvider.js';
import { useTempDir } from '../helpers/tempDir.js';
import { makeCertificates } from './certificates.js';
import {
  answerTo,
  putQuestion,
  shownTo,
  signIn,
  startServer,
  tokensOf,
  type TestServer,
  type TestServerOptions,
} from './approvalHelpers.js';

const ANNA = 'token-of-anna-0123456789';
const BEN = 'token-of-ben-0123456789';
const CLEO = 'token-of-cleo-0123456789';
const CLIENT = { id: 'hookstack', secret: 'a-secret-of-the-client' };

const temp = useTempDir();
let nats: TestNats;
const servers: TestServer[] = [];

beforeAll(async () => void (nats = await startNats()));
afterAll(async () => {
  await Promise.all(servers.map((each) => each.kill()));
  await nats.dispose();
});

async function start(options?: TestServerOptions) {
  const server = await startServer(nats, options);
  servers.push(server);
  return server;
}

describe('people of an OpenID provider', () => {
  let provider: OidcProvider;
  beforeAll(async () => void (provider = await startOidcProvider(CLIENT)));
  afterAll(() => provider.close());
  beforeEach(() => void (provider.next = {}));

  async function startOf(settings: object = {}, options: TestServerOptions = {}) {
    const file = path.join(temp.path, 'oidc.json');
    await writeFile(path.join(temp.path, 'secret'), CLIENT.secret, { mode: 0o600 });
    const given = { issuer: provider.issuer, clientId: CLIENT.id, clientSecretFile: 'secret' };
    await writeFile(file, JSON.stringify({ ...given, ...settings }));
    const people = await OidcPeople.read(file, 'http://asks.example/approvals');
    return start({ people, ...options });
  }

  const askedForTokens = () => provider.asked.filter((each) => each === '/token').length;

  async function signInOf(server: TestServer, said: Said = {}) {
    provider.next = said;
    const begun = await go(`${server.origin}/approvals/oidc`);
    const back = await go(begun.to);
    return { begun, back, end: await go(here(server, back.to), begun.cookies[0]) };
  }

  it('sign in there, and are known at all servers', async () => {
    const [first, second] = await Promise.all([startOf(), startOf()]);
    const { begun, end } = await signInOf(first);
    const asked = new URL(begun.to).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      redirect_uri: 'http://asks.example/approvals/oidc/callback',
      response_type: 'code',
      code_challenge_method: 'S256',
    });
    expect(begun.setCookies[0]).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    expect([end.status, end.to]).toEqual([303, '/approvals']);
    expect(await whoAt(first, end.cookies[0])).toBe('ann@example.com');
    expect(await whoAt(second, end.cookies[0])).toBe('ann@example.com');
    expect(first.lines).toContain('ann@example.com has signed in to /approvals from 127.0.0.1');
  });

  it('without a role get no session, and are told why', async () => {
    const server = await startOf({}, { roles: rolesOf({}) });
    const { end } = await signInOf(server);
    expect([end.status, end.cookies]).toEqual([403, []]);
    expect(end.text).toContain('ann@example.com has no role here');
  });

  it('cannot be somebody by what the provider did not say to this browser', async () => {
    const server = await startOf();
    const { begun, back, end } = await signInOf(server);
    const ofOther = await go(`${server.origin}/approvals/oidc`);
    const url = here(server, back.to);
    const refused = [
      // The code once more; by another browser; with another state; with none; and without a cookie.
      await go(url, begun.cookies[0]),
      await go(here(server, (await go(begun.to)).to), ofOther.cookies[0]),
      await go(url.replace(/state=[^&]+/, 'state=x'), begun.cookies[0]),
      await go(url.replace(/&state=[^&]+/, ''), begun.cookies[0]),
      await go(here(server, (await go(begun.to)).to)),
      await go(`${server.origin}/approvals/oidc/callback?error=access_denied`, begun.cookies[0]),
    ];
    expect(refused.map(({ status }) => status)).toEqual(Array.from(refused, () => 401));
    expect(refused.flatMap(({ cookies }) => cookies)).toEqual(
      Array.from(refused, () => 'hookstack_oidc='),
    );
    // A session that somebody has chosen is none, and no other place is gone to.
    expect(await whoAt(server, end.cookies[0]?.replace(/=.*/, `=${'A'.repeat(43)}`))).toBe(401);
  });

  it('cannot be sent elsewhere', async () => {
    const server = await startOf();
    const elsewhere = await go(`${server.origin}/approvals/oidc?redirect_uri=https://evil.example`);
    expect(elsewhere.to).not.toContain('evil');
    const again = await go(
      `${here(server, (await go(elsewhere.to)).to)}&return=//evil.example`,
      elsewhere.cookies[0],
    );
    expect(again.to).toBe('/approvals');
  });

  it('are asked for a few times in a minute, whatever somebody makes up', async () => {
    const server = await startOf();
    const callback = `${server.origin}/approvals/oidc/callback`;
    const before = askedForTokens();
    // What any page of the web can have a browser do costs nothing, and keeps nobody out.
    for (let times = 0; times < 6; times++)
      expect((await go(`${callback}?code=x`)).status).toBe(401);
    const begun = await go(`${server.origin}/approvals/oidc`);
    const state = new URL(begun.to).searchParams.get('state');
    const statuses: number[] = [];
    for (let times = 0; times < 7; times++) {
      statuses.push((await go(`${callback}?code=x&state=${state}`, begun.cookies[0])).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect(askedForTokens() - before).toBe(5);
    expect((await go(`${server.origin}/approvals/oidc`)).status).toBe(429);
    // Of lines that anybody can cause, few are told.
    expect(server.lines).toEqual([]);
    expect(server.refused).toHaveLength(11);
  });

  it('wait for a provider that hangs, a few at a time', async () => {
    const hanging = createHttpServer(() => undefined).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const { port } = hanging.address() as AddressInfo;
    const server = await startOf({ issuer: `http://127.0.0.1:${port}` });
    const statuses: number[] = [];
    const visits = Array.from({ length: 40 }, () =>
      go(`${server.origin}/approvals/oidc`).then(({ status }) => void statuses.push(status)),
    );
    await expect.poll(() => statuses).toEqual(Array(8).fill(503));
    hanging.closeAllConnections();
    hanging.close();
    await Promise.all(visits);
    expect(statuses.slice(8)).toEqual(Array(32).fill(401));
  });

  it.each<[string, Said, string]>([
    ['without a signature', { header: { alg: 'none' }, signature: () => '' }, '"alg" header'],
    [
      'signed with what it publishes',
      { header: { alg: 'HS256' }, signature: hmac },
      '"alg" header',
    ],
    ['with a wrong signature', { signature: () => 'AAAA' }, 'signature verification failed'],
    ['for another client', { claims: { aud: 'another' } }, '(audience)'],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }, '(issuer)'],
    ['to another question', { claims: { nonce: 'another' } }, '"nonce"'],
    ['that is old', { claims: { exp: 1 } }, 'expiration'],
    ['without a name', { claims: { email: undefined } }, '"email" is no name'],
    [
      'of an address that nobody has looked at',
      { claims: { email_verified: false } },
      '"email_verified" is not true',
    ],
    [
      'of two people',
      { claims: { email: 'ann@example.com, ben@example.com' } },
      '"email" is no name',
    ],
  ])('are nobody by a token %s', async (_, said, why) => {
    const server = await startOf();
    const { end } = await signInOf(server, said);
    expect(end.status).toBe(401);
    expect(end.cookies).toEqual(['hookstack_oidc=']);
    expect(server.refused.join()).toMatch(
      /^somebody could not sign in to .approvals from 127.0.0.1: /,
    );
    expect(server.refused.join()).toContain(why);
  });

  it('have the groups that roles name, however many they are in', async () => {
    const roles = new Roles('{"groups":{"sre":{"may":"answer","tools":["run_shell_command"]}}}');
    const server = await startOf({}, { roles });
    const groups = [...Array.from({ length: 2000 }, (_, each) => `group-${each}-of-many`), 'sre'];
    const { end } = await signInOf(server, { claims: { groups } });
    const [cookie = ''] = end.cookies;
    const asked = await putQuestion(server);
    const who = { ...(await signIn(server.origin, '')), cookie };
    expect((await shownTo(who, asked.key)).may).toBe('answer');
    await asked.takeBack();
    const bucket = await new Kvm(server.nc).open('hookstack_sessions');
    const digest = createHash('sha256')
      .update(cookie.split('=')[1] ?? '')
      .digest('hex');
    expect((await bucket.get(digest))?.json()).toMatchObject({ groups: ['sre'] });
  });

  it('are who the provider says beside a token that has neither name nor groups', async () => {
    const server = await startOf({}, { roles: new Roles('{"groups":{"sre":{"may":"view"}}}') });
    const claims = { email: undefined, email_verified: undefined, groups: undefined };
    const ben = { email: 'ben@example.com', email_verified: true, groups: ['sre'] };
    const { end } = await signInOf(server, { claims, userinfo: ben });
    expect(await whoAt(server, end.cookies[0])).toBe('ben@example.com');
    expect(server.lines.join()).not.toContain('no role');
    // Of another person, of nobody whose address was looked at, and of a name in the token.
    const said = [{ ...ben, sub: 'subject-2' }, { email: 'ben@example.com' }].map((userinfo) => ({
      claims,
      userinfo,
    }));
    const unproved = { claims: { email_verified: undefined, groups: undefined }, userinfo: ben };
    for (const each of [...said, unproved]) {
      expect((await signInOf(server, each)).end.status).toBe(401);
    }
  });

  it('are others with the same subject at another provider, or another client', async () => {
    const server = await startOf();
    const { end } = await signInOf(server);
    const other = await startOf({ clientId: 'another' });
    expect(await whoAt(other, end.cookies[0])).toBe(401);
    // And none with a token.
    expect(await whoAt(await start(), end.cookies[0])).toBe(401);
    expect((await signIn(server.origin, ANNA)).response.status).toBe(401);
  });

  it('sign in also where the provider wants the secret of the client in a header', async () => {
    const other = await startOidcProvider(CLIENT, 'client_secret_basic');
    const server = await startOf({ issuer: other.issuer });
    expect((await signInOf(server)).end.status).toBe(303);
    other.close();
  });

  it('find the server there also where the provider is not', async () => {
    const gone = await startOidcProvider(CLIENT);
    const server = await startOf({ issuer: gone.issuer });
    gone.close();
    expect((await go(`${server.origin}/approvals/oidc`)).status).toBe(401);
    expect(server.refused.at(-1)).toMatch(`: ${gone.issuer} cannot be asked: connect ECONNREFUSED`);
    await expect(startOf({ issuer: 'http://provider.example' })).rejects.toThrow('not https');
    await expect(startOf({ clientSecretFile: '' })).rejects.toThrow('it needs "issuer"');
    await expect(startOf({ secret: 'x' })).rejects.toThrow("has no key 'secret'");
  });
});

/** With the public key as the secret of a signature that needs none. */
function hmac(input: string): string {
  return createHmac('sha256', 'key').update(input).digest('base64url');
}

describe('people of a proxy', () => {
  const headers = { 'X-User': 'ann', 'X-Groups': 'sre, dev' };
  it('are who its headers say, at each request', async () => {
    const server = await start({ people: of('127.0.0.0/8') });
    const { origin } = server;
    const { status, cookie } = await send(origin, '/approvals/sign-in', headers);
    expect(status).toBe(200);
    const seen = async (extra: Record<string, string>) =>
      (await send(origin, '/approvals/session', { Cookie: cookie, ...extra })).status;
    expect(await seen(headers)).toBe(200);
    // Without the headers, or with those of somebody else, the cookie is of no use.
    expect(await seen({})).toBe(401);
    expect(await seen({ 'X-User': 'ben' })).toBe(401);
    expect((await send(origin, '/approvals/session', headers)).status).toBe(401);
  });

  it('are nobody where somebody else sends the headers, or more of them', async () => {
    const [near, far] = await Promise.all([
      start({ people: of('127.0.0.1') }),
      start({ people: of('10.0.0.0/8', 'fd00::/8') }),
    ]);
    const wrong: Record<string, string | string[]>[] = [
      {},
      { 'X-User': '' },
      { 'X-User': 'ann, ben' },
      { 'X-User': ['ann', 'ben'] },
      { ...headers, 'X-Groups': ['sre', 'admin'] },
      { X_User: 'ann' },
    ];
    const statuses = wrong.map((each) => send(near.origin, '/approvals/sign-in', each));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual(
      Array.from(wrong, () => 401),
    );
    expect((await send(far.origin, '/approvals/sign-in', headers)).status).toBe(401);
    // Nobody is locked out by that.
    expect((await send(near.origin, '/approvals/sign-in', headers)).status).toBe(200);
    for (const wrongly of ['proxy.example', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/33', '/8', '']) {
      expect(() => of(wrongly)).toThrow(`${wrongly} is no address`);
    }
  });
});

it('a provider whose certificate nobody here believes is told with what to do', async () => {
  const made = makeCertificates(temp.path);
  const [key, cert] = await Promise.all([readFile(made.key), readFile(made.cert)]);
  const provider = createServer({ key, cert }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const issuer = `https://localhost:${(provider.address() as AddressInfo).port}`;
  await writeFile(path.join(temp.path, 'secret'), CLIENT.secret, { mode: 0o600 });
  const file = path.join(temp.path, 'oidc.json');
  await writeFile(file, JSON.stringify({ issuer, clientId: 'x', clientSecretFile: 'secret' }));
  const people = await OidcPeople.read(file, 'https://asks.example/approvals');
  const advice = 'name the authority of its certificate in NODE_EXTRA_CA_CERTS of the server';
  await expect(people.begin()).rejects.toThrow(`${issuer} cannot be asked (${advice})`);
  provider.close();
});

describe('roles', () => {
  const roles = new Roles(
    JSON.stringify({
      groups: { sre: { may: 'answer', from: ['acme/*'] } },
      people: {
        anna: { may: 'answer', from: ['acme/*'], tools: ['run_shell_command'] },
        ben: { may: 'view' },
      },
      runBy: { 'acme/two': ['anna'] },
    }),
  );

  it('say to who signs in without one that nothing is seen, and why in the log', async () => {
    const server = await start({ roles, people: of('127.0.0.1') });
    const signInAs = async (user: string, groups: string) =>
      send(server.origin, '/approvals/sign-in', { 'X-User': user, 'X-Groups': groups });
    const replies = [
      await signInAs('eve', 'sales, dev'),
      await signInAs('tom', ''),
      await signInAs('joe', 'sre'),
      await signInAs('ben', ''),
    ];
    expect(replies.map(({ status }) => status)).toEqual([403, 403, 200, 200]);
    expect(replies[0]).toMatchObject({
      cookie: '',
      body: { error: 'eve has no role here: ask whoever runs the server' },
    });
    const ending = ' has signed in to /approvals from 127.0.0.1';
    expect(server.lines.slice(-4)).toEqual([
      `eve${ending}, and has no role (--roles), in the groups sales, dev`,
      `tom${ending}, and has no role (--roles), in no group`,
      `joe${ending}`,
      `ben${ending}`,
    ]);
  });

  it('that are lost take a place of nobody who looks on', async () => {
    const server = await start({ people: of('127.0.0.1') });
    const { cookie } = await send(server.origin, '/approvals/sign-in', { 'X-User': 'eve' });
    const headers = { Cookie: cookie, 'X-User': 'eve' };
    const look = () => fetch(`${server.origin}/approvals/events`, { headers });
    const before = await look();
    expect(before.status).toBe(200);
    replaceApprovers(server.approvers, { people: server.approvers.people, roles });
    expect(await before.text()).toContain('event: ready');
    const now = await look();
    expect([now.status, await now.json()]).toEqual([
      401,
      { error: 'Sign in first', signIn: 'proxy' },
    ]);
  });

  it('say of which questions that are over somebody hears', async () => {
    const tools = new Roles(
      '{"people":{"anna":{"may":"answer"},"ben":{"may":"view","tools":["write_*"]}}}',
    );
    const server = await start({ roles: tools });
    const [anna, ben] = await Promise.all([
      signIn(server.origin, ANNA),
      signIn(server.origin, BEN),
    ]);
    const [shell, file] = await Promise.all([
      putQuestion(server),
      putQuestion(server, { toolName: 'write_file' }),
    ]);
    for (const { key } of [shell, file]) {
      await answerTo(anna, await shownTo(anna, key), { decision: 'deny' });
    }
    await Promise.all([shell.outcome, file.outcome]);
    await expect.poll(() => shownAll(anna)).toContain(`{"key":"${shell.key}","state":"taken"`);
    await expect.poll(() => shownAll(ben)).toContain(`{"key":"${file.key}","state":"taken"`);
    expect(await shownAll(ben)).not.toContain(shell.key);
  });

  it('say who may see, and who may answer', async () => {
    const server = await start({ roles });
    const [anna, ben] = await Promise.all([
      signIn(server.origin, ANNA),
      signIn(server.origin, BEN),
    ]);
    const [shell, file, other, own] = await Promise.all([
      putQuestion(server),
      putQuestion(server, { toolName: 'write_file' }),
      putQuestion(server, {}, 'acme-two/one'),
      putQuestion(server, {}, 'acme/two'),
    ]);
    const toBen = await Promise.all([shell, file, other].map((each) => shownTo(ben, each.key)));
    expect(toBen.map(({ may }) => may)).toEqual(['view', 'view', 'view']);
    expect((await answerTo(ben, toBen[0]!, { decision: 'allow' })).status).toBe(403);
    expect((await answerTo(ben, toBen[0]!, { decision: 'deny' })).status).toBe(403);
    const toAnna = await shownTo(anna, shell.key);
    expect(toAnna.may).toBe('answer');
    // What she must not see is not told, and whoever runs an agent allows nothing of it.
    const [none, mine] = [await shownAll(anna), await shownTo(anna, own.key)];
    expect(none).not.toContain(file.key);
    expect(none).not.toContain(other.key);
    expect((await answerTo(anna, mine, { decision: 'allow' })).status).toBe(403);
    expect((await answerTo(anna, mine, { decision: 'deny' })).status).toBe(200);
    expect((await answerTo(anna, toAnna, { decision: 'allow' })).status).toBe(200);
    expect(await shell.outcome).toMatchObject({ approval: { decision: 'allow', by: 'anna' } });
    await Promise.all([file, other].map(({ takeBack }) => takeBack()));
  });

  it.each([
    ['{\n  "groups": }', 'file.json:2:13: not valid JSON: value expected'],
    ['{"groups":{},\n"people":{"ann":{}}}', 'file.json:2:11: "people" of ann: it lacks'],
    ['[]', 'expected an object'],
    ['{"group":{}}', "has no key 'group'"],
    ['{"groups":{"sre":{}}}', '"groups" of sre: it lacks "may"'],
    ['{"people":{"ann":{"may":"all"}}}', '"people" of ann: expected'],
    ['{"people":{"ann":{"may":"view","teams":[]}}}', "has no key 'teams'"],
    ['{"people":{"ann":{"may":"view","from":["acme*"]}}}', '"people" of ann: '],
    ['{"runBy":{"acme/one":"ann"}}', '"runBy" of acme/one: expected an array'],
    ['{"runBy":{"nonsense":["ann"]}}', '"runBy" of nonsense: expected TEAM/AGENT'],
  ])('refuse %s', (text, why) => {
    expect(() => new Roles(text, 'file.json')).toThrow(why);
  });

  it.each([
    ['*_file', 'write_file', 'write_files'],
    ['write_*', 'write_file', 'rewrite_file'],
    ['w*e_f*e', 'write_file', 'write_files'],
    ['a.c', 'a.c', 'abc'],
  ])('with %s are for %s, and not for %s', (pattern, fit, other) => {
    const some = new Roles(JSON.stringify({ people: { ann: { may: 'view', tools: [pattern] } } }));
    const ann = { id: 'x', name: 'ann', groups: [], proof: '' };
    expect([fit, other].map((tool) => some.of(ann, 'acme/one', tool))).toEqual(['view', undefined]);
  });

  it('let nobody allow what his own agent asks, however he writes his name', () => {
    const person = { id: 'x', name: 'Anna', groups: [], proof: '' };
    expect(roles.isRunBy(person, 'acme/two')).toBe(true);
    expect(roles.isRunBy(person, 'acme/one')).toBe(false);
    const all = rolesOf({}, { 'acme/*': ['anna'], local: ['ben'] });
    expect(all.isRunBy(person, 'acme/one')).toBe(true);
    expect(all.isRunBy(person, 'acme-two/one')).toBe(false);
  });

  it('of a group count for its members alone', () => {
    const person = { id: 'x', name: 'ann', groups: ['sre', '__proto__'], proof: '' };
    expect(roles.of(person, 'acme/one', 'any')).toBe('answer');
    expect(roles.of({ ...person, groups: ['anna'] }, 'acme/one', 'any')).toBeUndefined();
    expect(roles.of({ ...person, name: 'sre', groups: [] }, 'acme/one', 'any')).toBeUndefined();
  });
});

describe('the page', () => {
  it.each([
    [Object.assign(new Error('no answer'), { name: 'TimeoutError' }), 503, 'no answer'],
    [new TypeError('a bug'), 500, 'A fault of the server'],
  ])('says what went wrong at %s, and so does the log', async (error, status, said) => {
    const server = await start({ people: of('127.0.0.1') });
    server.approvers.sessions.find = async () => {
      throw error;
    };
    const response = await fetch(`${server.origin}/approvals/session`);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(said);
    expect(server.lines.join()).toContain(error.message);
  });
});

describe('four eyes', () => {
  it('are two people, at any server', async () => {
    const [first, second] = await Promise.all([start({ needsTwo }), start()]);
    const [anna, ben] = await Promise.all([signIn(first.origin, ANNA), signIn(second.origin, BEN)]);
    const asked = await putQuestion(first);
    const shown = await shownTo(anna, asked.key);
    const yes = await answerTo(anna, shown, { decision: 'allow', reason: 'fine' });
    expect([yes.status, await yes.json()]).toEqual([200, { decision: 'allow', state: 'first' }]);
    // What a page has shown before is another question.
    expect((await answerTo(anna, shown, { decision: 'allow' })).status).toBe(409);
    const anew = await shownTo(anna, asked.key);
    expect(anew).toMatchObject({ allowedBy: 'anna' });
    const again = await answerTo(anna, anew, { decision: 'allow' });
    expect([again.status, await again.json()]).toEqual([
      409,
      { error: 'you have allowed it already: a second person has to' },
    ]);
    const toBen = await shownTo(ben, asked.key);
    expect((await answerTo(ben, toBen, { decision: 'allow', reason: 'too' })).status).toBe(200);
    expect(await asked.outcome).toEqual({
      kind: 'approval',
      approval: { decision: 'allow', reason: 'fine; too', by: 'anna, ben' },
    });
  });

  it('are not those of one who writes his name in two ways', async () => {
    const server = await start({ people: of('127.0.0.1'), needsTwo });
    const [ann, other] = await Promise.all(
      ['ann', 'Ann'].map(async (name) => {
        const { cookie } = await send(server.origin, '/approvals/sign-in', { 'X-User': name });
        return { name, cookie };
      }),
    );
    const asked = await putQuestion(server);
    const personOf = (who?: { name: string; cookie: string }) =>
      server.approvers.sessions.find(who?.cookie.split('=')[1]);
    const said = async (who?: { name: string; cookie: string }) => {
      const { revision } = server.board.list().find(({ key }) => key === asked.key)!;
      const given = { decision: 'allow', by: who?.name ?? '' } as const;
      const person = (await personOf(who))!;
      return server.board.answer(asked.key, revision, given, { person });
    };
    expect(await said(ann)).toEqual({ state: 'first' });
    await expect.poll(() => server.board.list()[0]?.allowedBy).toBe('ann');
    expect(await said(other)).toMatchObject({
      error: 'you have allowed it already: a second person has to',
    });
    await asked.takeBack();
  });

  it.each<[string, Partial<Approvers>]>([
    ['is none any more', { people: peopleWithTokens(tokensOf({ ben: BEN, cleo: CLEO })) }],
    ['may only look on now', { roles: rolesOf({ anna: 'view' }) }],
    ['runs the agent now', { roles: rolesOf({ anna: 'answer' }, { 'acme/*': ['anna'] }) }],
  ])('are not those of an approver who %s', async (_, change) => {
    const people = peopleWithTokens(tokensOf({ anna: ANNA, ben: BEN, cleo: CLEO }));
    const server = await start({ people, needsTwo });
    const [anna, ben, cleo] = await Promise.all([
      signIn(server.origin, ANNA),
      signIn(server.origin, BEN),
      signIn(server.origin, CLEO),
    ]);
    const asked = await putQuestion(server);
    const allow = async (person: typeof anna) => {
      const answer = await answerTo(person, await shownTo(person, asked.key), {
        decision: 'allow',
      });
      return answer.json();
    };
    expect(await allow(anna)).toMatchObject({ state: 'first' });
    const { revision } = server.board.list().find(({ key }) => key === asked.key)!;
    replaceApprovers(server.approvers, { people, ...change });
    const after = (key: string, before: number) =>
      expect
        .poll(() => server.board.list().find((each) => each.key === key)?.revision)
        .toBeGreaterThan(before);
    await after(asked.key, revision - 1);
    expect(await allow(ben)).toMatchObject({ state: 'first' });
    await after(asked.key, revision);
    expect(await shownTo(cleo, asked.key)).toMatchObject({ allowedBy: 'ben' });
    expect(await shownAll(cleo)).not.toMatch(/proof|"groups"/u);
    await allow(cleo);
    const approval = { decision: 'allow', by: 'ben, cleo' };
    expect(await asked.outcome).toEqual({ kind: 'approval', approval });
  });

  it('are wanted where the server that takes the answer wants them, too', async () => {
    const [first, second] = await Promise.all([start(), start({ needsTwo })]);
    const asked = await putQuestion(first);
    const anna = await signIn(second.origin, ANNA);
    const yes = await answerTo(anna, await shownTo(anna, asked.key), { decision: 'allow' });
    expect(await yes.json()).toEqual({ decision: 'allow', state: 'first' });
    await asked.takeBack();
  });

  it('are one, for a no, and for what other hooks ask', async () => {
    const server = await start({ needsTwo });
    const [anna, ben] = await Promise.all([
      signIn(server.origin, ANNA),
      signIn(server.origin, BEN),
    ]);
    const [asked, other] = await Promise.all([
      putQuestion(server),
      putQuestion(server, { hooks: [{ name: 'other', source: 'user' }] }),
    ]);
    await answerTo(anna, await shownTo(anna, asked.key), { decision: 'allow' });
    const denied = await answerTo(ben, await shownTo(ben, asked.key), { decision: 'deny' });
    expect(denied.status).toBe(200);
    expect(await asked.outcome).toMatchObject({ approval: { decision: 'deny', by: 'ben' } });
    await answerTo(anna, await shownTo(anna, other.key), { decision: 'allow' });
    expect(await other.outcome).toMatchObject({ approval: { decision: 'allow', by: 'anna' } });
  });
});

/** Roles of anna; the others may answer. */
function rolesOf(own: object, runBy: object = {}): Roles {
  const may = { ben: 'answer', cleo: 'answer', ...own };
  const people = Object.entries(may).map(([name, each]) => [name, { may: each }]);
  return new Roles(JSON.stringify({ people: Object.fromEntries(people), runBy }));
}

/** All that the page is told at its beginning. */
async function shownAll({ origin, cookie }: Awaited<ReturnType<typeof signIn>>): Promise<string> {
  const stream = await fetch(`${origin}/approvals/events`, { headers: { Cookie: cookie } });
  let text = '';
  for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (text.includes('event: ready')) break;
  }
  return text;
}

/** A browser, which is sent back from the provider to where `asks.example` is. */
const go = async (url: string, cookie = '') => {
  const response = await fetch(url, { redirect: 'manual', headers: { Cookie: cookie } });
  const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0] ?? '');
  return {
    status: response.status,
    to: response.headers.get('location') ?? '',
    cookies,
    setCookies: response.headers.getSetCookie(),
    text: await response.text(),
  };
};
const here = ({ origin }: TestServer, url: string) => url.replace('http://asks.example', origin);

async function whoAt({ origin }: TestServer, cookie = '') {
  const response = await fetch(`${origin}/approvals/session`, { headers: { Cookie: cookie } });
  return response.ok ? ((await response.json()) as { name: string }).name : response.status;
}

const of = (...proxies: string[]) =>
  peopleOfProxy({ userHeader: 'X-User', groupsHeader: 'X-Groups', proxies });

async function send(origin: string, at: string, extra: Record<string, string | string[]>) {
  const method = at.endsWith('sign-in') ? 'POST' : 'GET';
  const base = { 'Content-Type': 'application/json', Origin: origin };
  const sent = httpRequest(`${origin}${at}`, { method, headers: { ...base, ...extra } });
  sent.end(method === 'POST' ? '{}' : undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode,
    body: (await json(response)) as Record<string, unknown>,
    cookie: response.headers['set-cookie']?.[0]?.split(';')[0] ?? '',
  };
}

const needsTwo = ({ hooks }: { hooks: readonly { name: string }[] }) =>
  hooks.some(({ name }) => name === 'careful');
