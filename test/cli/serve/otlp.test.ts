import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { saying } from '../../helpers/hooks.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../../helpers/natsServer.js';
import { rawClient } from '../../helpers/fleetQuestions.js';
import { Cli } from '../helpers.js';

const cli = new Cli();
const RESPONSES = path.resolve(import.meta.dirname, '../../../examples/fleet/one.responses');
const SECRET = 'sk-of-the-environment-1234';

interface Sent {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Sent['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly Sent[] }[];
  }[];
}

/** What a collector of OpenTelemetry was sent. */
let bodies: { readonly url: string | undefined; readonly key: unknown; readonly body: Body }[] = [];
let receiver: Server;
let url = '';
let nats: TestNats | undefined;
const running: ReturnType<Cli['start']>[] = [];

beforeEach(async () => {
  bodies = [];
  receiver = createServer((request, response) => {
    void textOf(request).then((text) => {
      const body = JSON.parse(text) as Body;
      bodies.push({ url: request.url, key: request.headers['api-key'], body });
      response.setHeader('Content-Type', 'application/json');
      return response.end('{}');
    });
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});

afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each;
  }
  receiver.closeAllConnections();
  receiver.close();
  await nats?.dispose();
  nats = undefined;
});

const sent = (): Sent[] =>
  bodies.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );

const attributesOf = ({ attributes }: Pick<Sent, 'attributes'>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]));

const named = (name: string) => sent().filter((span) => span.name === name);

async function serve(args: readonly string[], env = {}) {
  const guard = saying({ decision: 'block', reason: `no, says ${SECRET}` }, { name: 'central' });
  const settings = await cli.settings({ BeforeTool: [{ hooks: [guard] }] });
  const listen = ['serve', '--settings', settings, '--listen', '127.0.0.1:0'];
  const server = cli.start([...listen, ...args], { env: { API_TOKEN: SECRET, ...env } });
  running.push(server);
  const lines = once(server.stdout!, 'data').then(([line]) => (line as Buffer).toString());
  const said = await Promise.race([lines, server.then(() => '')]);
  return { server, at: /http\S+/u.exec(said)?.[0] ?? '' };
}

/** An agent that wants to write a file, and asks a server about it. */
async function run(at: string, ...args: string[]) {
  const remote = { type: 'remote', url: `${at}/v1/events`, name: 'ask', timeout: 5000 };
  const hooks = { BeforeTool: [{ hooks: [remote] }] };
  const settings = await cli.write('agent.json', { enableHooks: true, hooks });
  const options = { env: { API_TOKEN: SECRET } };
  const about = ['Write.', '--settings', settings, '--responses', RESPONSES];
  return cli.runProgram(['run', ...about, ...args], options);
}

describe('--otlp', () => {
  it('sends what an agent and its server did as one trace, by their own ids', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=of-the-collector',
      OTEL_SERVICE_NAME: 'policy-a',
    };
    const { server, at } = await serve(['--otlp', url], env);
    const { exitCode } = await run(at, '--otlp', `${url}/v1/traces`, '--trace', 'trace.jsonl');
    expect(exitCode).toBe(0);
    server.kill('SIGTERM');
    expect(await server).toMatchObject({
      exitCode: 0,
      stderr: expect.not.stringContaining('warn') as string,
    });

    expect(new Set(bodies.map((each) => each.url))).toEqual(new Set(['/v1/traces']));
    const ofServer = bodies.find(({ key }) => key === 'of-the-collector')?.body.resourceSpans[0];
    expect(attributesOf(ofServer!.resource)).toMatchObject({ 'service.name': 'policy-a' });
    const lines = (await cli.read('trace.jsonl')).trim().split('\n');
    const written = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const { id, trace, parent, start } of written) {
      const span = sent().find(({ spanId }) => spanId === id);
      expect(span).toMatchObject({ traceId: trace });
      expect(span?.parentSpanId ?? null).toBe(parent);
      expect(Number(span?.startTimeUnixNano) / 1e6).toBeCloseTo(Number(start), 0);
    }

    expect(new Set(sent().map(({ traceId }) => traceId)).size).toBe(1);
    const [tool] = named('execute_tool write_file');
    expect(attributesOf(tool!)).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'write_file',
      'hookstack.verdict': 'block',
      'hookstack.reason': 'no, says [API_TOKEN]',
    });
    // What was blocked has not failed.
    expect(tool?.status.code ?? 0).toBe(0);
    const chat = sent().find(({ name }) => name.startsWith('chat '));
    expect(chat).toMatchObject({ kind: 3 });
    const asked = new Set(named('hook ask').map(({ spanId }) => spanId));
    const central = named('hook central');
    expect(central).toHaveLength(asked.size);
    const policy = expect.stringMatching(/^[0-9a-f]{12}$/u) as string;
    expect(attributesOf(central[0]!)).toMatchObject({ 'hookstack.policy': policy });
    expect(attributesOf(tool!)).toMatchObject({ 'session.id': expect.any(String) as string });
    for (const { parentSpanId } of central) {
      const event = sent().find(({ spanId }) => spanId === parentSpanId);
      expect(event?.name).toBe('event BeforeTool');
      expect(asked.delete(event?.parentSpanId ?? '')).toBe(true);
    }
    expect(JSON.stringify(bodies)).not.toContain(SECRET);
  });

  it('sends the record of a fleet, each span once, with who it is from', async () => {
    nats = await startNats();
    const secret = await cli.write('policy.token', FLEET_SECRETS.policy);
    await chmod(secret, 0o600);
    const from = ['--nats', nats.url, '--token-file', secret, '--out', 'record', '--otlp', url];
    expect((await cli.runProgram(['collect', ...from, '--once'])).exitCode).toBe(0);
    const client = await rawClient(nats, 'one');
    const span = {
      id: '0123456789abcdef',
      trace: '0123456789abcdef0123456789abcdef',
      parent: 'fedcba9876543210',
      kind: 'hook',
      name: 'central',
      start: Date.now(),
      durationMs: 5,
      verdict: 'fail',
      error: 'it has crashed',
      exitCode: 3,
    };
    const old = { ...span, id: '1123456789abcdef', trace: undefined, parent: null };
    const forged = { ...span, id: '2123456789abcdef', trace: 'no trace', parent: 'no parent' };
    for (const each of [span, old, forged]) {
      client.publish('hooks.event.acme.one', JSON.stringify(each));
    }
    await client.drain();
    const { stdout, stderr } = await cli.runProgram(['collect', ...from, '--once']);
    expect({ stdout, stderr }).toEqual({ stdout: 'Wrote 3 spans', stderr: '' });
    const [first, second, third] = sent();
    expect(sent()).toHaveLength(3);
    expect(first).toMatchObject({
      traceId: span.trace,
      spanId: span.id,
      parentSpanId: span.parent,
      name: 'hook central',
      startTimeUnixNano: `${span.start}000000`,
      endTimeUnixNano: `${span.start + 5}000000`,
      status: { code: 2, message: 'it has crashed' },
    });
    expect(attributesOf(first!)).toMatchObject({
      'hookstack.from': 'acme/one',
      'process.exit.code': 3,
      'error.type': 'hook',
    });
    expect(second).toMatchObject({ traceId: '00000000000000001123456789abcdef', spanId: old.id });
    expect(third).toMatchObject({ traceId: '00000000000000002123456789abcdef' });
    await cli.runProgram(['collect', ...from, '--once']);
    expect(sent()).toHaveLength(3);
  });

  it('sends nothing of an agent that a collector would refuse, as it refuses the spans of others with it', async () => {
    nats = await startNats();
    const secret = await cli.write('policy.token', FLEET_SECRETS.policy);
    await chmod(secret, 0o600);
    const from = ['--nats', nats.url, '--token-file', secret, '--out', 'record', '--otlp', url];
    expect((await cli.runProgram(['collect', ...from, '--once'])).exitCode).toBe(0);
    const client = await rawClient(nats, 'one');
    const span = { kind: 'hook', name: 'x', start: 1000, durationMs: 5, verdict: 'fail' };
    const long = 'long '.repeat(100_000);
    const many = Array.from({ length: 5000 }, (_, index) => `m${index}`);
    const hostile = [
      { start: 4e15, durationMs: 4e15 },
      { exitCode: 1e300, sizes: { promptTokens: 2 ** 70, [long]: 1 } },
      { sizes: Object.fromEntries(many.map((name) => [name, 1])) },
      { name: long, reason: long, error: long, command: long, decidedBy: [...many, long] },
      { id: '0000000000000000', trace: '0'.repeat(32), parent: '0'.repeat(16) },
      { parent: long, event: long, moment: long, signal: long },
    ];
    for (const [index, each] of hostile.entries()) {
      const id = `${index}`.padStart(16, 'a');
      client.publish('hooks.event.acme.one', JSON.stringify({ id, ...span, ...each }));
    }
    await client.drain();
    const { stdout, stderr } = await cli.runProgram(['collect', ...from, '--once']);
    expect({ stdout, stderr }).toEqual({
      stdout: 'Wrote 5 spans, 1 message left out',
      stderr: expect.stringContaining('its id is none of a span') as string,
    });
    expect(sent()).toHaveLength(5);
    for (const each of sent()) {
      // What the protocol can carry, and collectors take.
      expect(each.spanId).toMatch(/^(?!0+$)[0-9a-f]{16}$/u);
      expect(each.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/u);
      expect(each.parentSpanId ?? '').toMatch(/^(?:(?!0+$)[0-9a-f]{16})?$/u);
      expect(BigInt(each.endTimeUnixNano)).toBeLessThan(2n ** 63n);
      expect(JSON.stringify(each).length).toBeLessThan(32_000);
      for (const value of Object.values(attributesOf(each))) {
        expect(typeof value !== 'number' || Math.abs(value) < 2 ** 63).toBe(true);
      }
    }
  });

  it('says so where nobody takes spans, and does its work', async () => {
    receiver.close();
    const { at } = await serve([]);
    const { exitCode, stderr } = await run(at, '--otlp', url);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/warning: OpenTelemetry at 127\.0\.0\.1:\d+ takes no spans/u);
    expect(stderr).toMatch(/warning: (\d+) of \1 spans were not taken/u);
  });

  it('is refused as no address', async () => {
    const { exitCode, stderr } = await cli.run(['collect', '--otlp', '127.0.0.1:4318']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Write http://HOST:PORT or https://HOST:PORT.');
  });
});

/** Has Node find none of the packages of OpenTelemetry. */
const WITHOUT = `--import=data:text/javascript,${encodeURIComponent(`
import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(\`export function resolve(name, context, next) {
  if (name.startsWith('@opentelemetry')) {
    throw Object.assign(new Error('no ' + name), { code: 'ERR_MODULE_NOT_FOUND' });
  }
  return next(name, context);
}\`));`)}`;

it('is loaded by nobody who does not use it, and says what to install', async () => {
  const env = { NODE_OPTIONS: WITHOUT };
  const { at } = await serve([], env);
  expect(at).toMatch(/^http:/u);
  const { server } = await serve(['--otlp', url], env);
  expect(await server).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(
      /--otlp needs the package "@opentelemetry\/.*npm install @opentelemetry\/api@1\.9 /u,
    ) as string,
  });
});
