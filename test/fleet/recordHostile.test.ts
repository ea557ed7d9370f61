import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, readFileSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jetstreamManager } from '@nats-io/jetstream';
import { openRecord } from '../../src/cli/record/stream.js';
import { scanDay } from '../../src/cli/record/days.js';
import { Config } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { fleetApprover } from '../../src/fleet/fleetApprover.js';
import { closeIdleLinks } from '../../src/fleet/natsQuestions.js';
import { connectNats } from '../../src/fleet/natsConnection.js';
import { RECORD_STREAM } from '../../src/fleet/recordSubject.js';
import { Spool, spoolsOf } from '../../src/fleet/spool.js';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { MAIN } from '../cli/helpers.js';
import { saying } from '../helpers/hooks.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';
import { SQLITE_NODE } from '../helpers/sqliteNode.js';
import { useTempDir } from '../helpers/tempDir.js';
import { answerTo, shownTo, signIn } from './approvalHelpers.js';
import {
  collectOnce,
  grep,
  joinAs,
  publishSpans,
  readCollected,
  span,
  writeToken,
} from './recordHelpers.js';

const directory = useTempDir();
const ANNA = 'token-of-anna-0123456789';

let nats: TestNats;
beforeAll(async () => void (nats = await startNats()));
afterAll(async () => {
  await closeIdleLinks();
  await nats.dispose();
});
beforeEach(async () => {
  const address = { server: `127.0.0.1:${nats.port}`, tls: false };
  const policy = await connectNats({ address, secret: FLEET_SECRETS.policy, name: 'test' });
  await openRecord(policy);
  await (await jetstreamManager(policy)).streams.purge(RECORD_STREAM);
  await policy.close();
});

const out = () => path.join(directory.path, 'out');
const database = () => path.join(directory.path, 'record.db');
const asPolicy = () => ['--nats', nats.url, '--token-file', writeToken(directory.path)];

function run(...args: readonly string[]) {
  const node = SQLITE_NODE ?? process.execPath;
  return execa(node, [MAIN, ...args], { reject: false, env: { HOME: directory.path } });
}

const forget = (session: string, ...args: readonly string[]) =>
  run('collect', `--forget=${session}`, ...args);

async function names(): Promise<string[]> {
  return (await readCollected(directory.path)).map(({ name }) => name).toSorted();
}

const select = async (sql: string) =>
  (await execa('sqlite3', ['-readonly', database(), sql])).stdout;
const countRows = () => select('SELECT count(*) FROM records').catch(() => '');
const change = (sql: string) => execa('sqlite3', [database(), sql]);
const collect = () => run('collect', ...asPolicy(), '--sqlite', database(), '--once');

describe('a session that is to be forgotten', () => {
  it('is that of one agent, whoever else names his own so', async () => {
    const served = { from: 'policy/policy', session: 'sess' };
    await publishSpans(nats, [
      span({ session: 'sess', name: 'mine' }),
      span({ ...served, agent: 'acme/one/sub', name: 'mine' }),
      span({ session: 'sess', from: 'acme/two', name: 'evidence' }),
      span({ ...served, agent: 'acme/two', name: 'evidence' }),
      // Of whom nobody knows who it is: it is not of acme/two, whatever was said.
      span({ ...served, agent: 'local/acme/two/x', name: 'mine' }),
    ]);
    await collectOnce(nats, directory.path);
    const all = [...asPolicy(), '--out', out()];
    const refused = await forget('sess', ...all);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toBe(
      'error: Nothing is removed: 2 agents have named a session so (acme/one, acme/two); say which one: --of TEAM/AGENT',
    );
    expect(await names()).toHaveLength(5);
    const { stdout } = await forget('sess', '--of', 'acme/one', ...all);
    expect(stdout).toBe(`Removed 3 spans of the stream, 3 spans of the files in ${out()}`);
    expect(await names()).toEqual(['evidence', 'evidence']);
  });

  it('is gone with all within it, however deep, and written in whatever order', async () => {
    const trace = 'a'.repeat(32);
    const chain = [span({ session: 'sess', trace })];
    for (let depth = 0; depth < 2000; depth += 1) {
      chain.push(span({ parent: chain[depth]?.id ?? null, trace, name: 'deep' }));
    }
    await publishSpans(nats, chain.toReversed());
    await collectOnce(nats, directory.path);
    const { stdout } = await forget('sess', '--out', out());
    expect(stdout).toBe(`Removed 2001 spans of the files in ${out()}`);
  });

  it.each([
    `it's "a" * %_[x]?; DROP TABLE records; --`,
    '*',
    '%',
    '..',
    '-',
    '$(id)',
    'é\u202e\u{1f600}',
  ])('is named %j, and no other is', async (session) => {
    const others = ['it', 'a', "it's", '[x]', ''].map((each) =>
      span({ session: each, name: each }),
    );
    await publishSpans(nats, [
      span({ session: `\u001b[31m${session}\u0007`, name: 'gone' }),
      ...others,
    ]);
    await collectOnce(nats, directory.path);
    const gone = (await readCollected(directory.path)).find(({ name }) => name === 'gone');
    const named = (gone as unknown as { session: string }).session;
    expect((await forget(named, '--out', out())).stdout).toBe(
      `Removed 1 span of the files in ${out()}`,
    );
    expect(await names()).toEqual(['', '[x]', 'a', 'it', "it's"]);
  });

  it('is gone from what waits on this machine, unless its agent runs', async () => {
    const place = path.join(spoolsOf(directory.path), 'acme.one');
    const lines = ['sess-gone', 'sess-kept'].map((session) => JSON.stringify(span({ session })));
    const spool = new Spool(place);
    spool.append(['damaged', ...lines]);
    const refused = await forget('sess-gone');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/\(acme\/one runs, and keeps some in .*\); run it again$/);
    spool.release();
    const { stdout, exitCode } = await forget('sess-gone');
    expect({ stdout, exitCode }).toEqual({
      stdout: `Removed 1 span of what waits in ${place}`,
      exitCode: 0,
    });
    expect(grep('sess-gone', directory.path)).toEqual([]);
    expect(spool.take()?.lines).toEqual(['damaged', lines[1]]);
  });

  it('is gone from what was left by who was killed', async () => {
    await publishSpans(nats, [span({ session: 'sess-gone' }), span({ session: 'sess-kept' })]);
    await collectOnce(nats, directory.path);
    const half = '{"id":"0123456789abcdef","session":"sess-gone","inp';
    await writeFile(path.join(out(), '2026-01-01.jsonl'), half);
    const [day = ''] = (await readdir(out())).toSorted().toReversed();
    const pid = (await execa('sh', ['-c', 'echo $$'])).stdout;
    await writeFile(path.join(out(), `${day}.${pid}-0.tmp`), `${half}\n`);
    await forget('sess-gone', '--out', out());
    expect(grep('sess-gone', out())).toEqual([]);
    expect(grep('sess-kept', out())).toEqual([path.join(out(), day)]);
    expect(await readdir(out())).toHaveLength(2);
  });

  it('is not taken for gone where a name is misspelt', async () => {
    for (const args of [
      ['--out', out()],
      ['--sqlite', database()],
    ]) {
      const { exitCode, stderr } = await forget('sess', ...args);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringMatching(
          /^error: The session cannot be removed \(ENOENT.*\); name what collect has written$/u,
        ) as string,
      });
    }
    expect(await readdir(directory.path)).toEqual([]);
  });
});

describe('a file of the record', () => {
  it('with a line that is too long for anybody is refused', async () => {
    const file = path.join(directory.path, '2026-01-01.jsonl');
    await writeFile(file, `${JSON.stringify(span({}))}\n`);
    const piece = 'x'.repeat(1024 * 1024);
    for (let count = 0; count < 70; count += 1) appendFileSync(file, piece);
    await expect(scanDay(file, () => undefined)).rejects.toThrow(
      /has a line of over 67108864 bytes/,
    );
    const { exitCode, stderr } = await run('trace', directory.path, '--query', '');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('has a line of over') as string,
    });
  });
});

describe.skipIf(SQLITE_NODE === undefined)('the record in SQLite', () => {
  it('holds a session until nobody reads it any more, and says so', async () => {
    await publishSpans(nats, [span({ session: 'sess-gone' }), span({ session: 'sess-kept' })]);
    const collector = execa(
      SQLITE_NODE ?? '',
      [MAIN, 'collect', ...asPolicy(), '--sqlite', database()],
      { reject: false },
    );
    onTestFinished(() => void collector.kill('SIGKILL'));
    await expect.poll(countRows, { timeout: 10_000 }).toBe('2');
    const reader = spawn('sqlite3', ['-readonly', database()]);
    onTestFinished(() => void reader.kill('SIGKILL'));
    reader.stdin.write('BEGIN; SELECT count(*) FROM records;\n');
    await once(reader.stdout, 'data');
    const early = await forget('sess-gone', '--sqlite', database());
    expect(early.exitCode).toBe(1);
    expect(early.stderr).toContain('somebody reads the database, so the log beside it still holds');
    expect(grep('sess-gone', directory.path)).not.toEqual([]);
    reader.kill('SIGKILL');
    await once(reader, 'exit');
    expect((await forget('sess-gone', '--sqlite', database())).exitCode).toBe(0);
    // With its collector running.
    expect(grep('sess-gone', directory.path)).toEqual([]);
    expect(grep('sess-kept', directory.path)).not.toEqual([]);
    collector.kill('SIGINT');
    expect((await collector).stdout).toBe('Wrote 2 spans');
  }, 60_000);

  it('keeps what says that it is older than the world for as long as the files', async () => {
    await publishSpans(
      nats,
      [0, 4e15].map((start) => span({ start, name: `at ${start}` })),
    );
    await collect();
    const kept = await run('collect', '--sqlite', database(), '--keep', '1d');
    expect(kept).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await select('SELECT count(*) FROM records')).toBe('2');
  });

  it("is none that is a link, somebody else's, or changes what is written", async () => {
    const cannot = async () => (await collect()).stderr.replace(database(), 'FILE');
    const target = path.join(directory.path, 'target');
    await writeFile(target, '');
    await symlink(target, database());
    expect(await cannot()).toContain('--sqlite FILE cannot be used (it is a link to another file)');
    expect(readFileSync(target, 'utf8')).toBe('');
    await execa('rm', [database()]);
    await collect();
    await change('CREATE TRIGGER copy AFTER DELETE ON records BEGIN SELECT 1; END');
    expect(await cannot()).toContain('it is a database of something else');
    expect((await run('trace', database(), '--query', '')).exitCode).toBe(2);
    await change(
      'DROP TRIGGER copy; ALTER TABLE records RENAME TO r; CREATE VIEW records AS SELECT * FROM r',
    );
    expect(await cannot()).toContain('it is a database of something else');
    await change('DROP VIEW records; PRAGMA user_version = 2');
    expect(await cannot()).toContain('a later version of hookstack has made it');
    if (process.getuid?.() !== 0) return;
    chownSync(database(), 12_345, 12_345);
    expect(await cannot()).toContain('it belongs to user 12345');
  });

  it('says which policy of a server has answered, and who has allowed it, by both', async () => {
    const file = (name: string, text: string) =>
      writeFile(path.join(directory.path, name), text, { mode: 0o600 }).then(() =>
        path.join(directory.path, name),
      );
    await mkdir(path.join(directory.path, '.llxprt'));
    const asking = saying({ decision: 'ask', reason: 'it is production' }, { name: 'production' });
    const hooks = { BeforeTool: [{ hooks: [asking] }] };
    const settings = await file('policy.json', JSON.stringify({ enableHooks: true, hooks }));
    const server = execa(
      process.execPath,
      [
        MAIN,
        'serve',
        '--settings',
        settings,
        '--listen',
        '127.0.0.1:0',
        '--approvers',
        await file('approvers', `anna ${ANNA}\n`),
        ...asPolicy(),
      ],
      { reject: false, env: { HOME: directory.path }, cwd: directory.path },
    );
    onTestFinished(() => void server.kill('SIGKILL'));
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    const url = /http:\S+/u.exec(line.toString())?.[0] ?? '';

    const { sender } = joinAs(nats.port, directory.path);
    const tokenFile = writeToken(directory.path, FLEET_SECRETS.one);
    const fleet = { url: `${nats.url}/acme/one`, tokenFile, approvals: true };
    const guard = { type: 'remote', name: 'fleet', url: fleet.url, tokenFile } as CommandHookConfig;
    const config = new Config({
      hooks: { BeforeTool: [{ hooks: [guard] }] },
      enableHooks: true,
      sessionId: 'sess-asked',
      approver: fleetApprover(fleet),
    });
    const calling = executeToolWithHooks(config, 'deploy', {}, async () => ({
      llmContent: 'done',
      returnDisplay: '',
    }));
    const anna = await signIn(url, ANNA);
    await answerTo(anna, await shownTo(anna), { decision: 'allow' });
    expect(await calling).toMatchObject({ llmContent: 'done' });
    await sender.close();
    server.kill('SIGTERM');
    await server;

    await collect();
    const columns = '"from", agent, kind, tool, verdict, approver, policy';
    const rows = await select(
      `SELECT ${columns} FROM records WHERE session = 'sess-asked' AND kind <> 'event' ORDER BY "from", kind`,
    );
    const { stdout } = await execa(process.execPath, [MAIN, 'serve', '--check', settings]);
    const version = /\b[0-9a-f]{12}\b/u.exec(stdout)?.[0];
    expect(version).toBeDefined();
    expect(rows.split('\n')).toEqual([
      `acme/one|acme/one|hook|deploy|ask||acme/one says: ${version}`,
      `acme/one|acme/one|question|deploy|allow|acme/one says: anna|acme/one says: ${version}`,
      'acme/one|acme/one|tool|deploy|allow|acme/one says: anna|',
      `policy/policy|acme/one|hook|deploy|ask||${version}`,
      `policy/policy|acme/one|question|deploy|allow|anna|${version}`,
    ]);
  }, 60_000);
});
