import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { parseFleetAddress } from '../../src/fleet/address.js';
import { closeIdleLinks } from '../../src/fleet/natsQuestions.js';
import { postTo } from '../../src/fleet/fleetApprover.js';
import { remoteApprover, type PostApproval } from '../../src/fleet/fleetApprover.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';
import { Cli } from '../cli/helpers.js';
import { startOidcProvider } from '../helpers/oidcProvider.js';
import { answerTo, at, requestOf, shownTo, signIn, told } from './approvalHelpers.js';

const cli = new Cli();
const running: ReturnType<Cli['start']>[] = [];
/** A server without any does not start. */
const SILENT = { type: 'command', command: 'cat > /dev/null' } as const;
const AGENT = 'token-of-the-agent-0123456789';
const ANNA = 'token-of-anna-0123456789';

let nats: TestNats;
let settings = '';

beforeAll(async () => void (nats = await startNats()));
afterAll(async () => {
  await closeIdleLinks();
  await nats.dispose();
});
beforeEach(async () => void (settings = await cli.settings({ BeforeTool: [{ hooks: [SILENT] }] })));
afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each;
  }
});

/** The program, and a file of mode 600 for each option. */
async function serve(files: Record<string, string>, ...args: string[]) {
  for (const [option, text] of Object.entries(files)) {
    const file = path.join(cli.project, option);
    await writeFile(file, `${text}\n`, { mode: 0o600 });
    args.push(`--${option}`, file);
  }
  const all = ['serve', '--settings', settings, '--listen', '127.0.0.1:0', ...args];
  const server = cli.start(all, { buffer: true });
  running.push(server);
  const ended = server.then(({ stderr }) => Promise.reject(new Error(String(stderr))));
  const [line] = (await Promise.race([once(server.stdout!, 'data'), ended])) as [Buffer];
  return { server, url: /http:\S+/u.exec(line.toString())?.[0] ?? '' };
}

const rolesOf = (may: string) => JSON.stringify({ people: { 'ann@example.com': { may } } });
const inProject = (name: string) => path.join(cli.project, name);

function fleetFiles() {
  return {
    'token-file': FLEET_SECRETS.policy,
    tokens: `acme/two ${AGENT}\nacme/three ${ANNA}x`,
    approvers: `anna ${ANNA}\nagent ${AGENT}`,
  };
}

async function askAndAllow(url: string, post: PostApproval) {
  const anna = await signIn(url, ANNA);
  const approve = remoteApprover(post);
  const asked = Promise.resolve(approve(requestOf(), { signal: new AbortController().signal }));
  const { from, ...shown } = await shownTo(anna);
  expect((await answerTo(anna, shown, { decision: 'allow' })).status).toBe(200);
  return { from, said: await asked };
}

function over(url: string, secret: string): PostApproval {
  return postTo(parseFleetAddress(url), { secret });
}

describe('hookstack serve with --approvers', () => {
  it('ends the session of a person, and its open page, once the token is revoked', async () => {
    const { server, url } = await serve(fleetFiles(), '--nats', nats.url);
    const anna = await signIn(url, ANNA);
    const opened = await fetch(`${url}/approvals/events`, { headers: anna.own });
    expect(opened.status).toBe(200);
    const ended = opened.text();
    const file = path.join(cli.project, 'approvers');
    const ben = `ben ${ANNA.replace('anna', 'ben')}`;
    await writeFile(file, `anna ${ANNA}\n${ben}\n`);
    server.kill('SIGHUP');
    await expect
      .poll(async () => (await signIn(url, ANNA.replace('anna', 'ben'))).response.status)
      .toBe(200);
    const session = () => fetch(`${url}/approvals/session`, { headers: anna.own });
    expect((await session()).status).toBe(200);
    await writeFile(file, `${ben}\n`);
    server.kill('SIGHUP');
    expect(await ended).toContain('event: ');
    expect((await session()).status).toBe(401);
  });

  it('puts questions that come over NATS and over HTTP to people', async () => {
    const { server, url } = await serve(fleetFiles(), '--nats', nats.url);
    const said = { decision: 'allow', by: 'anna' };
    expect(await askAndAllow(url, over(`${nats.url}/acme/one`, FLEET_SECRETS.one))).toEqual({
      from: 'acme/one',
      said,
    });
    expect(await askAndAllow(url, over(url, AGENT))).toEqual({ from: 'acme/two', said });
    // The token of an agent is none of a person, also where somebody has written it into both files.
    expect((await signIn(url, AGENT)).response.status).toBe(401);
    const wrong = remoteApprover(over(url, 'another-token-0123456789'));
    await expect(
      Promise.resolve(wrong(requestOf(), { signal: new AbortController().signal })),
    ).rejects.toThrow('refused it (401)');
    server.kill('SIGTERM');
    const { exitCode, stderr } = await server;
    expect(exitCode).toBe(0);
    expect(String(stderr)).toContain('anna allowed acme/one (run_shell_command)');
    expect(String(stderr)).not.toContain(ANNA);
  });

  it('hands on the question of a server that is killed, to who asks through a load balancer', async () => {
    const [first, second] = await Promise.all([
      serve(fleetFiles(), '--nats', nats.url),
      serve(fleetFiles(), '--nats', nats.url),
    ]);
    const balancer = await balance(first.url, second.url);
    const approve = remoteApprover(over(balancer.url, AGENT));
    const asked = Promise.resolve(approve(requestOf(), { signal: new AbortController().signal }));
    const anna = await signIn(first.url, ANNA);
    const shown = await shownTo(anna);
    first.server.kill('SIGKILL');
    // Signed in there, and shown there: it counts here.
    const there = at(anna, second.url);
    const overs = told(there, second.url, shown.key, 2);
    const given = await answerTo(there, shown, { decision: 'allow' });
    expect([given.status, await given.json()]).toEqual([
      200,
      { decision: 'allow', state: 'given' },
    ]);
    expect(await asked).toEqual({ decision: 'allow', by: 'anna' });
    expect(await overs).toEqual(['answered', 'taken']);
    balancer.close();
  });

  it('lets people of a proxy in, with their roles', async () => {
    const { 'token-file': secret, tokens } = fleetFiles();
    const roles = JSON.stringify({ groups: { sre: { may: 'answer' } } });
    const of = ['--user-header', 'X-User', '--groups-header', 'X-Groups', '--four-eyes'];
    const { url } = await serve(
      { 'token-file': secret, tokens, roles },
      '--nats',
      nats.url,
      '--origin',
      'https://ask.example',
      ...of,
    );
    const sign = (headers: Record<string, string>) =>
      fetch(`${url}/approvals/sign-in`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: 'https://ask.example', ...headers },
        body: '{}',
      });
    expect((await sign({})).status).toBe(401);
    expect(await (await sign({ 'X-User': 'ann', 'X-Groups': 'sre' })).json()).toMatchObject({
      name: 'ann',
      signIn: 'proxy',
    });
  });

  it('wants two people for what one of its hooks asks, by its name in the policy', async () => {
    const command = `echo '{"decision":"ask","reason":"sure?"}'`;
    const asking = { type: 'command', name: 'no-production', command } as const;
    settings = await cli.settings({ BeforeTool: [{ hooks: [asking] }] });
    const { url } = await serve(fleetFiles(), '--nats', nats.url, '--four-eyes', 'no-production');
    const tokenFile = inProject('agent');
    await writeFile(tokenFile, AGENT, { mode: 0o600 });
    const central = { type: 'remote', name: 'central-policy', url: `${url}/v1/events` } as const;
    const hooks = { BeforeTool: [{ hooks: [{ ...central, tokenFile, command: '' }] }] };
    const config = new Config({
      enableHooks: true,
      hooks,
      approver: remoteApprover(over(url, AGENT)),
    });
    const result = { llmContent: 'ran', returnDisplay: 'ran' };
    const calling = executeToolWithHooks(config, 'write_file', {}, async () => result);
    const anna = await signIn(url, ANNA);
    const shown = await shownTo(anna);
    expect(shown).toMatchObject({
      hooks: [
        { name: 'central-policy', source: expect.stringMatching(/, its hook "no-production"$/u) },
      ],
    });
    const given = await answerTo(anna, shown, { decision: 'allow' });
    expect(await given.json()).toMatchObject({ state: 'first' });
    const anew = await shownTo(anna);
    await answerTo(anna, anew, { decision: 'deny', reason: 'nobody else is here' });
    expect(JSON.stringify((await calling).llmContent)).toContain('nobody else is here');
    await config.dispose();
  });

  it('sends people to their OpenID provider', async () => {
    const { 'token-file': secret, tokens } = fleetFiles();
    const provider = await startOidcProvider({ id: 'hookstack', secret: 'secret-of-client' });
    const said = { issuer: provider.issuer, clientId: 'hookstack', clientSecretFile: 'token-file' };
    const oidc = JSON.stringify(said);
    const { url } = await serve(
      {
        'token-file': secret,
        tokens,
        roles: '{"people":{"ann@example.com":{"may":"view"}}}',
        oidc,
      },
      '--nats',
      nats.url,
      '--origin',
      'https://ask.example',
    );
    const begun = await fetch(`${url}/approvals/oidc`, { redirect: 'manual' });
    expect(begun.headers.get('location')).toContain(provider.issuer);
    expect(begun.headers.get('set-cookie')).toMatch(
      /^__Host-hookstack_oidc=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
    );
    provider.close();
  });

  it('reads roles, and the secret of the client, anew with SIGHUP', async () => {
    const { 'token-file': secret, tokens } = fleetFiles();
    const client = { id: 'hookstack', secret: 'secret-of-client' };
    const provider = await startOidcProvider(client);
    const said = { issuer: provider.issuer, clientId: client.id, clientSecretFile: 'client' };
    const files = {
      'token-file': secret,
      tokens,
      roles: rolesOf('answer'),
      oidc: JSON.stringify(said),
    };
    await writeFile(inProject('client'), 'the-one-of-before', { mode: 0o600 });
    const origin = 'https://ask.example';
    const { server, url } = await serve(files, '--nats', nats.url, '--origin', origin);
    let printed = '';
    server.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const signInThere = async () => {
      const begun = await fetch(`${url}/approvals/oidc`, { redirect: 'manual' });
      const Cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
      const there = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' });
      const back = there.headers.get('location')?.replace(origin, url) ?? '';
      return fetch(back, { redirect: 'manual', headers: { Cookie } });
    };
    expect((await signInThere()).status).toBe(401);
    await writeFile(inProject('client'), client.secret);
    server.kill('SIGHUP');
    await expect.poll(async () => (await signInThere()).status).toBe(303);
    const cookie = (await signInThere()).headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^__Host-hookstack_[\da-f]{12}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure, /,
    );
    const own = cookie.split(';')[0] ?? '';
    const abort = new AbortController();
    const approve = remoteApprover(over(`${nats.url}/acme/one`, FLEET_SECRETS.one));
    const asked = Promise.resolve(approve(requestOf(), { signal: abort.signal }));
    const page = await fetch(`${url}/approvals/events`, { headers: { Cookie: own } });
    const seen = page.text();
    await writeFile(inProject('roles'), rolesOf('view'));
    server.kill('SIGHUP');
    const showsIt = async () => {
      const stream = await fetch(`${url}/approvals/events`, { headers: { Cookie: own } });
      let text = '';
      for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
        text += Buffer.from(chunk).toString();
        if (text.includes('event: ready')) break;
      }
      return text;
    };
    await expect.poll(showsIt).toContain('"may":"view"');
    // A page that was open comes back by itself, to be printed what counts now.
    expect(await seen).not.toContain('"may":"view"');
    // What cannot be read changes nothing.
    await writeFile(inProject('roles'), rolesOf('all'));
    server.kill('SIGHUP');
    await expect.poll(() => printed).toContain('stay as they were: --roles cannot be used');
    expect(await showsIt()).toContain('"may":"view"');
    abort.abort();
    await expect(asked).rejects.toThrow();
    provider.close();
  });

  it.each([
    [['--approvers', '--user-header'], '--approvers and --user-header are two ways to sign in'],
    [['--user-header'], 'say with --roles FILE who may answer'],
    [['--oidc', '--roles'], 'and with --origin URL where browsers find the page'],
    [['--approvers', '--trusted-proxy'], 'of use behind a proxy only: add --origin'],
    [['--four-eyes'], '--roles and --four-eyes are of use with a page only'],
  ])('refuses %s', async (options, why) => {
    const { 'token-file': secret } = fleetFiles();
    const served = serve(
      { 'token-file': secret },
      '--nats',
      nats.url,
      ...options.flatMap((each) => [each, 'x']),
    );
    await expect(served).rejects.toThrow(why);
  });

  it.each([
    ['--oidc', {}, /oidc\.json cannot be read \(ENOENT.*\); write it, or name another/u],
    ['--roles', {}, /roles cannot be read \(ENOENT.*\); write it, or name another/u],
    [
      '--oidc',
      {
        'oidc.json':
          '{\n  "issuer": "https://login.example", "clientId": "x",\n  "clientSecretFile": "nowhere"\n}',
      },
      /oidc\.json:3:\d+: the secret in \S+nowhere cannot be used: ENOENT.*; write the client's secret into that file/u,
    ],
  ])('says which file of %s is missing, and what to do', async (option, files, why) => {
    for (const [name, text] of Object.entries(files)) await writeFile(inProject(name), text);
    const { 'token-file': secret, tokens } = fleetFiles();
    const way =
      option === '--oidc' ? ['--oidc', inProject('oidc.json')] : ['--user-header', 'X-User'];
    way.push('--roles', inProject('roles'), '--origin', 'https://ask.example');
    const served = serve({ 'token-file': secret, tokens }, '--nats', nats.url, ...way);
    const message = await served.then(String, String);
    expect(message).toContain(`${option} cannot be used: `);
    expect(message).toMatch(why);
  });

  it('takes answers of the page that a proxy shows, and of no other', async () => {
    const { url } = await serve(
      fleetFiles(),
      '--nats',
      nats.url,
      '--origin',
      'https://ask.example/',
    );
    const sign = (origin: string, token = ANNA, from = '192.0.2.1') =>
      fetch(`${url}/approvals/sign-in`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: origin, 'X-Forwarded-For': from },
        body: JSON.stringify({ token }),
      });
    const signed = await sign('https://ask.example');
    expect(signed.status).toBe(200);
    expect(signed.headers.get('set-cookie')).toMatch(/; SameSite=Strict; .*; Secure$/u);
    const { csrf } = (await signed.json()) as { csrf: string };
    const own = {
      Cookie: signed.headers.get('set-cookie')?.split(';')[0] ?? '',
      'Hookstack-Csrf': csrf,
    };
    const out = (origin: string) =>
      fetch(`${url}/approvals/sign-out`, { method: 'POST', headers: { ...own, Origin: origin } });
    for (const foreign of [url, 'https://ask.example:444', 'http://ask.example']) {
      expect([(await sign(foreign)).status, (await out(foreign)).status]).toEqual([403, 403]);
    }
    expect((await out('https://ask.example')).status).toBe(200);
    for (let n = 0; n < 5; n++) await sign('https://ask.example', 'wrong');
    expect((await sign('https://ask.example')).status).toBe(429);
    expect((await sign('https://ask.example', ANNA, '192.0.2.2')).status).toBe(200);
  });

  it.each([
    'ask.example',
    'https://ask.example/approvals',
    'https://anna@ask.example',
    'ftp://ask.example',
    'null',
  ])('refuses --origin %s', async (origin) => {
    const served = serve(fleetFiles(), '--nats', nats.url, '--origin', origin);
    await expect(served).rejects.toThrow(`--origin ${origin} is no origin: write https://HOST`);
  });

  it('says what is missing', async () => {
    const { url } = await serve({});
    const page = await fetch(`${url}/approvals`);
    expect([page.status, await page.json()]).toEqual([
      404,
      { error: expect.stringContaining('start it with --nats URL --token-file FILE') as string },
    ]);
    await expect(serve({ approvers: `anna ${ANNA}` })).rejects.toThrow('add --nats');
    const behindProxy = ['--nats', nats.url, '--origin', 'https://ask.example'];
    const { tokens } = fleetFiles();
    await expect(serve({ tokens }, ...behindProxy)).rejects.toThrow('add --approvers');
    await expect(serve({ approvers: `anna ${ANNA}` }, ...behindProxy)).rejects.toThrow(
      'add a token for each agent (--tokens FILE)',
    );
    await expect(serve({ approvers: `team/agent ${ANNA}` }, '--nats', nats.url)).rejects.toThrow(
      'the name is not NAME',
    );
  });
});

/** Connects each client to the first of these that is there. */
async function balance(...urls: readonly string[]) {
  const server = createServer((client) => {
    client.on('error', () => undefined);
    const next = (left: readonly string[]) => {
      const [url, ...others] = left;
      if (url === undefined) {
        client.destroy();
        return;
      }
      const to = connect(Number(new URL(url).port), '127.0.0.1');
      to.once('error', () =>
        to.connecting || to.bytesRead === 0 ? next(others) : client.destroy(),
      );
      to.once('connect', () => {
        to.removeAllListeners('error').on('error', () => client.destroy());
        client.pipe(to).pipe(client);
        to.once('close', () => client.destroy());
      });
    };
    next(urls);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
