import { chmod } from 'node:fs/promises';
import { constants } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { spawnerStatus } from '../helpers/lookAtSpawner.js';
import { hook } from '../helpers/hooks.js';
import { isRunning, makeTempDir, readPids } from '../process/helpers.js';
import { compilePackage, fixture, type CompiledPackage } from './helpers/childHost.js';
import { fault, TIMED, type Host, type ToolCallOptions } from './helpers/host.js';
import { limitedUser, readProcessLimit, setProcessLimit } from './helpers/processLimit.js';

// The faults of a process, in one that stays: what each line of bash here does, it does while it owes an answer.

const PUPPET = fileURLToPath(new URL('../fixtures/persistent/puppet.mjs', import.meta.url));
const TIMEOUT_MS = 300;
const MEGABYTE = 1_000_000;
const WAIT = { timeout: 10_000, interval: 10 };

const DENY = `answer '"output":{"decision":"deny","reason":"no"}'`;
const BLOCKED = { verdict: 'blocked', text: 'no' };
const GUARD = { onFailure: 'deny' } as const;

/** A loop that speaks the protocol, and does something with each event. */
function loop(body: string): string {
  return `answer() { printf '{"id":%s,%s}\\n' "$id" "$1"; }
echo '{"hookstack":1}'
while IFS= read -r line; do id=\${line#*:}; id=\${id%%,*}
${body}
done`;
}

/** A hook that does something with its first event, unless it goes on with `continue`, and denies all of them. */
function open(host: Host, first: string, settings: Partial<CommandHookConfig> = {}) {
  const command = loop(`if [ ! -e once ]; then : > once; ${first}\nfi; ${DENY}`);
  const kept = hook(command, { name: 'kept', persistent: true, ...settings });
  const config = host.createConfig({
    hooks: { BeforeTool: [{ hooks: [kept] }] },
    hooksRunner: { warmShells: 0, spawner: false },
  });
  return (options?: ToolCallOptions) => host.callToolOf(config, options);
}

/** The first event fails like this, and the next one finds a hook that denies. */
async function expectFailure(
  host: Host,
  call: ReturnType<typeof open>,
  kind: string,
  options?: ToolCallOptions,
) {
  const answer = await call(options);
  expect(host.leftovers()).toEqual([]);
  expect(host.runWarnings).toMatchObject([{ details: { kind } }]);
  expect(await call()).toMatchObject(BLOCKED);
  return answer;
}

describe('a process that stays, and its jobs', TIMED, () => {
  fault.for([
    ['1 denies, and leaves a job holding the pipes', `sleep 300 & ${DENY}; continue`],
    [
      '2 blocks by exit code 2, and leaves one',
      `sleep 300 & answer '"exitCode":2,"stderr":"no"'; continue`,
    ],
  ] as const)('%s: at once, and it stays', async ([, first], { host }) => {
    const call = open(host, first);
    const answer = await call();
    expect(answer).toMatchObject(BLOCKED);
    expect(answer.answerMs).toBeLessThan(300);
    expect(host.leftovers()).toHaveLength(2);
    expect(await call()).toMatchObject(BLOCKED);
    expect(host.leftovers()).toHaveLength(2);
    expect(host.warnings).toEqual([]);
  });

  fault('2 ends with code 2, and leaves one: a guard denies, nothing is left', async ({ host }) => {
    const call = open(host, 'sleep 300 & echo no >&2; exit 2', GUARD);
    const { verdict, text, answerMs } = await expectFailure(host, call, 'protocol');
    expect(verdict).toBe('blocked');
    expect(text).toContain('ended with exit code 2 while it owed an answer');
    expect(answerMs).toBeLessThan(1_000);
  });

  fault('5 setsid escapee that holds the pipe of one that has ended', async ({ host }) => {
    const first = `setsid sh -c 'trap "" TERM; echo $$ > pid; sleep 300' & until [ -s pid ]; do sleep 0.01; done; exit 3`;
    const call = open(host, first, GUARD);
    expect(await expectFailure(host, call, 'protocol')).toMatchObject({ verdict: 'blocked' });
  });

  fault('31 that released the pipes are left alone', async ({ host }) => {
    host.tolerateLeftovers();
    const job = `setsid sh -c 'echo $$ > job; sleep 300' >/dev/null 2>&1 </dev/null &`;
    const call = open(host, `${job} ${DENY}; continue`);
    expect(await call()).toMatchObject(BLOCKED);
    const [pid = 0] = await readPids(`${host.directory}/job`, 1);
    expect(await call()).toMatchObject(BLOCKED);
    expect(isRunning(pid)).toBe(true);
    await host.expectNoLeftovers();
    await vi.waitFor(() => expect(host.leftovers()).toHaveLength(2), WAIT);
    expect(isRunning(pid)).toBe(true);
  });
});

describe('a process that stays, at the deadline', TIMED, () => {
  const timeout = TIMEOUT_MS;

  fault('3 ignores TERM with a child: the whole group is dead at T+5 s', async ({ host }) => {
    const call = open(host, `trap '' TERM; sleep 300 & wait; sleep 300`, { timeout });
    const { verdict, answerMs } = await expectFailure(host, call, 'timeout');
    expect(verdict).toBe('allowed');
    expect(answerMs).toBeGreaterThanOrEqual(TIMEOUT_MS + 5_000);
    expect(answerMs).toBeLessThan(TIMEOUT_MS + 6_000);
  });

  fault.for([
    ['4 shell plus child: no orphan at T+0.2 s', 'sleep 300 & sleep 300', 200],
    [
      '5 setsid escapee',
      `setsid sh -c 'trap "" TERM; : > escaped; while :; do sleep 1; done' & until [ -e escaped ]; do sleep 0.01; done; wait`,
      500,
    ],
    ['6 stops itself', 'kill -STOP $$; sleep 300', 500],
    ['7 zombies do not count as alive', '(sleep 300 & exec setsid sleep 300) & wait', 500],
    ['13 endless stderr', 'yes >&2', 1_000],
  ] as const)('%s', async ([, first, atMost], { host }) => {
    const call = open(host, first, { timeout, ...GUARD });
    const { verdict, answerMs } = await expectFailure(host, call, 'timeout');
    expect(verdict).toBe('blocked');
    expect(answerMs).toBeGreaterThanOrEqual(TIMEOUT_MS);
    expect(answerMs).toBeLessThan(TIMEOUT_MS + atMost);
  });

  fault('6 is stopped between two events', async ({ host }) => {
    const first = `${DENY}; kill -STOP $$; continue`;
    const call = open(host, first, { timeout, ...GUARD });
    expect(await call()).toMatchObject(BLOCKED);
    const { verdict, text } = await expectFailure(host, call, 'timeout');
    expect(verdict).toBe('blocked');
    expect(text).toContain('timed out');
  });

  fault('10 reads no more, with 10 MB to read: no deadlock', async ({ host }) => {
    const call = open(host, `${DENY}; sleep 300`, { timeout, ...GUARD });
    expect(await call()).toMatchObject(BLOCKED);
    const toolInput = { content: 'x'.repeat(10 * MEGABYTE) };
    const { answerMs } = await expectFailure(host, call, 'timeout', { toolInput });
    expect(answerMs).toBeLessThan(TIMEOUT_MS + 500);
  });

  fault.for([2 ** 31, Number.MAX_VALUE])(
    '28 a timeout of %s ms is as long as there can be',
    async (each, { host }) => {
      expect(await open(host, 'sleep 0.3', { timeout: each })()).toMatchObject(BLOCKED);
      expect(host.warnings).toEqual([]);
    },
  );

  // In its first event it has not been asked yet, as a busy host has not heard its hello.
  fault('29 host busy past the deadline, hook long done: its answer wins', async ({ host }) => {
    const call = open(host, 'sleep 0', { timeout });
    await call();
    const calling = call();
    // It has its event.
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    const end = performance.now() + 2 * TIMEOUT_MS;
    while (performance.now() < end);
    expect(await calling).toMatchObject(BLOCKED);
    expect(host.runWarnings).toEqual([]);
  });
});

describe('what a process that stays reads and writes', TIMED, () => {
  const toolInput = { content: 'x'.repeat(10 * MEGABYTE) };

  fault.for([
    ['8 10 MB unread: its answer counts', ''],
    ['9 10 MB, and it closes stdin: the same', 'exec <&-;'],
  ] as const)('%s', async ([, closing], { host }) => {
    const last = DENY.replace('"output"', '"last":true,"output"');
    const first = `${DENY}; IFS= read -r -n 10 line; id=2; ${closing} ${last}; sleep 0.1; exit 0`;
    const call = open(host, first);
    expect(await call()).toMatchObject(BLOCKED);
    expect(await call({ toolInput })).toMatchObject(BLOCKED);
    expect(await call()).toMatchObject(BLOCKED);
    expect(host.warnings).toEqual([]);
  });

  fault('11 5 MB in one answer', async ({ host }) => {
    const first = `printf '{"id":%s,"output":{"decision":"deny","reason":"' "$id"; head -c ${5 * MEGABYTE} /dev/zero | tr '\\0' x; echo '"}}'; continue`;
    const { verdict, text } = await open(host, first)();
    expect(verdict).toBe('blocked');
    expect(text).toMatch(/^xxx/);
    expect(host.runWarnings).toEqual([]);
  });

  fault.for([
    ['13 endless output', 'yes', /no JSON object|more than one answer/],
    ['13 an endless line', `yes | tr -d '\\n'`, /wrote a line of more than \d+ bytes/],
    ['19 noise before the answer', `echo loading; ${DENY}; continue`, /more than one|no JSON/],
    [
      '19 noise behind the answer',
      `${DENY}; echo bye; continue`,
      /more than one|nothing was asked/,
    ],
    [
      '18 NUL in a line',
      String.raw`printf '{"id":%s,"stdout":"a\0b"}\n' $id`,
      /no JSON object|more than one/,
    ],
    ['18 UTF-16', String.raw`printf '\xff\xfe{\0}\0\n\0'`, /no JSON object|more than one/],
  ] as const)('%s: a guard denies, and says why', async ([, first, reason], { host }) => {
    const call = open(host, first, GUARD);
    const { verdict, text } = await call();
    expect(verdict).toBe('blocked');
    // What comes behind the answer may have come later.
    if (text !== 'no') expect(text).toMatch(reason);
    await vi.waitFor(() => expect(host.warnings).toEqual([expect.stringMatching(reason)]), WAIT);
    expect(await call()).toMatchObject(BLOCKED);
  });

  fault.for([
    ['15 invalid UTF-8', String.raw`a\xff\xfeb\xc3`, 'a\uFFFD\uFFFDb\uFFFD'],
    [
      '16 a character split over two writes',
      String.raw`\xf0\x9f'; sleep 0.2; printf '\x98\x80`,
      '😀',
    ],
    ['17 CRLF in a text', String.raw`one\\r\\ntwo`, 'one\ntwo'],
    ['18 NUL and ANSI', String.raw`a\\u0000\\u001b[31mb\\u001b[0m\\u001b]0;title\\u0007c`, 'abc'],
  ] as const)('%s', async ([, reason, clean], { host }) => {
    const first = `printf '{"id":%s,"exitCode":2,"stderr":"' "$id"; printf '${reason}"}\\n'; continue`;
    expect(await open(host, first)()).toMatchObject({ verdict: 'blocked', text: clean });
    expect(host.warnings).toEqual([]);
  });

  fault('17 BOM, CRLF around a line', async ({ host }) => {
    const first = String.raw`printf '\xef\xbb\xbf\r\n\xef\xbb\xbf{"id":%s,"exitCode":2,"stderr":"no"}\r\n' $id; continue`;
    const marked = open(host, first.replace(String.raw`\xef\xbb\xbf\r\n`, ''));
    expect(await marked()).toMatchObject(BLOCKED);
    expect(host.warnings).toEqual([]);
  });

  fault('20 noise from a shell profile', async ({ host }) => {
    const profile = await host.write('profile', 'echo noise\n');
    await host.write('.bashrc', 'echo noise\n');
    const env = { BASH_ENV: profile, ENV: profile, HOME: host.directory, SSH_CLIENT: '::1 1 22' };
    const call = open(host, `bash -c 'echo inner >&2'`, { env });
    for (let round = 0; round < 2; round++) expect(await call()).toMatchObject(BLOCKED);
    expect(host.warnings).toEqual([]);
  });
});

describe('a process that stays, and ends without an answer', () => {
  const signals = Object.entries(constants.signals).filter(
    ([name]) => !/CHLD|CONT|STOP|TSTP|TTIN|TTOU|URG|WINCH|UNUSED|IOT|POLL/.test(name),
  );

  fault.for(signals)('21 killed by %s: a guard denies', async ([name, number], { host }) => {
    // Not bash itself, which ignores SIGQUIT.
    const call = open(host, `ulimit -c 0; exec sh -c 'kill -${number} $$; sleep 300'`, GUARD);
    const { verdict, text, hooks } = await expectFailure(host, call, 'signal');
    expect(verdict).toBe('blocked');
    expect(text).toContain(name);
    expect(hooks).toMatchObject([{ success: false, signal: name }]);
  });

  fault.for([0, 1, 2, 126, 127])('22 exit %i: a guard denies', async (code, { host }) => {
    const call = open(host, `exit ${code}`, GUARD);
    const { text } = await expectFailure(host, call, 'protocol');
    expect(text).toContain(`ended with exit code ${code} while it owed an answer`);
  });

  fault.for([
    ['22 a program that does not exist', 'no-such-program-anywhere', /no-such-program.*not found/],
    ['22 a file that may not be executed', './plain.sh', /plain.sh: Permission denied/],
  ] as const)('%s, in its place', async ([, program, reason], { host }) => {
    await host.write('plain.sh', 'exit 2\n', 0o644);
    const call = open(host, `exec ${program}`, GUARD);
    expect(await expectFailure(host, call, 'protocol')).toMatchObject({ verdict: 'blocked' });
    expect(JSON.stringify(host.logger.records)).toMatch(reason);
  });
});

describe('the spawner beside a process that stays', () => {
  fault.override({ start: 'spawner' });

  fault('goes without it, while it owes an answer', async ({ host }) => {
    const { pid = 0 } = spawnerStatus() ?? {};
    const kept = hook(process.execPath, { args: [PUPPET], persistent: true, ...GUARD });
    const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [kept] }] } });
    const steps = [
      { append: { file: 'asked', text: '\n' } },
      { sleep: 1_500 },
      { answer: { exitCode: 2, stderr: 'no' } },
    ];
    const calling = host.callToolOf(config, { toolInput: { steps } });
    await host.waitForFile('asked');
    const before = process.umask(0o077);
    try {
      // What it inherited is something else now.
      await host.callTool([hook('true')]);
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
      expect(await calling).toMatchObject(BLOCKED);
    } finally {
      process.umask(before);
    }
  });
});

describe('a host of a process that stays', () => {
  let compiled: CompiledPackage;
  let removePackage: () => Promise<void>;

  beforeAll(async () => {
    const { directory, remove } = await makeTempDir();
    removePackage = remove;
    compiled = await compilePackage(directory);
  });
  afterAll(() => removePackage());

  fault.for([
    ['12 1 GB in one line: a guard denies', 'head -c 1000000000 /dev/zero; sleep 300'],
    [
      '14 1 GB of stderr, then exit code 2: blocks',
      `yes | head -c 1000000000 >&2; answer '"exitCode":2'; continue`,
    ],
  ] as const)('%s, and it grows by 80 MB at most', async ([, first], { host }) => {
    const words = [compiled.index, loop(first), JSON.stringify({ persistent: true, ...GUARD })];
    const { stdout } = await execa('node', [fixture('flood.mjs'), ...words]);
    const answer = JSON.parse(stdout) as { verdict: string; text: string; grownMb: number };
    host.measure('memory', answer.grownMb, 'MB');
    expect(answer.verdict).toBe('blocked');
    expect(answer.text.length).toBeLessThan(11_000);
    expect(answer.grownMb).toBeLessThan(80);
  });

  fault('25 no processes left', async ({ host }) => {
    await chmod(host.directory, 0o755);
    const script = await host.write('kept.sh', loop(DENY), 0o755);
    const words = [fixture('keptHost.mjs'), compiled.index, script, 'processes'];
    const child = execa('node', words, { ...limitedUser(), cwd: host.directory, reject: false });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async () => {
      child.stdin.write('\n');
      return JSON.parse(String((await lines.next()).value)) as object;
    };
    expect(await lines.next()).toMatchObject({ value: '"ready"' });
    const limit = await readProcessLimit(child);
    await setProcessLimit(child, '0');
    expect(await ask()).toEqual({ stdout: '', kinds: ['spawn'] });
    await setProcessLimit(child, limit);
    const denied = { stdout: '{"decision":"deny","reason":"no"}', kinds: [] };
    expect(await ask()).toEqual(denied);
    await setProcessLimit(child, '0');
    // It runs already.
    expect(await ask()).toEqual(denied);
    child.stdin.end();
    expect(await child).toMatchObject({ exitCode: 0 });
  });
});
