import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, readFile, rename } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import path from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Config } from '../../../src/config/config.js';
import { executeToolWithHooks } from '../../../src/core/coreToolHookTriggers.js';
import type { ApprovalRequest } from '../../../src/protocol/approval.js';
import type { HookDefinition } from '../../../src/protocol/types.js';
import { readSpan, type SpanRecord } from '../../../src/trace/record.js';
import { listenToSpans, type Span } from '../../../src/trace/span.js';
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

const CALL = { tool_name: 'write_file', tool_input: { file_path: 'a' } };

type Hooks = Record<string, readonly HookDefinition[]>;

function blocking(reason: string, tool = 'write_file'): Hooks {
  return { BeforeTool: [{ matcher: tool, hooks: [saying({ decision: 'block', reason })] }] };
}

let policy = '';
beforeEach(async () => void (policy = await write('policy.json', blocking('first'))));

const write = (name: string, hooks: Hooks) =>
  cli.write(name, JSON.stringify({ enableHooks: true, hooks }));

/** As who takes care: nobody reads half of it. */
async function replace(text: string): Promise<void> {
  await rename(await cli.write('next.json', text), policy);
}

const replaceHooks = (hooks: Hooks) => replace(JSON.stringify({ enableHooks: true, hooks }));

const start = (...args: string[]) => startWith({}, ...args);

async function startWith(env: NodeJS.ProcessEnv, ...args: string[]) {
  const all = ['serve', '--settings', policy, '--listen', '127.0.0.1:0', ...args];
  const server = cli.start(all, { buffer: true, env });
  running.push(server);
  let told = '';
  server.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
  const ended = server.then(({ stderr }) => Promise.reject(new Error(String(stderr))));
  const [line] = (await Promise.race([once(server.stdout!, 'data'), ended])) as [Buffer];
  const url = /https?:\S+/u.exec(line.toString())?.[0] ?? '';
  return { server, url, told: () => told };
}

interface Told {
  readonly reason?: string;
  readonly error?: string;
  readonly hookstack?: { readonly policy?: string };
}

async function ask(
  url: string,
  fields: object = CALL,
  token?: string,
  event = 'BeforeTool',
): Promise<Told> {
  const headers = {
    'Content-Type': 'application/json',
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  const body = JSON.stringify(fields);
  const response = await fetch(`${url}/v1/events/${event}`, { method: 'POST', headers, body });
  return (await response.json()) as Told;
}

async function askTls(url: string): Promise<IncomingMessage> {
  const agent = new HttpsAgent({ keepAlive: true });
  const options = { agent, method: 'POST', rejectUnauthorized: false };
  const headers = { 'Content-Type': 'application/json' };
  const sent = httpsRequest(`${url}/v1/events/BeforeTool`, { ...options, headers });
  sent.end(JSON.stringify(CALL));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  agent.destroy();
  return response;
}

const figures = async (url: string) => (await fetch(`${url}/metrics`)).text();

async function versionOf(file: string): Promise<string | undefined> {
  const { stdout, exitCode } = await cli.run(['serve', '--check', file]);
  expect(exitCode).toBe(0);
  return /is policy ([\da-f]{12})$/u.exec(stdout)?.[1];
}

describe('the version of a policy', () => {
  it('is that of what its settings say, wherever and however they are written', async () => {
    const version = await versionOf(policy);
    expect(version).toBeDefined();
    const hooks = JSON.stringify(blocking('first'));
    const other = await cli.write('b/x.json', `{ "hooks": ${hooks}, // ours\n "enableHooks":true}`);
    expect(await versionOf(other)).toBe(version);
    expect(await versionOf(await write('c.json', blocking('second')))).not.toBe(version);
  });

  it('stands in each answer, also where no hook matches, and for an agent that reads marks', async () => {
    const version = await versionOf(policy);
    const { url } = await start();
    expect(await ask(url)).toMatchObject({ reason: 'first', hookstack: { policy: version } });
    const other = { ...CALL, tool_name: 'read_file' };
    expect(await ask(url, other)).toMatchObject({ hookstack: { policy: version } });
    expect(await figures(url)).toContain(`hookstack_policy_info{version="${version}"} 1`);
  });
});

it('stands in the spans of who asks, and in what a person is asked', async () => {
  const output = { decision: 'ask', reason: 'sure?' };
  await replaceHooks({ BeforeTool: [{ hooks: [saying(output)] }] });
  const { url } = await start();
  const version = (await ask(url)).hookstack?.policy;
  const requests: ApprovalRequest[] = [];
  const config = new Config({
    enableHooks: true,
    hooks: {
      BeforeTool: [{ hooks: [{ type: 'remote', name: 'central', url: `${url}/v1/events` }] }],
    },
    approver: (request) => {
      requests.push(request);
      return { decision: 'allow' };
    },
  });
  const seen: Span[] = [];
  const stop = listenToSpans((span) => void seen.push(span));
  const result = await executeToolWithHooks(config, 'write_file', {}, () =>
    Promise.resolve({ llmContent: 'done', returnDisplay: 'done' }),
  );
  stop();
  await config.dispose();
  expect(result).toMatchObject({ llmContent: 'done' });
  expect(requests).toMatchObject([{ hooks: [{ name: 'central', policy: version }] }]);
  const of = (kind: string) => seen.find((span) => span.kind === kind)?.policy;
  expect([of('hook'), of('question')]).toEqual([version, version]);
});

describe('hookstack serve --check', () => {
  it('says what is wrong, and where, and starts nothing', async () => {
    const prestarted = hook('touch started; cat', { prestart: true });
    await write('good.json', { BeforeTool: [{ hooks: [prestarted] }] });
    expect(await cli.run(['serve', '--check', 'good.json'])).toMatchObject({ exitCode: 0 });
    await expect(cli.read('started')).rejects.toThrow('ENOENT');
    const flawed = await cli.write('flawed.json', '{ "enableHooks": true,\n  "approvals": 1 }');
    const { exitCode, stderr, stdout } = await cli.run(['serve', '--check', flawed]);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/flawed\.json:2:\d+: approvals: /u);
    const broken = await cli.write('broken.json', '{ "enableHooks": true,\n');
    const said = await cli.run(['serve', '--check', broken]);
    expect([said.exitCode, said.stderr]).toEqual([
      1,
      expect.stringMatching(/broken\.json:\d+:\d+/u),
    ]);
  });

  it('checks the shadow policy, too, and takes no --settings beside', async () => {
    await write('good.json', { BeforeTool: [{ hooks: [hook('cat')] }] });
    const flawed = await cli.write('flawed.json', '{ "enableHooks": true,\n  "approvals": 1 }');
    const check = (...words: string[]) => cli.run(['serve', '--check', 'good.json', ...words]);
    const both = await check('--shadow', flawed);
    expect(both).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('good.json is') });
    expect(both.stderr).toMatch(/flawed\.json:2:\d+: approvals: /u);
    expect(await check('--shadow', 'good.json')).toMatchObject({ exitCode: 0 });
    expect(await check('--shadow', 'nowhere.json')).toMatchObject({ exitCode: 2 });
    expect(await check('--settings', 'good.json')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('leave out --settings'),
    });
  });

  it('is wrong usage for a file that is not there, and for other options that are', async () => {
    expect(await cli.run(['serve', '--check', 'nowhere.json'])).toMatchObject({ exitCode: 2 });
    const args = ['serve', '--check', policy, '--tokens', 'nowhere'];
    expect(await cli.run(args)).toMatchObject({ exitCode: 2 });
  });
});

describe('a change of the settings', () => {
  it('counts by itself, and not before SIGHUP with --no-watch', async () => {
    const watching = await start();
    const { server, url } = await start('--no-watch');
    await replaceHooks(blocking('second'));
    await expect.poll(() => ask(watching.url)).toMatchObject({ reason: 'second' });
    expect(await ask(url)).toMatchObject({ reason: 'first' });
    server.kill('SIGHUP');
    await expect.poll(() => ask(url)).toMatchObject({ reason: 'second' });
  });

  it.each([
    ['no JSON', '{ "enableHooks": true,', /policy\.json:1:\d+/u],
    [
      'a misspelt event',
      '{ "enableHooks": true,\n "hooks": { "BeforeTol": [] } }',
      /policy\.json:2:\d+/u,
    ],
    ['a wrong value', '{ "enableHooks": true,\n "approvals": 1 }', /policy\.json:2:\d+/u],
    ['no hooks', '{ "enableHooks": true }', /no hook of it would run/u],
    ['hooks that are off', '{ "enableHooks": false }', /enableHooks is false/u],
  ])('leaves the policy in force with %s, and says so', async (_what, text, place) => {
    const { server, url, told } = await start('--no-watch');
    const { hookstack } = await ask(url);
    await replace(text);
    server.kill('SIGHUP');
    await expect.poll(told).toMatch(place);
    await expect.poll(told).toContain(`policy ${hookstack?.policy} goes on to count`);
    expect(await ask(url)).toMatchObject({
      reason: 'first',
      hookstack: { policy: hookstack?.policy },
    });
    expect(await figures(url)).toContain('hookstack_policy_reload_failures_total 1');
    await replaceHooks(blocking('second'));
    server.kill('SIGHUP');
    await expect.poll(() => ask(url)).toMatchObject({ reason: 'second' });
  });

  it('says when the file is a policy again, also where it is the one before', async () => {
    const before = await cli.read('policy.json');
    const { told } = await start();
    await replace('{');
    await expect.poll(told).toContain('goes on to count');
    await replace(before);
    await expect.poll(told).toMatch(/policy \w+ of \S+ counts, anew/u);
  });

  it('does not reach a question that is asked, which ends under the policy of its beginning', async () => {
    const slow = saying(
      { decision: 'block', reason: 'slow' },
      { before: 'touch begun; until [ -e go ]; do sleep 0.02; done' },
    );
    await replaceHooks({ BeforeTool: [{ hooks: [slow] }] });
    const { server, url, told } = await start('--no-watch');
    const asked = ask(url);
    await expect.poll(() => cli.read('begun').catch(() => 'no')).toBe('');
    await replaceHooks(blocking('second'));
    server.kill('SIGHUP');
    await expect.poll(told).toContain('counts');
    expect(await ask(url)).toMatchObject({ reason: 'second' });
    await cli.write('go', '');
    const first = await asked;
    expect(first).toMatchObject({ reason: 'slow' });
    expect(first.hookstack?.policy).not.toBe((await ask(url)).hookstack?.policy);
  });

  it('loses nothing of what async hooks say late', async () => {
    const late = hook(
      'until [ -e go ]; do sleep 0.02; done; echo \'{"systemMessage":"late news"}\'',
      { async: true },
    );
    await replaceHooks({ AfterTool: [{ hooks: [late] }] });
    const { server, url, told } = await start('--no-watch');
    const done = { ...CALL, tool_response: {}, session_id: 'one' };
    const tell = () => ask(url, done, undefined, 'AfterTool');
    await tell();
    await replaceHooks(blocking('no'));
    server.kill('SIGHUP');
    await expect.poll(told).toContain('counts');
    await cli.write('go', '');
    await expect.poll(async () => JSON.stringify(await tell())).toContain('late news');
  });
});

async function writeTokens(text: string): Promise<void> {
  await chmod(await cli.write('tokens', text), 0o600);
}

describe('SIGHUP', () => {
  const FIRST = 'token-of-the-agent-0123456789';
  const NEXT = 'another-token-of-it-0123456789';

  it('ends no server that begins, and what it was sent for counts', async () => {
    const starting = start('--no-watch');
    const { server } = await vi.waitFor(() => {
      const [each] = running;
      const status = readFileSync(`/proc/${each?.pid}/status`, 'utf8');
      const [, caught = '0'] = /^SigCgt:\s*(\w+)$/mu.exec(status) ?? [];
      // SIGHUP is signal 1.
      expect(BigInt(`0x${caught}`) & 1n).toBe(1n);
      return { server: each };
    });
    await replaceHooks(blocking('second'));
    server?.kill('SIGHUP');
    const { url } = await starting;
    await expect.poll(() => ask(url)).toMatchObject({ reason: 'second' });
  });

  it('may come as a storm: what is there in the end counts, and each question is answered', async () => {
    await writeTokens(`acme/one ${FIRST}\n`);
    const { server, url, told } = await start('--no-watch', '--tokens', 'tokens');
    const asked: Promise<Told>[] = [];
    for (let count = 0; count < 300; count += 1) {
      server.kill('SIGHUP');
      if (count % 10 === 0) asked.push(ask(url, CALL, FIRST));
      await new Promise(setImmediate);
    }
    for (const each of await Promise.all(asked)) expect(each).toMatchObject({ reason: 'first' });
    await writeTokens(`acme/one ${NEXT}\n`);
    await replaceHooks(blocking('second'));
    server.kill('SIGHUP');
    await expect.poll(() => ask(url, CALL, NEXT)).toMatchObject({ reason: 'second' });
    expect((await ask(url, CALL, FIRST)).error).toContain('not known');
    expect(told()).not.toContain('goes on');
  });

  it('has tokens count that were changed, and keeps those before where they cannot be used', async () => {
    await writeTokens(`acme/one ${FIRST}\n`);
    const { server, url, told } = await start('--tokens', 'tokens');
    expect(await ask(url, CALL, FIRST)).toMatchObject({ reason: 'first' });
    await writeTokens('acme/one short\n');
    server.kill('SIGHUP');
    await expect.poll(told).toContain('tokens, roles and certificates stay as they were');
    expect(await ask(url, CALL, FIRST)).toMatchObject({ reason: 'first' });
    await writeTokens(`acme/one ${NEXT}\n`);
    server.kill('SIGHUP');
    await expect.poll(() => ask(url, CALL, NEXT)).toMatchObject({ reason: 'first' });
    expect((await ask(url, CALL, FIRST)).error).toContain('not known');
  });

  it('shows new connections the certificate that was changed', async () => {
    const certify = (name: string) =>
      execFileSync(
        'openssl',
        `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${name} -keyout server.key -out server.pem`.split(
          ' ',
        ),
        { cwd: cli.project, stdio: 'ignore' },
      );
    certify('before');
    const wait = hook('touch begun; until [ -e go ]; do sleep 0.02; done');
    await replaceHooks({ BeforeTool: [{ hooks: [wait] }] });
    const { server, url, told } = await start('--cert', 'server.pem', '--key', 'server.key');
    const asked = askTls(url);
    await expect.poll(() => cli.read('begun').catch(() => 'no')).toBe('');
    const shown = async () => {
      const socket: TLSSocket = connect({
        port: Number(new URL(url).port),
        rejectUnauthorized: false,
      });
      await once(socket, 'secureConnect');
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return subject.CN;
    };
    expect(await shown()).toBe('before');
    certify('after');
    server.kill('SIGHUP');
    await expect.poll(shown).toBe('after');
    await cli.write('go', '');
    // Who was let in before has to come again.
    expect(await asked).toMatchObject({ statusCode: 200, headers: { connection: 'close' } });
    expect(await askTls(url)).toMatchObject({ headers: { connection: 'keep-alive' } });
    await cli.write('server.pem', 'no certificate');
    server.kill('SIGHUP');
    await expect.poll(told).toContain('tokens, roles and certificates stay as they were');
    expect(await shown()).toBe('after');
  });
});

async function spans(): Promise<SpanRecord[]> {
  const text = await readFile(path.join(cli.project, 'trace.jsonl'), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => readSpan(line) ?? []);
}

const shadows = async () => (await spans()).filter(({ kind }) => kind === 'shadow');

/** Has what a variable holds told. */
const settings = (name: string, redact?: string) =>
  JSON.stringify({
    enableHooks: true,
    hooks: { BeforeTool: [{ hooks: [hook(`echo "$${name}" >&2; exit 2`)] }] },
    ...(redact && { hookEnvironment: { redact: [redact], allow: [redact] } }),
  });

const slowly = (name: string, others: object) =>
  JSON.stringify({
    enableHooks: true,
    hooks: {
      BeforeTool: [
        { hooks: [hook('touch asked; until [ -e go ]; do sleep 0.02; done', { name })] },
      ],
    },
    ...others,
  });

const eventSpan = async () => (await spans()).find(({ kind }) => kind === 'event');

describe('a shadow policy', () => {
  it('is asked as well, recorded, and has no effect', async () => {
    const strict = blocking('stricter', '.*');
    const shadow = await write('shadow.json', strict);
    const { server, url } = await start('--shadow', shadow, '--trace', 'trace.jsonl');
    const blocked = await ask(url);
    expect(blocked).toMatchObject({ reason: 'first' });
    const let_ = await ask(url, { ...CALL, tool_name: 'read_file' });
    expect(let_.reason).toBeUndefined();
    await expect.poll(async () => (await shadows()).length).toBe(2);
    const [first, second] = await shadows();
    expect(first).toMatchObject({
      name: 'write_file',
      verdict: 'block',
      reason: 'stricter',
      counted: 'block',
      countedPolicy: blocked.hookstack?.policy,
      isShadow: true,
    });
    expect(second).toMatchObject({ name: 'read_file', verdict: 'block', counted: 'allow' });
    const inner = (await spans()).filter(({ parent }) => parent === first?.id);
    expect(inner).toMatchObject([{ kind: 'event', isShadow: true, policy: first?.policy }]);
    const own = (await spans()).filter(({ kind, isShadow }) => kind === 'event' && !isShadow);
    expect(own).toMatchObject([{ policy: blocked.hookstack?.policy }]);
    expect(await figures(url)).toContain('hookstack_shadow_total{verdict="none",shadow="block"} 1');

    const { stdout, exitCode } = await cli.run(['trace', '--diff', 'trace.jsonl']);
    expect([exitCode, stdout.split('\n')]).toEqual([
      0,
      [
        '1 of 2 questions that the shadow was asked as well would have another verdict',
        expect.stringMatching(/^ {6}1 {2}BeforeTool read_file {2}allow → block: stricter {2}\(/u),
      ],
    ]);
    await cli.write('shadow.json', JSON.stringify({ enableHooks: true, hooks: blocking('x') }));
    server.kill('SIGHUP');
    await expect
      .poll(async () => {
        await ask(url);
        return (await shadows()).at(-1)?.reason;
      })
      .toBe('x');
  });

  it('never delays an answer, and takes no place of the server', async () => {
    const slow = hook('printf x >> asked; until [ -e go ]; do sleep 0.02; done');
    const shadow = await write('shadow.json', { BeforeTool: [{ hooks: [slow] }] });
    const { server, url } = await start('--shadow', shadow, '--max-concurrent', '4');
    for (let count = 0; count < 6; count += 1) {
      expect(await ask(url)).toMatchObject({ reason: 'first' });
    }
    expect(await figures(url)).toContain(
      'hookstack_shadow_total{verdict="block",shadow="left_out"} 5',
    );
    await expect.poll(() => cli.read('asked').catch(() => '')).toBe('x');
    // Nobody waits for it in the end, either.
    server.kill('SIGTERM');
    expect(await server).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['hang', hook('sleep 600')],
    ['crash', hook('kill -9 $$', { persistent: true })],
    ['flood', hook('head -c 50000000 /dev/zero | tr "\\0" x')],
    ['speak late', hook('echo \'{"systemMessage":"late"}\'', { async: true })],
    ['are not there', hook('./nowhere', { onFailure: 'deny' })],
  ])('whose hooks %s changes no answer, and delays none', async (_what, bad) => {
    const events = { BeforeTool: [{ hooks: [bad] }], AfterTool: [{ hooks: [bad] }] };
    await replaceHooks(blocking('first'));
    const { BeforeTool, AfterTool } = events;
    const isAsync = bad.async === true;
    const shadow = await write('shadow.json', {
      AfterTool,
      BeforeTool: isAsync ? [{ hooks: [hook('true')] }] : BeforeTool,
    });
    const { url } = await start('--shadow', shadow, '--max-concurrent', '8');
    const done = { ...CALL, tool_name: 'read_file', tool_response: {}, session_id: 'one' };
    for (let count = 0; count < 20; count += 1) {
      expect(await ask(url)).toMatchObject({ reason: 'first', hookstack: { success: true } });
      const after = await ask(url, done, undefined, 'AfterTool');
      expect(Object.keys(after)).toEqual(['hookstack']);
    }
    expect(await figures(url)).toContain('hookstack_questions_in_flight 0');
  });

  it('masks what it names in what is recorded, as a policy does that counts later', async () => {
    await replace(settings('HOME'));
    const shadow = await cli.write('shadow.json', settings('SHADOWED', 'SHADOWED'));
    const env = { SHADOWED: 'value-of-the-shadow', LATER: 'value-of-what-counts-later' };
    const { server, url, told } = await startWith(
      env,
      '--shadow',
      shadow,
      '--trace',
      'trace.jsonl',
    );
    await replace(settings('LATER', 'LATER'));
    server.kill('SIGHUP');
    await expect.poll(told).toContain('counts');
    await ask(url);
    await expect
      .poll(async () => (await spans()).filter(({ kind }) => kind === 'hook').length)
      .toBe(2);
    const text = await readFile(path.join(cli.project, 'trace.jsonl'), 'utf8');
    expect(text).toContain('[SHADOWED]');
    expect(text).toContain('[LATER]');
    for (const value of Object.values(env)) expect(text).not.toContain(value);
  });

  it.each([
    ['was there at first', false],
    ['counted for a moment, in which nothing was written', true],
  ])('masks what one that %s names, also once it is replaced', async (_when, isLater) => {
    const VALUE = 'value-of-the-policy-before';
    const masks = slowly('one', { hookEnvironment: { redact: ['MASKED'] } });
    await replace(isLater ? slowly('none', {}) : masks);
    const { server, url, told } = await startWith({ MASKED: VALUE }, '--trace', 'trace.jsonl');
    const change = async (text: string, times: number) => {
      await replace(text);
      server.kill('SIGHUP');
      await expect.poll(() => told().split(' counts').length - 1).toBe(times);
    };
    if (isLater) await change(masks, 1);
    const asked = ask(url, { ...CALL, tool_input: { content: VALUE } });
    await expect.poll(() => cli.read('asked').catch(() => undefined)).toBe('');
    await change(slowly('two', {}), isLater ? 2 : 1);
    await cli.write('go', '');
    await asked;
    await expect
      .poll(eventSpan)
      .toMatchObject({ input: expect.stringContaining('[MASKED]') as string });
    expect(await readFile(path.join(cli.project, 'trace.jsonl'), 'utf8')).not.toContain(VALUE);
  });

  it('that is none any more is told, and the one before goes on to be asked', async () => {
    const shadow = await write('shadow.json', blocking('stricter'));
    const { url, told } = await start('--shadow', shadow);
    await cli.write('shadow.json', '{ "enableHooks": true,');
    await expect
      .poll(told)
      .toMatch(/shadow policy [\da-f]{12} goes on to be asked: .*shadow\.json:1/u);
    const ready = (await (await fetch(`${url}/readyz`)).json()) as object;
    expect(ready).toMatchObject({
      ready: true,
      policy: { version: await versionOf(policy) },
      shadow: { note: expect.stringContaining('log') as string },
    });
  });

  it('that is none keeps the server from starting', async () => {
    const shadow = await cli.write('shadow.json', '{ "enableHooks": true }');
    const args = ['serve', '--settings', policy, '--shadow', shadow];
    const { exitCode, stderr } = await cli.run(args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('shadow.json is no policy')]);
  });
});
