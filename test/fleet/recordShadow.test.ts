import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRecord } from '../../src/cli/record/stream.js';
import { connectNats } from '../../src/fleet/natsConnection.js';
import { RECORD_STREAM } from '../../src/fleet/recordSubject.js';
import { readSpan } from '../../src/trace/record.js';
import { Cli, MAIN } from '../cli/helpers.js';
import { saying } from '../helpers/hooks.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';
import { SQLITE_NODE } from '../helpers/sqliteNode.js';
import { writeToken } from './recordHelpers.js';

const cli = new Cli();
const TOKENS = { one: 'token-of-one-0123456789', two: 'token-of-two-0123456789' };
type Agent = keyof typeof TOKENS;

const running: ReturnType<typeof run>[] = [];
let nats: TestNats;
beforeAll(async () => void (nats = await startNats()));
afterAll(() => nats.dispose());
beforeEach(() => withStreams(({ streams }) => streams.purge(RECORD_STREAM)));
afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each;
  }
});

type Manager = Awaited<ReturnType<typeof jetstreamManager>>;

/** The stream of the record is there. */
async function withStreams<T>(work: (manager: Manager) => Promise<T>): Promise<T> {
  const address = { server: `127.0.0.1:${nats.port}`, tls: false };
  const policy = await connectNats({ address, secret: FLEET_SECRETS.policy, name: 'test' });
  try {
    await openRecord(policy);
    return await work(await jetstreamManager(policy));
  } finally {
    await policy.close();
  }
}

function run(...args: readonly string[]) {
  const node = SQLITE_NODE ?? process.execPath;
  const env = { HOME: cli.home, PATH: process.env['PATH'] };
  return execa(node, [MAIN, ...args], { reject: false, cwd: cli.project, env, extendEnv: false });
}

const asPolicy = () => ['--nats', nats.url, '--token-file', writeToken(cli.home)];

/** Blocks calls of tools. */
const blocking = (matcher: string, reason: string) => ({
  enableHooks: true,
  hooks: { BeforeTool: [{ matcher, hooks: [saying({ decision: 'block', reason })] }] },
});

/** A server with a shadow. They agree about `deploy` alone. */
async function serve() {
  const settings = await cli.write('policy.json', blocking('^(deploy|write_file)$', 'frozen'));
  const shadow = await cli.write('shadow.json', blocking('^(deploy|read_file)$', 'stricter'));
  const lines = Object.entries(TOKENS).map(([agent, token]) => `acme/${agent} ${token}`);
  const tokens = path.join(cli.home, 'tokens');
  await writeFile(tokens, lines.join('\n'), { mode: 0o600 });
  const files = ['--settings', settings, '--shadow', shadow, '--tokens', tokens];
  const args = ['--listen', '127.0.0.1:0', '--trace', 'trace.jsonl', ...asPolicy()];
  const server = run('serve', ...files, ...args);
  running.push(server);
  const ended = server.then(({ stderr }) => Promise.reject(new Error(stderr)));
  const [line] = (await Promise.race([once(server.stdout, 'data'), ended])) as [Buffer];
  return { server, url: /http:\S+/u.exec(line.toString())?.[0] ?? '' };
}

async function ask(url: string, agent: Agent, tool: string): Promise<void> {
  const headers = {
    'Content-Type': 'application/json',
    Authorization: `Bearer ${TOKENS[agent]}`,
    'Hookstack-Call': `call-${tool}`,
  };
  // Two agents may have a session of the same name.
  const body = JSON.stringify({ tool_name: tool, tool_input: {}, session_id: 'sess' });
  const response = await fetch(`${url}/v1/events/BeforeTool`, { method: 'POST', headers, body });
  expect(response.status).toBe(200);
}

async function shadowsOf(file: string) {
  const text = await readFile(path.join(cli.project, file), 'utf8').catch(() => '');
  return text
    .split('\n')
    .flatMap((line) => readSpan(line) ?? [])
    .filter(({ kind }) => kind === 'shadow');
}

/** Has two agents ask the same of a server with a shadow, and collects what it has recorded. */
async function collectShadows(): Promise<void> {
  const { server, url } = await serve();
  for (const tool of ['deploy', 'read_file', 'write_file']) {
    await ask(url, 'one', tool);
    await ask(url, 'two', tool);
  }
  await expect.poll(async () => (await shadowsOf('trace.jsonl')).length).toBe(6);
  server.kill('SIGTERM');
  expect(await server).toMatchObject({ exitCode: 0 });
  const collected = await run('collect', ...asPolicy(), ...STORES, '--once');
  expect(collected).toMatchObject({ exitCode: 0, stderr: '' });
}

const STORES = ['--out', 'record', ...(SQLITE_NODE === undefined ? [] : ['--sqlite', 'record.db'])];
const PLACES = STORES.filter((each) => !each.startsWith('--'));

/** How many read the stream. */
const consumers = () =>
  withStreams(async ({ streams }) => (await streams.info(RECORD_STREAM)).state.consumer_count);

async function query(place: string, text: string) {
  const { stdout } = await run('trace', place, '--query', text, '--json');
  return (JSON.parse(stdout) as { records: Record<string, unknown>[] }).records;
}

describe('what a shadow of a server says', () => {
  it('is found by who has asked what', async () => {
    await collectShadows();
    for (const place of PLACES) {
      const found = await query(place, 'kind=shadow agent=acme/one tool=write_file');
      expect(found, place).toMatchObject([
        { session: 'sess', call: 'call-write_file', counted: 'block', shadow: 'allow' },
      ]);
      const [, ...others] = await query(place, 'kind=shadow agent=acme/two session=sess');
      expect(others, place).toMatchObject([{ tool: 'read_file' }, { tool: 'write_file' }]);
    }
  }, 60_000);

  it('stays where another agent had a session of the same name that is forgotten', async () => {
    await collectShadows();
    const before = await Promise.all(PLACES.map((place) => query(place, '')));
    const forgotten = ['--forget', 'sess', '--of', 'acme/two'];
    expect(await run('collect', ...asPolicy(), ...STORES, ...forgotten)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    const after = await Promise.all(PLACES.map((place) => query(place, '')));
    const kept = before.map((rows) => rows.filter(({ agent }) => agent !== 'acme/two'));
    expect(after).toEqual(kept);
    expect(kept[0]?.filter(({ kind }) => kind === 'shadow')).toHaveLength(3);
    expect(kept[0]?.filter(({ agent }) => agent !== 'acme/one')).toEqual([]);
  }, 60_000);
});

describe('hookstack trace --diff', () => {
  it('reads the directory of the record as it reads the trace of the server', async () => {
    await collectShadows();
    const diff = async (place: string) => (await run('trace', '--diff', place)).stdout;
    const ofServer = await diff('trace.jsonl');
    expect(ofServer).toMatch(/^4 of 6 questions that the shadow was asked as well/u);
    expect(await diff('record')).toBe(ofServer);
    await mkdir(path.join(cli.project, 'empty'));
    const empty = await run('trace', '--diff', 'empty');
    expect([empty.exitCode, empty.stderr]).toEqual([
      1,
      expect.stringContaining('empty holds no questions to a shadow'),
    ]);
  }, 60_000);

  it('tells over NATS what differs, as it comes, and in the end of how many', async () => {
    const { url } = await serve();
    const before = await consumers();
    const following = run('trace', '--diff', ...asPolicy());
    running.push(following);
    let shown = '';
    following.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    await expect.poll(consumers, { timeout: 10_000 }).toBe(before + 1);
    await ask(url, 'one', 'deploy');
    await expect.poll(async () => (await shadowsOf('trace.jsonl')).length).toBe(1);
    await ask(url, 'two', 'read_file');
    await expect
      .poll(() => shown, { timeout: 10_000 })
      .toMatch(
        /^[\d:.]+ policy\/policy shadow read_file \(BeforeTool\) allow counted, and not block: stricter\n$/u,
      );
    following.kill('SIGINT');
    const { exitCode, stdout } = await following;
    expect([exitCode, stdout.split('\n').slice(1)]).toEqual([
      0,
      [
        '1 of 2 questions that the shadow was asked as well would have another verdict',
        expect.stringMatching(/^ {6}1 {2}BeforeTool read_file {2}allow → block: stricter {2}\(/u),
      ],
    ]);
  }, 60_000);
});
