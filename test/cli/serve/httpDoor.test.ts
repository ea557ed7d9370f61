import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { PolicyAnswers } from '../../../src/cli/serve/answers.js';
import { approvalRoutes } from '../../../src/cli/serve/approvals/approvalRoutes.js';
import { KvBoard } from '../../../src/cli/serve/approvals/kvBoard.js';
import { KvSessions } from '../../../src/cli/serve/approvals/kvSessions.js';
import {
  openHttpDoor,
  type HttpDoorOptions,
  type ServerTls,
} from '../../../src/cli/serve/httpDoor.js';
import { openMetrics } from '../../../src/cli/serve/metrics.js';
import { Notices } from '../../../src/cli/serve/notices.js';
import { Policy } from '../../../src/cli/policy/policy.js';
import { peopleWithTokens } from '../../../src/cli/shared/people/people.js';
import { Config } from '../../../src/config/config.js';
import { saying } from '../../helpers/hooks.js';
import { connectAs, signIn, tokensOf } from '../../fleet/approvalHelpers.js';
import { makeCertificates } from '../../fleet/certificates.js';
import { startNats } from '../../helpers/natsServer.js';
import { useTempDir } from '../../helpers/tempDir.js';

const temp = useTempDir();
const opened: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const MIB = 1024 * 1024;

async function open(options: Partial<HttpDoorOptions> = {}) {
  const config = new Config({
    sessionId: 'of the server',
    hooks: { BeforeTool: [{ matcher: 'write_file', hooks: [saying({ decision: 'block' })] }] },
    enableHooks: true,
    workingDir: temp.path,
    hooksRunner: { warmShells: 0, spawner: false },
  });
  await config.getHookSystem()?.initialize();
  const policy = { now: new Policy(config, 'version-1'), onFailure: undefined };
  const metrics = await openMetrics(() => answers.inFlight, policy);
  const answers = new PolicyAnswers({
    policy,
    maxConcurrent: 64,
    onAnswered: metrics.answered,
    onRefused: metrics.refused,
  });
  const log: string[] = [];
  const door = await openHttpDoor({
    host: '127.0.0.1',
    port: 0,
    access: { hasClientCertificates: false },
    answers,
    ready: { room: () => ({ isReady: answers.room > 0, says: answers.room }) },
    metrics,
    notices: new Notices((_label, line) => void log.push(line)),
    maxBody: MIB,
    ...options,
  });
  opened.push(async () => {
    await answers.drain(0);
    await door.close();
    await config.dispose();
  });
  return { url: door.url, setTls: (tls: ServerTls) => door.setTls(tls), answers, log };
}

const READY = '{"ready":true,"room":64}';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends what `fetch` would not: any method, path and header. */
function send(url: string, path: string, options: RequestOptions = {}, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = httpRequest({ hostname, port, path, agent: false, ...options }, (response) => {
      const { statusCode: status, headers } = response;
      textOf(response).then((read) => resolve({ status, headers, body: read }), reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const CALL = JSON.stringify({ tool_name: 'write_file', tool_input: { file_path: 'a' } });
const ASK = '/v1/events/BeforeTool';

function ask(url: string, body = CALL, headers: Record<string, string> = {}) {
  return send(url, ASK, { method: 'POST', headers: { ...JSON_TYPE, ...headers } }, body);
}

describe('a door without credentials', () => {
  it('answers a question, and repeats its name', async () => {
    const { url } = await open();
    const { status, body } = await ask(url, CALL, { 'Hookstack-Question': 'q-1' });
    expect(status).toBe(200);
    const hookstack = { version: 1, question: 'q-1', success: true };
    expect(JSON.parse(body)).toMatchObject({ decision: 'block', hookstack });
  });

  it.each([
    ['a name that somebody pointed to this machine', { Host: 'evil.example' }, 403],
    ['such a name with a port', { Host: 'evil.example:8787' }, 403],
    ['a name that begins as this machine', { Host: '127.0.0.1.evil.example' }, 403],
    ['a page of a browser', { Origin: 'http://127.0.0.1:8787' }, 403],
    ['a page of no origin', { Origin: 'null' }, 403],
    ['a form', { 'Content-Type': 'text/plain' }, 415],
    ['another type that begins so', { 'Content-Type': 'application/jsonp' }, 415],
    ['what is compressed', { 'Content-Encoding': 'gzip' }, 415],
  ])('refuses %s', async (_what, headers, status) => {
    const { url } = await open();
    expect(await ask(url, CALL, headers)).toMatchObject({ status });
  });

  it.each([
    ['POST', '/v1/events/Unknown', 404],
    ['POST', '/v1/events/__proto__', 404],
    ['POST', '/v1/events/', 404],
    ['POST', '/v1/events/BeforeTool/', 404],
    ['POST', '/v1/events/../events/BeforeTool', 404],
    ['POST', '//v1/events/BeforeTool', 404],
    ['POST', 'http://127.0.0.1/v1/events/BeforeTool', 404],
    ['POST', '/v1/events/Before%54ool', 404],
    ['POST', '/', 404],
    ['POST', '/healthz', 404],
    ['GET', ASK, 405],
    ['HEAD', ASK, 405],
    ['OPTIONS', ASK, 405],
    ['PUT', '/v1/claude', 405],
    ['HEAD', '/healthz', 200],
    ['HEAD', '/readyz', 200],
    ['GET', '/metrics?x', 200],
  ])('answers %s %s with %i', async (method, path, status) => {
    const { url } = await open();
    const answer = await send(url, path, { method, headers: JSON_TYPE });
    expect(answer).toMatchObject({ status });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('refuses bytes that are no text', async () => {
    const { url } = await open();
    const body = Buffer.concat([
      Buffer.from('{"tool_name":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const response = await fetch(url + ASK, { method: 'POST', headers: JSON_TYPE, body });
    expect(response.status).toBe(400);
  });
});

describe('a body that is too large', () => {
  const large = 'x'.repeat(10 * MIB);

  it.each([
    ['as its header says', { 'Content-Length': String(large.length) }],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }],
  ])('is not read to its end, %s', async (_how, headers) => {
    const { url } = await open();
    expect(await ask(url, large, headers)).toMatchObject({ status: 413 });
    expect(await ask(url)).toMatchObject({ status: 200 });
  });

  it('is refused where too many are on their way', async () => {
    const { url } = await open();
    const sockets = Array.from({ length: 6 }, () => slowly(url, MIB, 'x'.repeat(MIB - 10)));
    const heard = await Promise.race(sockets.map(({ heard: said }) => said));
    expect(heard).toContain(' 503 ');
    expect(heard).toMatch(/retry-after: 1/iu);
  });
});

/** Begins a question, and never ends it. */
function slowly(url: string, length: number, begin: string, more = '') {
  const socket = connectTo(url);
  const heard = new Promise<string>((resolve) => {
    socket.on('data', (data: Buffer) => resolve(data.toString()));
  });
  socket.write(
    `POST ${ASK} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${more}Content-Length: ${length}\r\n\r\n${begin}`,
  );
  return { socket, heard };
}

function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  opened.push(() => void socket.destroy());
  return socket;
}

describe('a client that is slow', () => {
  const timeouts = { headersMs: 300, requestMs: 600, idleMs: 1000 };

  it('costs others nothing, and is sent away: 200 that send nothing', async () => {
    const { url } = await open({ timeouts });
    const sockets = Array.from({ length: 200 }, () => connectTo(url));
    const closed = sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve)));
    for (const socket of sockets) socket.resume();
    expect(await ask(url)).toMatchObject({ status: 200 });
    await Promise.all(closed);
  });

  it('gets 408 for half of a body', async () => {
    const { url } = await open({ timeouts });
    expect(await slowly(url, 100, '{').heard).toContain(' 408 ');
  });
});

describe('a door with tokens', () => {
  const TOKEN = '0123456789abcdef0123456789abcdef';

  async function openWithTokens() {
    const tokens = tokensOf({ 'acme/one': TOKEN, 'acme/two': `${TOKEN}2` });
    return open({ access: { tokens, hasClientCertificates: false } });
  }

  it.each([
    ['no token', {}],
    ['an empty one', { Authorization: 'Bearer ' }],
    ['a wrong one', { Authorization: 'Bearer 0123456789abcdef0123456789abcdee' }],
    ['the beginning of one', { Authorization: `Bearer ${TOKEN.slice(0, 31)}` }],
    ['a longer one', { Authorization: `Bearer ${TOKEN}0` }],
    ['another scheme', { Authorization: `Basic ${TOKEN}` }],
    ['two', { Authorization: `Bearer x ${TOKEN}` }],
  ])('refuses %s, and logs one line', async (_what, headers) => {
    const { url, log } = await openWithTokens();
    const answer = await ask(url, CALL, headers);
    expect(answer).toMatchObject({ status: 401 });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    // Connections are limited, and a stranger could hold all of them.
    expect(answer.headers.connection).toBe('close');
    expect((await send(url, '/healthz', { headers })).headers.connection).toBe('close');
    await ask(url, CALL, headers);
    expect(await send(url, '/metrics', { headers })).toMatchObject({ status: 401 });
    expect(log).toEqual([
      expect.stringMatching(/^a request was refused: .* \(from 127\.0\.0\.1\)$/u),
    ]);
    expect(log.join('') + answer.body).not.toContain(TOKEN.slice(0, 31));
  });

  it('hears others, whatever one agent sends, and however slowly', async () => {
    const { url } = await openWithTokens();
    const refused: string[] = [];
    for (let n = 0; n < 4; n++) {
      const most = 'x'.repeat(MIB - 8);
      const { heard } = slowly(url, MIB, most, `Authorization: Bearer ${TOKEN}\r\n`);
      void heard.then((said) => refused.push(said.slice(0, 12)));
    }
    await expect.poll(() => refused).toEqual(['HTTP/1.1 503', 'HTTP/1.1 503']);
    const headers = { Authorization: `Bearer ${TOKEN}2` };
    const large = CALL.padEnd(MIB);
    const both = [ask(url, large, headers), ask(url, large, headers)];
    for (const answer of both) expect(await answer).toMatchObject({ status: 200 });
  });

  it('answers whoever has one, and tells everybody that it is well', async () => {
    const { url } = await openWithTokens();
    const headers = { Authorization: `bearer ${TOKEN}` };
    expect(await ask(url, CALL, headers)).toMatchObject({ status: 200 });
    expect(await send(url, '/metrics', { headers })).toMatchObject({ status: 200 });
    expect(await send(url, '/healthz')).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect(await send(url, '/readyz')).toMatchObject({ status: 200, body: READY });
  });
});

/** Sends a request with a connection that its sender keeps, and says how that goes on. */
async function stays(socket: Socket, begin: string, headers: Record<string, string> = {}) {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers }).map((each) => each.join(': '));
  socket.write(`${[`${begin} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`);
  const [said] = (await once(socket, 'data')) as [Buffer];
  const [, status, connection] =
    /^HTTP.1.1 (\d+)[^]*\nconnection: (\S+)/iu.exec(said.toString()) ?? [];
  return `${status} ${connection}`;
}

const log = () => undefined;

describe('connections', () => {
  const people = tokensOf({ anna: 'token-of-anna-0123456789' });
  const tokens = tokensOf({ 'acme/one': 'token-of-one-0123456789', 'acme/two': 'b'.repeat(16) });
  const access = { tokens, hasClientCertificates: false };
  const [one, two] = ['token-of-one-0123456789', 'b'.repeat(16)].map((token) => ({
    Authorization: `Bearer ${token}`,
  }));
  const common = { isTls: false, log, onFault: log, onRefused: log };

  async function approversAndBoard() {
    const nats = await startNats();
    opened.push(() => nats.dispose());
    const nc = await connectAs(nats, 'policy');
    opened.push(() => nc.close());
    const sessions = new KvSessions();
    const board = new KvBoard({ sessions });
    await board.begin(nc);
    opened.push(() => board.close());
    return { board, approvers: { people: peopleWithTokens(people), sessions } };
  }

  it('are held by nobody who is not known', async () => {
    const approvers = await approversAndBoard();
    const { url } = await open({ access, approvals: approvalRoutes({ ...common, ...approvers }) });
    const bare = { ...common, board: undefined, approvers: undefined };
    const { url: without } = await open({ access, approvals: approvalRoutes(bare) });
    const form = { 'Content-Type': 'application/json', 'Content-Length': '0' };
    const asked = [
      ['GET /approvals', 200],
      ['HEAD /approvals/', 200],
      ['PUT /approvals', 405],
      ['GET /approvals/session', 401],
      ['GET /approvals/events', 401],
      ['POST /approvals/sign-in', 403],
      ['POST /approvals/x', 401],
      ['GET /v1/approvals', 401],
      ['POST /v1/approvals', 401],
      ['GET /healthz', 200],
      ['GET /readyz', 200],
      ['GET /nothing', 401],
      ['POST /v1/events', 401],
    ] as const;
    for (const [begin, status] of asked) {
      expect(await stays(connectTo(url), begin, form), begin).toBe(`${status} close`);
    }
    expect(await stays(connectTo(url), 'GET /', { Expect: 'nothing' })).toBe('401 close');
    expect(await stays(connectTo(without), 'GET /approvals')).toBe('404 close');
    expect(await stays(connectTo(without), 'POST /v1/approvals')).toBe('401 close');
    const anna = await signIn(url, 'token-of-anna-0123456789');
    const { Cookie } = anna.own;
    expect(await stays(connectTo(url), 'GET /approvals/session', { Cookie })).toBe(
      '200 keep-alive',
    );
    expect(await stays(connectTo(url), 'GET /v1/approvals', one)).toBe('405 keep-alive');
    expect(await stays(connectTo(url), 'POST /v1/events', one)).toBe('415 keep-alive');
    const last = { ...one, Connection: 'close' };
    expect(await stays(connectTo(url), 'GET /v1/approvals', last)).toBe('405 close');
  });

  it('are not more than half of them those of one agent', async () => {
    const { url } = await open({ access, maxConnections: 8 });
    const sockets = Array.from({ length: 6 }, () => connectTo(url));
    const said: string[] = [];
    for (const socket of sockets) said.push(await stays(socket, 'GET /metrics', one));
    expect(said.map((each) => each.slice(0, 6))).toEqual([
      ...Array<string>(4).fill('200 ke'),
      ...Array<string>(2).fill('503 cl'),
    ]);
    expect(await stays(connectTo(url), 'GET /metrics', two)).toBe('200 keep-alive');
    // Of a proxy each is of who asks with it.
    expect(await stays(sockets[0]!, 'GET /metrics', two)).toBe('200 keep-alive');
    expect(await stays(connectTo(url), 'GET /metrics', one)).toBe('200 keep-alive');
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(async () => stays(connectTo(url), 'GET /metrics', one))
      .toBe('200 keep-alive');
  });

  it('give way to others while nobody is known on them', async () => {
    const { url } = await open({ access, maxConnections: 8 });
    const kept = connectTo(url);
    expect(await stays(kept, 'GET /metrics', one)).toBe('200 keep-alive');
    const silent = Array.from({ length: 20 }, () => connectTo(url).resume());
    const ended = () => silent.filter(({ destroyed }) => destroyed).length;
    await expect.poll(ended).toBe(13);
    const other = connectTo(url);
    expect(await stays(other, 'GET /metrics', two)).toBe('200 keep-alive');
    for (let n = 0; n < 20; n++) silent.push(connectTo(url).resume());
    await expect.poll(ended).toBe(34);
    expect(await stays(kept, 'GET /metrics', one)).toBe('200 keep-alive');
    expect(await stays(other, 'GET /metrics', two)).toBe('200 keep-alive');
  });

  it('end once another authority counts, but for answers to what was put', async () => {
    const [before, now] = ['before', 'now'].map((name) => {
      mkdirSync(join(temp.path, name));
      const files = makeCertificates(join(temp.path, name));
      const [cert, key, ca] = [files.cert, files.key, files.ca].map((file) =>
        readFileSync(file, 'utf8'),
      );
      return { files, tls: { cert: cert!, key: key!, ca: ca! } };
    });
    const approvals = approvalRoutes({
      ...common,
      ...(await approversAndBoard()),
      isTls: true,
    });
    const { url, setTls } = await open({
      tls: before!.tls,
      access: { hasClientCertificates: true },
      maxConnections: 8,
      approvals,
    });
    const port = Number(new URL(url).port);
    const gate = new EventEmitter();
    const proxy = createServer((client) => {
      const server = connect(port, '127.0.0.1');
      opened.push(() => void server.destroy());
      server.pipe(client);
      client.once('data', (hello) => {
        server.write(hello);
        client.pause();
        gate.once('go', () => client.pipe(server));
      });
      server.once('data', () => gate.emit('waiting'));
    }).listen(0, '127.0.0.1');
    opened.push(() => void proxy.close());
    await once(proxy, 'listening');
    const client = (of: typeof before, to: number) => {
      const { files, tls } = of!;
      const [cert, key] = [files.clientCert, files.clientKey].map((file) => readFileSync(file));
      const socket = connectTls({
        port: to,
        host: '127.0.0.1',
        ca: tls.ca,
        cert: cert!,
        key: key!,
      });
      socket.on('error', () => undefined);
      opened.push(() => void socket.destroy());
      return socket;
    };
    const late = client(before, (proxy.address() as AddressInfo).port);
    await once(gate, 'waiting');
    const sign = client(before, port);
    const token = JSON.stringify({ token: 'token-of-anna-0123456789' });
    const head = `Host: a\r\nOrigin: https://a\r\nContent-Type: application/json\r\nContent-Length: ${token.length}`;
    sign.write(`POST /approvals/sign-in HTTP/1.1\r\n${head}\r\n\r\n${token}`);
    const [, cookie = ''] = /Set-Cookie: ([^;]+)/iu.exec(await textOf(sign)) ?? [];
    const page = client(before, port);
    page.write(`GET /approvals/events HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}\r\n\r\n`);
    let seen = '';
    page.on('data', (data: Buffer) => (seen += data.toString()));
    await expect.poll(() => seen).toContain('event: ready');
    const asking = client(before, port);
    const form = 'Host: a\r\nContent-Type: application/json\r\nExpect: 100-continue';
    asking.write(`POST ${ASK} HTTP/1.1\r\n${form}\r\nContent-Length: ${CALL.length}\r\n\r\n`);
    const [goOn] = (await once(asking, 'data')) as [Buffer];
    expect(goOn.toString()).toContain(' 100 ');
    const unused = client(before, port);
    await once(unused, 'secureConnect');
    const used = client(before, port);
    expect(await stays(used, 'GET /metrics')).toBe('200 keep-alive');
    const ends = [late, page, unused, used].map(async (socket) => {
      socket.resume();
      await new Promise((resolve) => socket.once('close', resolve));
    });
    setTls(now!.tls);
    gate.emit('go');
    await Promise.all(ends);
    asking.write(CALL);
    expect(await textOf(asking)).toMatch(/^HTTP.1.1 200 [^]*connection: close[^]*"block"/iu);
    const own = client(now, port);
    expect(await stays(own, 'GET /metrics')).toBe('200 keep-alive');
    expect(await stays(own, 'GET /metrics')).toBe('200 keep-alive');
    const silent = Array.from({ length: 12 }, () => connectTo(url).resume());
    await expect.poll(() => silent.filter(({ destroyed }) => destroyed).length).toBe(5);
    expect(await stays(client(now, port), 'GET /metrics')).toBe('200 keep-alive');
    expect(await stays(own, 'GET /metrics')).toBe('200 keep-alive');
  });
});

describe('the figures', () => {
  it('have few labels, whatever is sent', async () => {
    const { url } = await open();
    await ask(url);
    await ask(url, '{');
    await ask(url, CALL.replace('write_file', 'a tool'));
    await send(url, '/v1/events/Nonsense', { method: 'POST' });
    const { body, headers } = await send(url, '/metrics');
    expect(headers['content-type']).toContain('application/openmetrics-text');
    expect(body).toContain('hookstack_questions_total{event="BeforeTool",verdict="block"} 1');
    expect(body).toContain('hookstack_questions_total{event="BeforeTool",verdict="none"} 1');
    expect(body).toContain('hookstack_refused_total{reason="wrong_request"} 1');
    expect(body).not.toMatch(/a tool|Nonsense/u);
    expect(body).toMatch(/# EOF\n$/u);
  });
});

describe('a door that is about to close', () => {
  it('says so, and ends its connections', async () => {
    const { url, answers } = await open();
    await answers.drain(0);
    const health = await send(url, '/healthz');
    expect(health).toMatchObject({ status: 503, body: '{"status":"draining"}' });
    expect(health.headers.connection).toBe('close');
    const body = '{"ready":false,"room":0}';
    expect(await send(url, '/readyz')).toMatchObject({ status: 503, body });
    const { status, headers } = await ask(url);
    expect([status, headers['retry-after']]).toEqual([503, '1']);
  });
});
