import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DayFile } from '../../src/cli/collect/dayFile.js';
import { COLLECT_CONSUMER, openRecord } from '../../src/cli/record/stream.js';
import { removeFromDay } from '../../src/cli/record/days.js';
import { connectNats } from '../../src/fleet/natsConnection.js';
import { RECORD_STREAM } from '../../src/fleet/recordSubject.js';
import type { SpanRecord } from '../../src/trace/record.js';
import { MAIN } from '../cli/helpers.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';
import { SQLITE_NODE } from '../helpers/sqliteNode.js';
import { useTempDir } from '../helpers/tempDir.js';
import {
  collectOnce,
  grep,
  newId,
  publishSpans,
  readCollected,
  span,
  writeToken,
  type SpanFields,
} from './recordHelpers.js';

const directory = useTempDir();

let nats: TestNats;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.dispose());

function connect() {
  const address = { server: `127.0.0.1:${nats.port}`, tls: false };
  return connectNats({ address, secret: FLEET_SECRETS.policy, name: 'test' });
}

/** The stream is there, and empty. */
beforeEach(async () => {
  const policy = await connect();
  await openRecord(policy);
  await (await jetstreamManager(policy)).streams.purge(RECORD_STREAM);
  await policy.close();
});

const publish = (spans: readonly SpanFields[]) => publishSpans(nats, spans);

const out = () => path.join(directory.path, 'out');
const database = () => path.join(directory.path, 'record.db');

function run(node: string, ...args: readonly string[]) {
  return execa(node, [MAIN, ...args], { reject: false, env: { HOME: directory.path } });
}

function collectWith(node: string, ...args: readonly string[]) {
  const token = writeToken(directory.path);
  return run(node, 'collect', '--nats', nats.url, '--token-file', token, ...args);
}

async function query(node: string, place: string, text: string) {
  const { stdout } = await run(node, 'trace', place, '--query', text, '--json');
  return (JSON.parse(stdout) as { records: Record<string, unknown>[] }).records;
}

/** A session with a sub-agent and what a server did for it, and one of somebody else. */
function twoSessions() {
  const root = span({ kind: 'session', name: 'sess-gone', session: 'sess-gone' });
  const tool = span({ kind: 'tool', name: 'task', parent: root.id, session: 'sess-gone' });
  const sub = span({ kind: 'session', parent: tool.id, session: 'sess-of-sub', name: 'sub' });
  const asked = span({ parent: sub.id, session: 'sess-of-sub', input: 'word-of-gone' });
  const served = span({
    parent: asked.id,
    from: 'policy/policy',
    agent: 'acme/one',
    input: 'word-of-gone',
  });
  const gone = [served, asked, sub, tool, root];
  const liar = span({ from: 'acme/two', parent: root.id, session: 'sess-liar', name: 'kept-a' });
  const ofLiar = { from: 'policy/policy', agent: 'acme/two', parent: root.id, name: 'kept-a' };
  const kept = [liar, span(ofLiar), span({ session: 'sess-kept', name: 'kept-b' })];
  return { gone, kept };
}

describe('a session that is to be forgotten', () => {
  it('is gone from files and the stream, with its sub-agents and what servers did for it', async () => {
    const { gone, kept } = twoSessions();
    await publish([...gone, ...kept]);
    await collectOnce(nats, directory.path);
    expect(grep('word-of-gone', directory.path)).toHaveLength(1);

    const { stdout, exitCode } = await collectWith(
      process.execPath,
      '--out',
      out(),
      '--forget',
      'sess-gone',
    );
    expect({ stdout, exitCode }).toEqual({
      stdout: `Removed 5 spans of the stream, 5 spans of the files in ${out()}`,
      exitCode: 0,
    });
    for (const word of ['sess-gone', 'sess-of-sub', 'word-of-gone']) {
      expect(grep(word, directory.path)).toEqual([]);
      expect(grep(word, nats.store)).toEqual([]);
    }
    const left = (await readCollected(directory.path)).map(({ name }) => name);
    expect(left.filter((name) => name.startsWith('kept'))).toEqual(['kept-a', 'kept-a', 'kept-b']);
    expect((await stat(path.join(out(), readdirSync(out())[0] ?? ''))).mode & 0o777).toBe(0o600);
    expect((await readdir(out())).filter((name) => !name.endsWith('.jsonl'))).toEqual([]);
    // It is not brought back, and a collector goes on.
    await publish([span({ name: 'kept-c', session: 'sess-kept' })]);
    expect((await collectOnce(nats, directory.path)).stdout).toBe('Wrote 1 span');
  });

  it('is removed while collectors write, who lose and double nothing', async () => {
    const ids = Array.from({ length: 3000 }, newId);
    const spans = ids.map((id, index) =>
      span({ id, session: index % 3 === 0 ? 'sess-gone' : 'sess-kept' }),
    );
    const collectors = [1, 2].map(() => collectWith(process.execPath, '--out', out()));
    for (let at = 0; at < spans.length; at += 750) {
      await publish(spans.slice(at, at + 750));
      await collectWith(process.execPath, '--out', out(), '--forget', 'sess-gone');
    }
    for (const each of collectors) each.kill('SIGINT');
    await Promise.all(collectors);
    await collectOnce(nats, directory.path);
    await collectWith(process.execPath, '--out', out(), '--forget', 'sess-gone');
    const left = (await readCollected(directory.path)).map(({ id }) => id);
    const expected = ids.filter((_, index) => index % 3 !== 0);
    expect(left.filter((id) => ids.includes(id)).toSorted()).toEqual(expected);
  }, 120_000);
});

const ofDay = (name: string, session: string) => ({
  ...(span({ name, session }) as unknown as SpanRecord),
  from: 'acme/one',
});

describe('the file of a day', () => {
  it('is read anew by its collector where a session was removed, and others wrote meanwhile', async () => {
    const file = new DayFile(directory.path, '2026-11-27');
    const own = ofDay('own', 'sess-kept');
    await file.add([ofDay('gone', 'sess-gone'), own]);
    const place = path.join(directory.path, '2026-11-27.jsonl');
    expect(await removeFromDay(place, ({ session }) => session === 'sess-gone')).toBe(1);
    const others = [1, 2, 3].map((n) => ofDay(`other ${n}`, 'sess-kept'));
    await new DayFile(directory.path, '2026-11-27').add(others);
    expect(await file.add([own, ...others])).toEqual([]);
  });

  it('loses all of what several remove at once', async () => {
    const sessions = ['a', 'b', 'c', 'd'];
    const spans = sessions.flatMap((each) => [1, 2, 3].map((n) => ofDay(`${each}${n}`, each)));
    await new DayFile(directory.path, '2026-11-27').add(spans);
    const place = path.join(directory.path, '2026-11-27.jsonl');
    const removing = ['a', 'b', 'c'].map((each) =>
      removeFromDay(place, ({ session }) => session === each),
    );
    expect(await Promise.all(removing)).toEqual([3, 3, 3]);
    const left = readFileSync(place, 'utf8').trimEnd().split('\n');
    expect(left.map((line) => (JSON.parse(line) as SpanRecord).name)).toEqual(['d1', 'd2', 'd3']);
    expect(await readdir(directory.path)).toEqual(['2026-11-27.jsonl']);
  });
});

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

describe('what is older than is to be kept', () => {
  it('is removed: files of days that are over', async () => {
    await mkdir(out());
    for (const ago of [0, 89, 90, 91]) await writeFile(path.join(out(), `${day(ago)}.jsonl`), '');
    await writeFile(path.join(out(), 'notes.txt'), '');
    const { stderr, exitCode } = await run(
      process.execPath,
      'collect',
      '--out',
      out(),
      '--keep',
      '90d',
    );
    expect({ stderr, exitCode }).toEqual({
      stderr: 'note: removed what is older than 90d: 1 file',
      exitCode: 0,
    });
    expect(await readdir(out())).not.toContain(`${day(91)}.jsonl`);
    expect(await readdir(out())).toHaveLength(4);
  });

  it.each(['long', '12h', '24h', '0d'])('is not said as %s', async (time) => {
    const { exitCode, stderr } = await run(
      process.execPath,
      'collect',
      '--out',
      out(),
      '--keep',
      time,
    );
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `error: --keep ${time} is no number of days or weeks, and only whole days are removed; write such as 90d, or 2w`,
    });
  });
});

const QUERIES = [
  '',
  'verdict=block,stop',
  'verdict!=allow kind=hook',
  'from=acme/* tool=run_*',
  'agent=acme/one',
  'reason="*is [frozen]?*"',
  'reason=* approver=',
  'approver!= since=1h',
  'since=2026-01-01 until=1m',
  'duration_ms=1.5',
  'duration_ms=2',
];

async function select(sql: string): Promise<string> {
  const { stdout } = await execa('sqlite3', ['-readonly', database(), sql]);
  return stdout;
}

describe.skipIf(SQLITE_NODE === undefined)('the record in SQLite', () => {
  const node = SQLITE_NODE ?? '';

  it('has a row for each span, and answers a query as the files do', async () => {
    const start = Date.now() - 120_000;
    await publish([
      span({ verdict: 'block', reason: 'It is [frozen]? yes', tool: 'run_shell_command', start }),
      span({ kind: 'tool', name: 'x', verdict: 'stop', tool: 'run_x', call: 'c1', start }),
      span({ from: 'policy/policy', agent: 'acme/one/sub', policy: 'abc', session: 's' }),
      span({ from: 'acme/two', agent: 'acme/one', verdict: 'fail', error: 'broken' }),
      span({ kind: 'question', verdict: 'allow', approver: 'ann', reason: '100%' }),
      span({ kind: 'event', decidedBy: ['a', 'b'], verdict: 'block', start, durationMs: 2 }),
    ]);
    const args = ['--out', out(), '--sqlite', database(), '--once'];
    const { stdout, stderr } = await collectWith(node, ...args);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^Wrote \d+ spans$/);
    expect((await stat(database())).mode & 0o777).toBe(0o600);
    for (const text of QUERIES) {
      const ofFiles = await query(node, out(), text);
      expect(ofFiles.length, text).toBeGreaterThan(0);
      expect(await query(node, database(), text), text).toEqual(ofFiles);
    }
    expect(await select(`SELECT agent, hook FROM records WHERE policy = 'abc'`)).toBe(
      'acme/one/sub|guard',
    );
    expect(await query(node, database(), 'from=acme/two verdict=fail')).toMatchObject([
      { agent: 'acme/two', reason: 'broken' },
    ]);
  }, 60_000);

  it('has each span once, although its collectors are killed', async () => {
    // What those that are killed had taken comes again after this time, in place of 30 s.
    const policy = await connect();
    const { consumers } = await jetstreamManager(policy);
    await consumers.update(RECORD_STREAM, COLLECT_CONSUMER, { ack_wait: 1_000_000_000 });
    await policy.close();
    const spans = Array.from({ length: 4000 }, () => span({ session: 'killed' }));
    await publish(spans);
    const written = async () => {
      const sql = `SELECT count(*) FROM records WHERE session = 'killed'`;
      return Number(await select(sql).catch(() => '0'));
    };
    for (let kills = 0; kills < 3; kills += 1) {
      const before = await written();
      const collectors = [1, 2].map(() => collectWith(node, '--sqlite', database()));
      await expect.poll(written, { timeout: 20_000, interval: 1 }).toBeGreaterThan(before);
      for (const each of collectors) each.kill('SIGKILL');
      await Promise.all(collectors);
    }
    const end = collectWith(node, '--sqlite', database());
    await expect.poll(written, { timeout: 60_000, interval: 500 }).toBe(4000);
    end.kill('SIGINT');
    await end;
    expect(await select('PRAGMA integrity_check')).toBe('ok');
    expect(await select('SELECT count(*) - count(DISTINCT id) FROM records')).toBe('0');
  }, 150_000);

  it('keeps nothing of a session that is forgotten, and nothing that is too old', async () => {
    const { gone, kept } = twoSessions();
    await publish([...gone, ...kept, span({ name: 'old', start: Date.now() - 10 * 86_400_000 })]);
    await collectWith(node, '--sqlite', database(), '--once');
    expect(grep('word-of-gone', directory.path)).not.toEqual([]);
    const forgotten = await run(node, 'collect', '--sqlite', database(), '--forget', 'sess-gone');
    expect(forgotten.stdout).toBe(`Removed 5 spans of ${database()}`);
    for (const word of ['sess-gone', 'sess-of-sub', 'word-of-gone']) {
      expect(grep(word, directory.path)).toEqual([]);
    }
    const { stderr } = await run(node, 'collect', '--sqlite', database(), '--keep', '9d');
    expect(stderr).toBe('note: removed what is older than 9d: 1 row');
    const rest = await query(node, database(), 'session=sess-kept,sess-liar');
    expect(rest).toHaveLength(2);
    expect(await query(node, database(), 'since=30d until=9d')).toEqual([]);
  }, 60_000);

  it('is in no file that is something else', async () => {
    await writeFile(database(), 'notes');
    const args = ['collect', '--sqlite', database(), '--keep', '1d'];
    expect((await run(node, ...args)).stderr).toMatch(
      /^error: --sqlite \S+record\.db cannot be used \(file is not a database\)/,
    );
    expect(readFileSync(database(), 'utf8')).toBe('notes');
  });
});
