import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hook, saying } from '../../helpers/hooks.js';
import { Cli } from '../helpers.js';

const cli = new Cli();
type Started = ReturnType<Cli['start']>;
const running: Started[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each;
  }
});

const TOKEN = 'a-token-of-the-first-agent';
const CALL = JSON.stringify({ tool_name: 'write_file', tool_input: {}, agent: 'sub' });
const ASK = '/v1/events/BeforeTool';
const JSON_TYPE = { 'Content-Type': 'application/json' };

let settings = '';

beforeEach(async () => {
  const guard = saying({ decision: 'block', reason: 'no' }, { before: 'cat > seen' });
  settings = await cli.settings({ BeforeTool: [{ matcher: 'write_file', hooks: [guard] }] });
});

async function start(...args: string[]) {
  const server = cli.start(['serve', '--settings', settings, '--listen', '127.0.0.1:0', ...args]);
  running.push(server);
  return { server, url: await urlOf(server) };
}

/** The first line of stdout says it. */
async function urlOf(server: Started): Promise<string> {
  const { stdout } = server;
  const ended = server.then(({ stderr }) => Promise.reject(new Error(String(stderr))));
  const [line] = (await Promise.race([once(stdout!, 'data'), ended])) as [Buffer];
  const said = /^hookstack serve: listening on (https?:\S+)\n$/u.exec(line.toString());
  return said?.[1] ?? '';
}

async function ask(url: string, body = CALL) {
  const response = await fetch(url + ASK, { method: 'POST', headers: JSON_TYPE, body });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

describe('hookstack serve', () => {
  it('answers with the hooks of its settings, which run in its project', async () => {
    const { server, url } = await start();
    expect(await ask(url)).toMatchObject({
      status: 200,
      json: { decision: 'block', reason: 'no' },
    });
    expect(JSON.parse(await cli.read('seen'))).toMatchObject({ agent: 'local/sub', cwd: '' });
    const claude = {
      hook_event_name: 'PreToolUse',
      session_id: 's',
      cwd: '/theirs',
      tool_name: 'Write',
      tool_input: { file_path: '/a', content: '' },
    };
    const body = JSON.stringify(claude);
    const response = await fetch(`${url}/v1/claude`, { method: 'POST', headers: JSON_TYPE, body });
    expect(await response.json()).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' },
    });
    expect(JSON.parse(await cli.read('seen'))).toMatchObject({ session_id: 's', cwd: '/theirs' });
    server.kill('SIGTERM');
    expect(await server).toMatchObject({ exitCode: 0 });
  });

  it('answers what is in flight once it is ended, and a second signal ends it at once', async () => {
    const wait = hook('touch begun; until [ -e go ]; do sleep 0.02; done; rm go begun');
    settings = await cli.settings({ BeforeTool: [{ hooks: [wait] }] });
    const { server, url } = await start();
    const first = ask(url);
    await expect.poll(() => cli.read('begun').catch(() => 'no')).toBe('');
    server.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${url}/healthz`)).status).toBe(503);
    await cli.write('go', '');
    expect(await first).toMatchObject({ status: 200, json: { hookstack: { success: true } } });
    const ended = await server;
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.stderr).toContain('1 question in flight has 30 s');

    const other = await start();
    ask(other.url).catch(() => undefined);
    await expect.poll(() => cli.read('begun').catch(() => 'no')).toBe('');
    other.server.kill('SIGINT');
    await expect.poll(async () => (await fetch(`${other.url}/healthz`)).status).toBe(503);
    other.server.kill('SIGINT');
    expect(await other.server).toMatchObject({ exitCode: 130 });
  });
});

it('keeps the answer for an asker who hung up, and comes back', async () => {
  const wait = saying({}, { before: 'printf x >> runs; until [ -e go ]; do sleep 0.02; done' });
  settings = await cli.settings({ BeforeTool: [{ hooks: [wait] }] });
  const { url } = await start();
  const gone = new AbortController();
  const headers = { ...JSON_TYPE, 'Hookstack-Question': 'same' };
  const question = { method: 'POST', headers, body: CALL };
  const first = fetch(url + ASK, { ...question, signal: gone.signal });
  await expect.poll(() => cli.read('runs').catch(() => '')).toBe('x');
  gone.abort();
  await expect(first).rejects.toThrow();
  const again = fetch(url + ASK, question);
  await cli.write('go', '');
  expect(await again).toMatchObject({ status: 200 });
  expect(await cli.read('runs')).toBe('x');
});

it('says so where another program listens', async () => {
  const { url } = await start();
  const listen = ['--listen', url.slice('http://'.length)];
  const { exitCode, stderr } = await cli.runProgram(['serve', '--settings', settings, ...listen]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('say another address')]);
});

describe('a start that is refused', () => {
  const refused = async (args: readonly string[], say: RegExp) => {
    const { exitCode, stderr, stdout } = await cli.run(['serve', ...args]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(say);
    expect(stderr).not.toContain(TOKEN);
  };

  it('is one without hooks', async () => {
    await refused([], /--settings FILE/u);
    const off = await cli.write('off.json', { enableHooks: false });
    await refused(['--settings', off], /enableHooks is false/u);
    const none = await cli.write('none.json', { enableHooks: true, hooks: { BeforeTool: [] } });
    await refused(
      ['--settings', none],
      /none\.json is no policy, as no hook of it would run: add one/u,
    );
    const disabled = await cli.settings(
      { BeforeTool: [{ hooks: [hook('true', { name: 'only' })] }] },
      { disabledHooks: ['only'] },
    );
    await refused(['--settings', disabled], /no hook of it .*take one out of its disabledHooks/u);
  });

  const good = { hooks: [hook('true')] };

  it.each<[what: string, hooks: object, say: RegExp]>([
    ['an event that is misspelt', { BeforeTools: [good] }, /did you mean 'BeforeTool'/u],
    ['a hook without a command', { BeforeTool: [{ hooks: [{ type: 'command' }] }] }, /command/u],
    ['a matcher that is no expression', { BeforeTool: [{ ...good, matcher: '(' }] }, /guards/u],
    [
      'an unknown key',
      { BeforeTool: [{ hooks: [{ ...hook('true'), onFaliure: 'deny' }] }] },
      /did you mean 'onFailure'/u,
    ],
    ['a group without hooks', { BeforeTool: [{ matcher: 'x' }] }, /hooks: expected an array/u],
    ['a number', { BeforeTool: [{ hooks: [hook('true', { timeout: -1 })] }] }, /above 0/u],
    [
      'a guard where nothing is guarded',
      { SessionStart: [{ hooks: [hook('true', { onFailure: 'deny' })] }] },
      /cannot block/u,
    ],
  ])('is one of which a part would not run as it is written: %s', async (_, hooks, say) => {
    const all = JSON.stringify({ ...hooks, AfterTool: [good] });
    const file = await cli.write('flawed.json', `{ "enableHooks": true,\n  "hooks": ${all} }`);
    await refused(['--settings', file, '--listen', '127.0.0.1:0'], say);
    const { stderr } = await cli.run(['serve', '--settings', file]);
    const [, place = ''] = /^warning: (\S+): hooks\./u.exec(stderr) ?? [];
    expect(place).toMatch(/flawed\.json:2:\d+$/u);
    expect(stderr.split('\n')[1]).toMatch(/^error: .* is no policy, /u);
    expect(stderr.endsWith(`: ${place}`)).toBe(true);
  });

  it('is not one with a timeout that is only short', async () => {
    settings = await cli.settings({ BeforeTool: [{ hooks: [hook('true', { timeout: 900 })] }] });
    expect((await start()).url).toContain('http://');
  });

  it.each([
    [['--listen', '0.0.0.0:0'], /add TLS \(--cert FILE --key FILE\), and a token for each agent/u],
    [['--listen', '[::]:0'], /can be reached from other machines/u],
    [['--listen', 'example.org:0'], /can be reached from other machines/u],
    [['--listen', '8787'], /write HOST:PORT/u],
    [['--listen', '127.0.0.1:99999'], /write HOST:PORT/u],
    [['--cert', 'a'], /needs both/u],
    [['--client-ca', 'a'], /needs TLS/u],
    [['--max-concurrent', '0'], /whole number above 0/u],
    [['--tokens', 'missing'], /--tokens cannot be used/u],
  ])('is %j', async (args, say) => {
    await refused(['--settings', settings, ...args], say);
  });

  it.each([
    ['that others can read', `acme/one ${TOKEN}`, 0o644, /chmod 600/u],
    ['that is empty', '', 0o600, /is empty/u],
    ['of comments', '# nothing', 0o600, /holds no token/u],
    ['with a short token', 'acme/one short', 0o600, /line 1: .*less than 16 characters/u],
    ['without a team', `one ${TOKEN}`, 0o600, /line 1: the name is not TEAM\/AGENT/u],
    ['with a wildcard', `acme/* ${TOKEN}`, 0o600, /not TEAM\/AGENT/u],
    ['with a server', `policy/one ${TOKEN}`, 0o600, /line 1: .*the team policy/u],
    ['with nobody', `local/one ${TOKEN}`, 0o600, /line 1: .*or local/u],
    ['with a token of two', `a/b ${TOKEN}\n\na/c ${TOKEN}`, 0o600, /line 3: another line/u],
  ])('is one with a file of tokens %s', async (_what, content, mode, say) => {
    const file = await cli.write('tokens', content);
    await chmod(file, mode);
    await refused(['--settings', settings, '--tokens', file], say);
  });
});

const openssl = (...args: string[]) =>
  execFileSync('openssl', args, { cwd: cli.project, stdio: 'ignore' });
const read = (file: string) => readFile(path.join(cli.project, file));
const local = (url: string) => url.replace('0.0.0.0', '127.0.0.1');

async function askTls(url: string, name?: string, token?: string) {
  const own = name && { cert: await read(`${name}.pem`), key: await read(`${name}.key`) };
  const headers = { ...JSON_TYPE, ...(token && { Authorization: `Bearer ${token}` }) };
  const options = { method: 'POST', agent: false, ca: await read('ca.pem'), headers, ...own };
  return new Promise<{ status?: number; body: string }>((resolve, reject) => {
    const sent = httpsRequest(url + ASK, options, (response) => {
      textOf(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    });
    sent.on('error', reject);
    sent.end(CALL);
  });
}

describe('over TLS', () => {
  const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];

  /** A certificate of our own authority. */
  function certify(name: string, subject: string): void {
    openssl(
      'req',
      ...EC,
      '-x509',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
      '-subj',
      subject,
      ...SIGNED,
    );
  }
  const SIGNED = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', 'subjectAltName=IP:127.0.0.1'];

  beforeEach(() => {
    openssl('req', ...EC, '-x509', '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=ca');
    certify('server', '/CN=server');
  });

  it('does not start with a key of another certificate', async () => {
    const files = ['--cert', 'server.pem', '--key', 'ca.key'];
    const { exitCode, stderr } = await cli.run(['serve', '--settings', settings, ...files]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('belong together')]);
  });

  const tls = ['--cert', 'server.pem', '--key', 'server.key', '--listen', '0.0.0.0:0'];

  it('answers agents with a token, by their name, and nothing over plain HTTP', async () => {
    const next = `next-${TOKEN}`;
    const lines = `# ours\nacme/one ${TOKEN}\nacme/one ${next}\n`;
    await chmod(await cli.write('tokens', lines), 0o600);
    const { url } = await start(...tls, '--tokens', 'tokens');
    expect(url).toMatch(/^https:/u);
    expect(await askTls(local(url), undefined, next)).toMatchObject({ status: 200 });
    expect(await askTls(local(url), undefined, TOKEN)).toMatchObject({ status: 200 });
    expect(JSON.parse(await cli.read('seen'))).toMatchObject({ agent: 'acme/one/sub' });
    expect(await askTls(local(url))).toMatchObject({ status: 401 });
    await expect(ask(local(url).replace('https', 'http'))).rejects.toThrow('fetch failed');
  });

  it('answers agents with a certificate, by its CN, and nobody else', async () => {
    certify('agent', '/CN=acme\\/two');
    certify('other', '/CN=other');
    certify('server', '/CN=policy\\/two');
    openssl('req', ...EC, '-x509', '-keyout', 'x.key', '-out', 'x.pem', '-subj', '/CN=acme\\/two');
    const { url } = await start(...tls, '--client-ca', 'ca.pem');
    expect(await askTls(local(url), 'agent')).toMatchObject({ status: 200 });
    expect(JSON.parse(await cli.read('seen'))).toMatchObject({ agent: 'acme/two/sub' });
    expect(await askTls(local(url), 'other')).toMatchObject({ status: 403 });
    expect(await askTls(local(url), 'server')).toMatchObject({ status: 403 });
    await expect(askTls(local(url), 'x')).rejects.toThrow();
    await expect(askTls(local(url))).rejects.toThrow();
  });
});
