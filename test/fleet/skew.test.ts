import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Cli, MAIN } from '../cli/helpers.js';
import { rawClient } from '../helpers/fleetQuestions.js';
import { saying } from '../helpers/hooks.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';

/**
 * What programs of two versions say to each other. Messages are as version 0.1 wrote and read them. With
 * `HOOKSTACK_OTHER=DIR`, a checkout of another version that is built, its program is one of the two.
 */
const OTHER = path.join(process.env['HOOKSTACK_OTHER'] ?? '/nowhere', 'dist/cli.cjs');
const BEFORE = path.resolve(import.meta.dirname, '../fixtures/fleet/protocol1.conf');

const cli = new Cli();
let nats: TestNats;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  nats = await startNats(BEFORE);
  closing.push(() => nats.dispose());
});

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const EVENT = {
  session_id: 's1',
  transcript_path: '',
  cwd: '/theirs',
  hook_event_name: 'BeforeTool',
  timestamp: '2026-11-01T00:00:00.000Z',
  tool_name: 'write_file',
  tool_input: { file_path: 'production/prices' },
};
const HEADERS = {
  'Hookstack-Question': '7b1d3c66-9d0e-4a4b-8f5a-0c2a6e5f1b11',
  'Hookstack-Version': '1',
  'Hookstack-Timeout': '5000',
  'Hookstack-Span': '0123456789abcdef',
};
const MARK = { version: 1, question: HEADERS['Hookstack-Question'], success: true };

/** As a server of 0.1 answers: that question is not `id`. */
const oldAnswer = (id: string, said: object) =>
  JSON.stringify({
    ...said,
    hookstack: {
      ...MARK,
      question: id,
      decidedBy: ['central'],
      hooks: [{ name: 'central', success: true, durationMs: 4 }],
    },
  });

const NO = { decision: 'deny', reason: 'Production is frozen.' };

async function secretFile(user: keyof typeof FLEET_SECRETS): Promise<string> {
  const file = await cli.write(`${user}.token`, FLEET_SECRETS[user]);
  await chmod(file, 0o600);
  return file;
}

/** A server that denies, over HTTP and over NATS. */
async function serve(main: string): Promise<string> {
  const guard = saying(NO, { name: 'central' });
  const settings = await cli.settings({ BeforeTool: [{ matcher: 'write_file', hooks: [guard] }] });
  const overNats = ['--nats', nats.url, '--token-file', await secretFile('policy')];
  const args = ['serve', '--settings', settings, '--listen', '127.0.0.1:0', ...overNats];
  const server = execa(process.execPath, [main, ...args], {
    cwd: cli.project,
    env: cli.env,
    extendEnv: false,
    reject: false,
  });
  closing.push(async () => {
    server.kill('SIGTERM');
    await server;
  });
  const ended = server.then(({ stderr }) => Promise.reject(new Error(stderr)));
  const [line] = (await Promise.race([once(server.stdout, 'data'), ended])) as [Buffer];
  return /http\S+/u.exec(line.toString())?.[0] ?? '';
}

/** An agent with a guard that asks there, in a fleet. */
async function fire(main: string, url: string, tool = 'write_file') {
  const tokenFile = url.startsWith('nats:') ? await secretFile('one') : undefined;
  const guard = { type: 'remote', url, tokenFile, name: 'ask', timeout: 5000, onFailure: 'deny' };
  const fleet = { url: `${nats.url}/acme/one`, tokenFile: await secretFile('one'), record: true };
  const hooks = { BeforeTool: [{ hooks: [guard] }] };
  const settings = await cli.write('agent.json', { enableHooks: true, hooks, fleet });
  const args = ['fire', 'BeforeTool', '--settings', settings, '--tool', tool, '--json'];
  const { stdout, stderr } = await execa(process.execPath, [main, ...args], {
    cwd: cli.project,
    env: cli.env,
    extendEnv: false,
    reject: false,
  });
  return { said: JSON.parse(stdout) as { blocked: boolean; reason?: string }, stderr };
}

async function collect(main: string): Promise<string> {
  const from = ['--nats', nats.url, '--token-file', await secretFile('policy')];
  const args = ['collect', ...from, '--out', path.join(cli.project, 'record'), '--once'];
  const { stdout } = await execa(process.execPath, [main, ...args], {
    env: cli.env,
    extendEnv: false,
  });
  return stdout;
}

describe('an agent of before, and a server of now', () => {
  it('understand each other over HTTP', async () => {
    const url = await serve(MAIN);
    const headers = { ...HEADERS, 'Content-Type': 'application/json' };
    const body = JSON.stringify(EVENT);
    const response = await fetch(`${url}/v1/events`, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
    const { hookstack, ...said } = (await response.json()) as { hookstack: object };
    expect(said).toEqual(NO);
    expect(hookstack).toMatchObject({ ...MARK, decidedBy: ['central'] });
    expect(hookstack).not.toHaveProperty('foreign');
  });

  it('understand each other over NATS, with the rights of before', async () => {
    await serve(MAIN);
    const agent = await rawClient(nats, 'one', '_INBOX.acme.one');
    closing.push(() => agent.close());
    const { headers } = await import('@nats-io/transport-node');
    const about = headers();
    for (const [name, value] of Object.entries(HEADERS)) about.set(name, value);
    const options = { headers: about, timeout: 10_000 };
    let reply = await agent.request('hooks.ask.acme.one', JSON.stringify(EVENT), options);
    // The server says where it listens before it has subscribed everywhere.
    for (let tries = 0; reply.data.length === 0 && tries < 100; tries++) {
      reply = await agent.request('hooks.ask.acme.one', JSON.stringify(EVENT), options);
    }
    expect(reply.headers?.get('Hookstack-Status') ?? '').toBe('');
    expect(reply.json()).toMatchObject({ ...NO, hookstack: MARK });
  });

  it('share a record: what was written without a trace is read', async () => {
    await collect(MAIN);
    const agent = await rawClient(nats, 'one');
    const span = {
      id: '0123456789abcdef',
      parent: null,
      kind: 'event',
      name: 'BeforeTool',
      event: 'BeforeTool',
      start: Date.now(),
      durationMs: 5,
      verdict: 'block',
      reason: 'Production is frozen.',
      decidedBy: ['central'],
    };
    agent.publish('hooks.event.acme.one', JSON.stringify(span));
    await agent.drain();
    expect(await collect(MAIN)).toBe('Wrote 1 span');
    const [day] = (await import('node:fs')).readdirSync(path.join(cli.project, 'record'));
    const { stdout } = await cli.run(['trace', `record/${day}`]);
    expect(stdout).toContain('Production is frozen.');
  });
});

describe('a server of before, and an agent of now', () => {
  let server: Server;
  let answer: (id: string, response: ServerResponse) => void;

  beforeEach(async () => {
    server = createServer((request, response) => {
      request.resume();
      answer(String(request.headers['hookstack-question']), response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
  });

  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/events`;

  it('understand each other over HTTP: a no, a yes, and a refusal', async () => {
    answer = (id, response) => response.end(oldAnswer(id, NO));
    expect((await fire(MAIN, url())).said).toMatchObject({ blocked: true, reason: NO.reason });
    answer = (id, response) => response.end(oldAnswer(id, {}));
    expect((await fire(MAIN, url())).said).toMatchObject({ blocked: false });
    answer = (_, response) => response.writeHead(500).end('{"error":"it has failed"}');
    const { said, stderr } = await fire(MAIN, url());
    expect(said.blocked).toBe(true);
    expect(stderr).toContain('it has failed');
  });

  it('understand each other over NATS, with the rights of before', async () => {
    const policy = await rawClient(nats, 'policy');
    closing.push(() => policy.close());
    let said: object = NO;
    policy.subscribe('hooks.ask.*.*', {
      queue: 'policy',
      callback: (_, message) => {
        message.respond(oldAnswer(message.headers?.get('Hookstack-Question') ?? '', said));
      },
    });
    await policy.flush();
    const address = `${nats.url}/acme/one`;
    expect((await fire(MAIN, address)).said).toMatchObject({ blocked: true, reason: NO.reason });
    said = {};
    expect((await fire(MAIN, address)).said).toMatchObject({ blocked: false });
  });
});

describe.runIf(existsSync(OTHER))('programs of this and of another version', () => {
  it.each([
    { agent: 'other', server: 'this', mains: [OTHER, MAIN] as const },
    { agent: 'this', server: 'other', mains: [MAIN, OTHER] as const },
  ])('agent $agent, server $server', async ({ mains: [agent, server] }) => {
    // Makes the stream that the agents write to.
    await collect(server);
    const at = await serve(server);
    for (const url of [`${at}/v1/events`, `${nats.url}/acme/one`]) {
      const no = await fire(agent, url);
      expect(no.said).toMatchObject({ blocked: true, reason: NO.reason });
      expect(no.stderr).not.toMatch(/warning|error/u);
      expect((await fire(agent, url, 'read_file')).said).toMatchObject({ blocked: false });
    }
    expect(await collect(server)).toMatch(/^Wrote \d{2,} spans$/u);
  });
});
