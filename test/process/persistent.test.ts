import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PERSISTENT_LIMITS, type PersistentLimits } from '../../src/process/command/limits.js';
import type { KeptHook } from '../../src/process/persistent/askedEvent.js';
import { PersistentHooks } from '../../src/process/persistent/persistentHooks.js';
import type { CommandOptions, CommandOutcome } from '../../src/process/command/outcome.js';
import { runCommand } from '../../src/process/command/runCommand.js';
import { findProcesses } from '../faults/helpers/leftovers.js';
import { useTempDir } from '../helpers/tempDir.js';
import { isRunning, SHORT_TIMINGS } from './helpers.js';

const LIMITS: PersistentLimits = { ...PERSISTENT_LIMITS, ...SHORT_TIMINGS, pauseMs: 1 };
const WAIT = { timeout: 10_000, interval: 10 };
const PUPPET = fileURLToPath(new URL('../fixtures/persistent/puppet.mjs', import.meta.url));

const temp = useTempDir();
const opened: PersistentHooks[] = [];
const warnings: string[] = [];
let runId: string;

beforeEach(() => {
  warnings.length = 0;
  runId = `test-${randomUUID()}`;
});

afterEach(async () => {
  for (const each of opened.splice(0)) each.stop();
  await vi.waitFor(() => expect(findProcesses(runId)).toEqual([]), WAIT);
});

/** In place of the puppet. */
function shell(command: string): Partial<CommandOptions> {
  return { command: 'bash', args: ['-c', command] };
}

function commandOf(options: Partial<CommandOptions>): CommandOptions {
  return {
    command: process.execPath,
    args: [PUPPET],
    input: Buffer.from('{}'),
    cwd: temp.path,
    env: { PATH: process.env['PATH'], HOOKSTACK_RUN_ID: runId },
    timeoutMs: 20_000,
    ...options,
  };
}

/** A hook of its own, with the processes that are kept for it. */
function open(limits: Partial<PersistentLimits> = {}, settings: Partial<KeptHook> = {}) {
  const hooks = new PersistentHooks({ ...LIMITS, ...limits });
  opened.push(hooks);
  const key = {};
  const hook: KeptHook = {
    processes: 1,
    maxMemory: 512,
    warn: (message) => void warnings.push(message),
    ...settings,
  };
  const ask = async (
    input: object,
    options: Partial<CommandOptions> = {},
  ): Promise<CommandOutcome> => {
    const command = commandOf({ input: Buffer.from(JSON.stringify(input)), ...options });
    return hooks.run(key, hook, command) ?? runCommand(command);
  };
  const act = (...steps: readonly object[]) => ask({ steps });
  return { hooks, key, hook, ask, act };
}

/** Waits until this host has noticed that a process has ended: of its threads, each has an end of its own. */
function untilReaped(pid = 0): Promise<void> {
  return vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), WAIT);
}

/** The pid of the process that answers now. */
async function pidOf({ act }: Pick<ReturnType<typeof open>, 'act'>): Promise<number | undefined> {
  return (await act({ answer: {} })).kept?.pid;
}

describe('a process that is kept', () => {
  it('answers one event after the other, and says whether it is new', async () => {
    const { act } = open();
    const first = await act({ answer: { output: { decision: 'deny', reason: 'no' } } });
    expect(first).toMatchObject({
      ending: 'exit',
      exitCode: 0,
      signal: null,
      stdout: '{"decision":"deny","reason":"no"}',
      stderr: '',
      inputTaken: true,
      truncated: false,
      stragglers: false,
      kept: { isNew: true },
    });
    const second = await act({ answer: { stdout: 'plain\n', exitCode: 2, stderr: 'why' } });
    expect(second).toMatchObject({
      ending: 'exit',
      exitCode: 2,
      stdout: 'plain\n',
      stderr: 'why',
      kept: { pid: first.kept?.pid, isNew: false },
    });
  });

  it('is told of what it really wrote to stderr before what it answers there', async () => {
    const { act } = open();
    for (let round = 0; round < 20; round++) {
      const outcome = await act({ stderr: 'written, ' }, { answer: { stderr: 'answered' } });
      expect(outcome.stderr).toBe('written, answered');
    }
  });

  it('speaks from bash as well', async () => {
    const { ask } = open();
    const bash =
      'echo "{\\"hookstack\\":1}"; while read -r line; do id=${line#*:}; echo "{\\"id\\":${id%%,*},\\"stdout\\":\\"hi\\"}"; done';
    const first = await ask({ a: 1 }, shell(bash));
    expect(first).toMatchObject({ exitCode: 0, stdout: 'hi', kept: { isNew: true } });
    expect(await ask({ a: 1 }, shell(bash))).toMatchObject({ kept: { isNew: false } });
  });
});

describe('a process that is to answer', () => {
  it.each<[string, readonly object[], object]>([
    ['ends', [{ exit: 3 }], says(/^ended with exit code 3 while it owed an answer$/)],
    ['ends well', [{ exit: 0 }], says(/exit code 0 while it owed/)],
    ['is killed', [{ kill: 'SIGKILL' }], { ending: 'signal', signal: 'SIGKILL' }],
    ['answers for another event', [{ answer: { id: 7 } }], says(/id 7, asked was 2/)],
    ['answers without an id', [{ write: '{"output":{}}\n' }], says(/without the id/)],
    ['answers twice', [{ write: '{"id":$ID}\n{"id":$ID}\n' }], says(/more than one answer/)],
    ['begins another answer', [{ write: '{"id":$ID}\n{"id"' }], says(/more than one answer/)],
    ['answers with half a line', [{ write: '{"id":$ID' }, { exit: 0 }], says(/owed an answer/)],
    ['answers with no JSON', [{ write: 'deny\n' }], says(/no JSON object/)],
    ['answers with an array', [{ write: '[1]\n' }], says(/no JSON object/)],
    ['answers with garbage', [{ bytes: [0, 255, 254, 128, 10] }], says(/no JSON object/)],
    ['answers with a text for a stdout', [{ answer: { stdout: 1 } }], says(/"stdout"/)],
    ['answers with a list for an output', [{ answer: { output: [] } }], says(/"output"/)],
    ['answers with both', [{ answer: { output: {}, stdout: '' } }], says(/both/)],
    ['answers with exit code 256', [{ answer: { exitCode: 256 } }], says(/"exitCode"/)],
    ['answers with exit code 0.5', [{ answer: { exitCode: 0.5 } }], says(/"exitCode"/)],
    ['answers with a number on stderr', [{ answer: { stderr: 1 } }], says(/"stderr"/)],
    ['says with a text whether it is the last', [{ answer: { last: 'yes' } }], says(/"last"/)],
    ['says so with a number', [{ answer: { last: 1 } }], says(/"last"/)],
    ['says so with null', [{ answer: { last: null } }], says(/neither true nor false/)],
    ['forgets the output around it', [{ answer: { decision: 'deny' } }], says(/in "output"/)],
    ['says hello again', [{ write: '{"hookstack":1}\n' }], says(/without the id/)],
    [
      'nests its output too deeply',
      [{ write: `{"id":$ID,"output":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}\n` }],
      says(/nested too deeply|no JSON/),
    ],
  ])('and %s has failed, and the next event gets another one', async (_what, steps, expected) => {
    const kept = open();
    const pid = await pidOf(kept);
    const broken = await kept.act(...steps);
    expect(broken).toMatchObject({ ending: 'broken', stdout: '', exitCode: null, ...expected });
    expect(isRunning(pid ?? 0)).toBe(false);
    const next = await kept.act({ answer: { stdout: 'mended' } });
    expect(next).toMatchObject({ ending: 'exit', stdout: 'mended', kept: { isNew: true } });
  });
});

function says(pattern: RegExp): object {
  return { error: { message: expect.stringMatching(pattern) } };
}

describe('a process that misbehaves between events', () => {
  it.each<[string, object, RegExp | undefined]>([
    ['ends well', { exit: 0 }, undefined],
    ['ends badly', { exit: 3 }, /^ended with exit code 3 while nothing was asked/],
    ['is killed', { kill: 'SIGKILL' }, /^was ended by SIGKILL while nothing was asked/],
    ['writes', { write: '{"id":1}\n' }, /^wrote to its stdout while nothing was asked/],
    ['begins a line', { write: '{' }, /^wrote to its stdout/],
  ])('because it %s is gone, and the next event gets another one', async (_what, step, warning) => {
    const kept = open();
    const once = { file: 'go', steps: [step] };
    const { kept: first } = await kept.act({ answer: {} }, { once });
    await writeFile(path.join(temp.path, 'go'), '');
    await untilReaped(first?.pid);
    await vi.waitFor(() => expect(warnings).toHaveLength(warning ? 1 : 0), WAIT);
    if (warning) expect(warnings[0]).toMatch(warning);
    expect(await kept.act({ answer: { stdout: 'new' } })).toMatchObject({
      ending: 'exit',
      stdout: 'new',
      kept: { isNew: true },
    });
  });

  it('may write empty lines, and to stderr, which nobody reads', async () => {
    const kept = open();
    const noise = [
      { write: '\n\r\n \n' },
      { flood: { descriptor: 2, megabytes: 3 } },
      { append: { file: 'done', text: 'done' } },
    ];
    const first = await kept.act({ answer: {} }, { once: { file: 'go', steps: noise } });
    await writeFile(path.join(temp.path, 'go'), '');
    await vi.waitFor(() => temp.readLines('done'), WAIT);
    const second = await kept.act({ stderr: 'heard' }, { answer: {} });
    expect(second).toMatchObject({ stderr: 'heard', kept: { pid: first.kept?.pid, isNew: false } });
    expect(warnings).toEqual([]);
  });
});

describe('lines of a process', () => {
  it.each<[string, readonly object[]]>([
    ['end as on Windows', [{ write: '\r\n{"id":$ID,"stdout":"read"}\r\n' }]],
    ['begin with a byte order mark', [{ write: '\uFEFF{"id":$ID,"stdout":"read"}\n' }]],
    ['come after empty ones', [{ write: '\n\n  \n{"id":$ID,"stdout":"read"}\n\n' }]],
    [
      'come piece by piece',
      [{ write: '{"id":$ID,"std' }, { sleep: 30 }, { write: 'out":"read"}' }, { write: '\n' }],
    ],
    ['have other keys of JSON first', [{ write: '{"stdout":"read","id":$ID}\n' }]],
  ])('may %s', async (_how, steps) => {
    const kept = open();
    for (let round = 0; round < 3; round++) {
      expect(await kept.act(...steps)).toMatchObject({ ending: 'exit', stdout: 'read' });
    }
    expect(await kept.act(...steps)).toMatchObject({ kept: { isNew: false } });
  });

  it('may hold characters of several bytes, cut anywhere', async () => {
    const bytes = [...Buffer.from('"stdout":"ä€😀"}\n')];
    const steps = bytes.flatMap((byte) => [{ bytes: [byte] }, { sleep: 1 }]);
    const outcome = await open().act({ write: '{"id":$ID,' }, ...steps);
    expect(outcome.stdout).toBe('ä€😀');
  });

  it('hand on unsafe keys as text, which readers of output know to drop', async () => {
    const write = '{"id":$ID,"__proto__":{"exitCode":2},"output":{}}\n';
    expect(await open().act({ write })).toMatchObject({ ending: 'broken' });
    const inner = '{"id":$ID,"output":{"__proto__":{"decision":"deny"}}}\n';
    expect(await open().act({ write: inner })).toMatchObject({
      ending: 'exit',
      exitCode: 0,
      stdout: '{"__proto__":{"decision":"deny"}}',
    });
  });

  it('may be as long as what is kept of an answer, and no longer', async () => {
    const kept = open();
    const text = 'x'.repeat(900_000);
    expect((await kept.act({ answer: { stdout: text } })).stdout).toBe(text);
    const steps = [{ flood: { descriptor: 1, megabytes: 100 } }, { sleep: 60_000 }];
    const outcome = await kept.ask({ steps }, { keepStdoutBytes: 2 * 1024 * 1024 });
    expect(outcome).toMatchObject(says(/^wrote a line of more than 2097152 bytes$/));
    expect(outcome.bytesRead).toBeLessThan(10 * 1024 * 1024);
  });

  it('hold inputs with line breaks as spaces', async () => {
    const { ask } = open();
    const input = Buffer.from('{\n"steps":\n[{"answer":\r\n{"stdout":"read"}}]}\n');
    expect((await ask({}, { input })).stdout).toBe('read');
  });

  it('take inputs of any length', async () => {
    const outcome = await open().ask({ steps: [{ answer: {} }], text: 'x'.repeat(20_000_000) });
    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0 });
  });
});

describe('the time of an event', () => {
  it('ends the process with its group, and the next one starts anew', async () => {
    const kept = open();
    const pid = await pidOf(kept);
    const run = { run: 'trap "" TERM; sleep 300 & wait' };
    const outcome = await kept.ask({ steps: [run, { sleep: 60_000 }] }, { timeoutMs: 200 });
    expect(outcome).toMatchObject({ ending: 'timeout', exitCode: null });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(200);
    expect(isRunning(pid ?? 0)).toBe(false);
    expect(await kept.act({ answer: {} })).toMatchObject({ kept: { isNew: true } });
  });

  it('ends a process that has stopped', async () => {
    const kept = open();
    const outcome = await kept.ask({ steps: [{ kill: 'SIGSTOP' }] }, { timeoutMs: 300 });
    expect(outcome).toMatchObject({ ending: 'timeout' });
  });

  it('ends a process that reads no more', async () => {
    const kept = open();
    const command = `echo '{"hookstack":1}'; read -r line; echo '{"id":1}'; sleep 300`;
    await kept.ask({}, shell(command));
    const options = { ...shell(command), timeoutMs: 300 };
    const outcome = await kept.ask({ text: 'x'.repeat(5_000_000) }, options);
    expect(outcome).toMatchObject({ ending: 'timeout' });
  });

  it('counts from when a process takes it', async () => {
    const kept = open();
    await kept.act({ answer: {} });
    const slow = { steps: [{ sleep: 400 }, { answer: {} }] };
    const options = { timeoutMs: 700 };
    const outcomes = await Promise.all([1, 2, 3].map(() => kept.ask(slow, options)));
    expect(outcomes.map(({ ending }) => ending)).toEqual(['exit', 'exit', 'exit']);
  });

  it('is over at an abort, also while it waits, and that is no fault', async () => {
    const kept = open({ maxFaults: 1 });
    const pid = await pidOf(kept);
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = kept.ask({ steps: [{ sleep: 60_000 }] }, { signal: running.signal });
    const second = kept.ask({ steps: [{ answer: {} }] }, { signal: waiting.signal });
    const third = kept.ask({ steps: [{ answer: { stdout: 'third' } }] });
    waiting.abort();
    expect(await second).toMatchObject({ ending: 'aborted', durationMs: 0 });
    expect(isRunning(pid ?? 0)).toBe(true);
    running.abort();
    expect(await first).toMatchObject({ ending: 'aborted' });
    expect(await third).toMatchObject({ ending: 'exit', stdout: 'third', kept: { isNew: true } });
    expect(isRunning(pid ?? 0)).toBe(false);
    expect(await kept.ask({}, { signal: AbortSignal.abort() })).toMatchObject({
      ending: 'aborted',
    });
  });

  it('is not over where the answer came first, and the host was busy', async () => {
    const kept = open();
    await kept.act({ answer: {} });
    const asked = kept.ask({ steps: [{ answer: { stdout: 'in time' } }] }, { timeoutMs: 200 });
    await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
    const end = performance.now() + 400;
    while (performance.now() < end);
    expect(await asked).toMatchObject({ ending: 'exit', stdout: 'in time' });
  });
});

const log = () => temp.readLines('log');

/** What is to be done about a process that says no hello. */
const ADVICE =
  /\(a persistent hook prints \{"hookstack":1\} first, .* or remove "persistent"; see docs: Persistent hooks\)$/;

describe('a command that says no hello', () => {
  it.each<[string, string, RegExp]>([
    [
      'writes something else first',
      'echo ran >>log; echo "not JSON"; cat >read',
      /^wrote something else before its hello/,
    ],
    ['says nothing', 'echo ran >>log; cat >read', /^said no hello within 0.5 s of its start/],
    [
      'ends well',
      'echo ran >>log; printf "half a line"; exit 0',
      /^ended with exit code 0 before it said hello/,
    ],
    [
      'ends with the exit code of a block',
      'echo ran >>log; echo no >&2; exit 2',
      /^ended with exit code 2 before it said hello/,
    ],
    [
      'answers before it is asked',
      `echo ran >>log; echo '{"decision":"deny"}'; cat >read`,
      /^wrote something else before its hello/,
    ],
    [
      'floods stdout',
      'echo ran >>log; head -c 300000 /dev/zero; cat >read',
      /^wrote something else before its hello/,
    ],
    [
      'speaks another version',
      `echo ran >>log; echo '{"hookstack":2}'; cat >read`,
      /^speaks another version of the protocol .* than 1,/,
    ],
    [
      'closes its stdout',
      'echo ran >>log; exec >&-; cat >read; sleep 300',
      /^closed its stdout, on which it is to answer/,
    ],
  ])('since it %s fails, and is given nothing', async (_how, command, what) => {
    const kept = open({ helloMs: 500 });
    for (let round = 1; round <= 2; round++) {
      const outcome = await kept.ask({ a: 1 }, shell(command));
      expect(outcome).toMatchObject({
        ending: 'broken',
        exitCode: null,
        stdout: '',
        ...says(what),
      });
      expect(outcome.error?.message).toMatch(ADVICE);
      expect(outcome).not.toHaveProperty('kept');
      expect(findProcesses(runId)).toEqual([]);
      expect(await log()).toHaveLength(round);
    }
    const read = path.join(temp.path, 'read');
    expect(existsSync(read) ? readFileSync(read, 'utf8') : '').toBe('');
    expect(warnings).toEqual([]);
  });

  it('has failed with what it wrote to stderr', async () => {
    const outcome = await open().ask({}, shell('echo why >&2; exit 3'));
    expect(outcome).toMatchObject({
      ending: 'broken',
      exitCode: 3,
      stderr: 'why\n',
      inputTaken: false,
    });
  });

  it('has failed by the signal that ended it', async () => {
    expect(await open().ask({}, shell('kill -KILL $$'))).toMatchObject({
      ending: 'signal',
      signal: 'SIGKILL',
    });
  });

  it('is not started any more after five times, at once', async () => {
    const kept = open({ helloMs: 100 });
    const waits = Array.from({ length: 7 }, () => kept.ask({}, shell('echo ran >>log; cat')));
    const outcomes = await Promise.all(waits);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ ending: 'broken' });
    for (const outcome of outcomes.slice(5)) {
      expect(outcome).toMatchObject(
        says(/^failed 5 times as a persistent hook .* \(it last said no hello within 0.1 s/),
      );
    }
    expect(await log()).toHaveLength(5);
  });

  it('ends at the deadline of its event, where that comes first', async () => {
    const kept = open();
    const options = { ...shell('cat >/dev/null; sleep 300'), timeoutMs: 400 };
    const outcome = await kept.ask({}, options);
    expect(outcome).toMatchObject({ ending: 'timeout', durationMs: expect.closeTo(400, -3) });
    expect(findProcesses(runId)).toEqual([]);
  });

  it('ends at an abort, and that is no fault', async () => {
    const kept = open({ maxFaults: 1 });
    const abort = new AbortController();
    const asked = kept.ask({}, { ...shell('echo ran >>log; sleep 300'), signal: abort.signal });
    await vi.waitFor(log, WAIT);
    abort.abort();
    expect(await asked).toMatchObject({ ending: 'aborted' });
    expect(await pidOf(kept)).toBeGreaterThan(0);
  });

  it('has failed too where it said one before, and the time of its hello is the same', async () => {
    const kept = open({ helloMs: 500 });
    const command = `if mkdir first; then echo '{"hookstack":1}'; read -r line; echo '{"id":1,"last":true}'; else sleep 300; fi`;
    expect(await kept.ask({}, shell(command))).toMatchObject({ ending: 'exit', exitCode: 0 });
    expect(await kept.ask({}, shell(command))).toMatchObject({
      ending: 'broken',
      ...says(/^said no hello within 0.5 s/),
    });
  });

  it('is heard where the host was too busy to read what came in time', async () => {
    const kept = open({ helloMs: 300 });
    const hello = `echo '{"hookstack":1}'; echo >>log; read -r line; echo '{"id":1,"stdout":"hi"}'`;
    const asked = kept.ask({}, shell(hello));
    while (!existsSync(path.join(temp.path, 'log'))) await nextTurn();
    const end = performance.now() + 600;
    while (performance.now() < end);
    expect(await asked).toMatchObject({ ending: 'exit', stdout: 'hi' });
  });

  it('is told of at its event, where it was started ahead', async () => {
    const kept = open({ helloMs: 200 });
    await kept.hooks.prestart(kept.key, kept.hook, commandOf(shell('echo ran >>log; cat')));
    await vi.waitFor(() => expect(warnings).toHaveLength(1), WAIT);
    expect(warnings).toEqual([expect.stringMatching(/^said no hello within 0.2 s/)]);
    expect(await kept.ask({}, shell('echo ran >>log; cat'))).toMatchObject(says(/^said no hello/));
    expect(await log()).toEqual(['ran', 'ran']);
  });
});

describe('an event whose process is gone before it was put to it', () => {
  // Bash has one thread, so that all of it has ended once that has.
  const LOOP = shell(
    `echo '{"hookstack":1}'; while read -r line; do echo "$line" >>log; id=\${line#*:}; echo "{\\"id\\":\${id%%,*},\\"stdout\\":\\"$$\\"}"; done`,
  );

  /** One whose process has ended in this very turn, of which the host has heard nothing. */
  async function openEnded() {
    const kept = open();
    const { pid = 0 } = (await kept.ask({ a: 0 }, LOOP)).kept ?? {};
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    process.kill(pid, 'SIGKILL');
    while (!/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
    return { ...kept, pid };
  }

  it('is put to the next one', async () => {
    const kept = await openEnded();
    const outcome = await kept.ask({ a: 1 }, LOOP);
    expect(outcome).toMatchObject({ ending: 'exit', kept: { isNew: true } });
    expect(outcome.stdout).toBe(String(outcome.kept?.pid));
    expect(outcome.kept?.pid).not.toBe(kept.pid);
  });

  it('comes before those that wait', async () => {
    const kept = await openEnded();
    await Promise.all([1, 2, 3].map((a) => kept.ask({ a }, LOOP)));
    const asked = (await log()).map((line) => (JSON.parse(line) as { input: unknown }).input);
    expect(asked).toEqual([{ a: 0 }, { a: 1 }, { a: 2 }, { a: 3 }]);
  });
});

describe('processes side by side', () => {
  it('are as many as are asked for, and as are needed', async () => {
    const kept = open({}, { processes: 3 });
    const slow = { steps: [{ sleep: 100 }, { answer: {} }] };
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => kept.ask(slow)));
    const used = new Set(outcomes.map((outcome) => outcome.kept?.pid));
    expect(used.size).toBe(3);
    expect(outcomes.filter((outcome) => outcome.kept?.isNew)).toHaveLength(3);
    const one = await kept.act({ answer: {} });
    expect(used).toContain(one.kept?.pid);
    expect(findProcesses(runId)).toHaveLength(3);
  });

  it('answer a thousand events, each its own, in order', async () => {
    const file = path.join(temp.path, 'order');
    const ask = async (kept: ReturnType<typeof open>, n: number) => {
      const steps = [{ append: { file, text: `${n}\n` } }, { answer: { stdout: String(n) } }];
      return (await kept.ask({ steps })).stdout;
    };
    const numbers = Array.from({ length: 1_000 }, (_, index) => index);
    const four = open({}, { processes: 4 });
    expect(await Promise.all(numbers.map((n) => ask(four, n)))).toEqual(numbers.map(String));
    await writeFile(file, '');
    const one = open();
    expect(await Promise.all(numbers.map((n) => ask(one, n)))).toEqual(numbers.map(String));
    expect(await temp.readLines('order')).toEqual(numbers.map(String));
  });
});

describe('a process is started anew', () => {
  /** Of a script of its own, in the directory of the test. */
  async function script() {
    const file = path.join(temp.path, 'hook.mjs');
    await writeFile(file, await readFile(PUPPET));
    return { file, kept: open({}, {}) };
  }

  it.each<[string, Partial<CommandOptions>]>([
    ['a word of the command', { args: ['hook.mjs'] }],
    ['a word of a shell command', { command: 'node "./hook.mjs"', args: undefined }],
    ['an option', { args: ['--import=./hook.mjs', PUPPET] }],
    ['a reference', { command: 'node "${DIR}"/hook.mjs', args: undefined }],
    ['in the home', { command: 'node ~/hook.mjs', args: undefined }],
    ['in the home, for a variable', { command: 'A=~/hook.mjs; node $A', args: undefined }],
  ] as [string, Partial<CommandOptions>][])('when a file changes that is %s', async (_as, how) => {
    const { file, kept } = await script();
    const options = { ...how, extraEnv: { DIR: temp.path, HOME: temp.path } };
    const pidNow = async () =>
      (await kept.ask({ steps: [{ answer: {} }] }, options)).kept?.pid ?? 0;
    const first = await pidNow();
    expect(await pidNow()).toBe(first);
    await appendFile(file, '\n');
    const second = await pidNow();
    expect(second).not.toBe(first);
    expect(await pidNow()).toBe(second);
    await vi.waitFor(() => expect(isRunning(first)).toBe(false), WAIT);
  });

  it('for an event that comes after a change, also where another one has just been put', async () => {
    const { file, kept } = await script();
    const pidNow = async () =>
      (await kept.ask({ steps: [{ answer: {} }] }, { args: ['hook.mjs'] })).kept?.pid ?? 0;
    const first = await pidNow();
    const [next, other] = [pidNow(), pidNow()];
    expect(await next).toBe(first);
    appendFileSync(file, '\n');
    const last = pidNow();
    expect(await other).toBe(first);
    expect(await last).not.toBe(first);
  });

  it.each<[string, Partial<CommandOptions>]>([
    ['the environment', { env: { PATH: process.env['PATH'], A: 'changed' } }],
    ['its own variables', { extraEnv: { A: 'changed' } }],
    ['the arguments', { args: [PUPPET, '[{"write":"{\\"hookstack\\":1}\\n"}]'] }],
    ['the directory', { cwd: '/' }],
  ])('when %s changes, and the one before ends', async (_what, change) => {
    const kept = open();
    const env = { PATH: process.env['PATH'], A: 'old', HOOKSTACK_RUN_ID: runId };
    const tell = async (options: Partial<CommandOptions>) => {
      const outcome = await kept.ask({ steps: [{ tell: 'A' }] }, options);
      return { pid: outcome.kept?.pid ?? 0, told: JSON.parse(outcome.stdout) as unknown };
    };
    const before = await tell({ env });
    expect(await tell({ env: { ...env } })).toEqual(before);
    const changed = { env, ...change };
    const after = await tell({ ...changed, env: { ...changed.env, HOOKSTACK_RUN_ID: runId } });
    expect(after.pid).not.toBe(before.pid);
    const told = {
      variable: 'env' in change || 'extraEnv' in change ? 'changed' : 'old',
      cwd: change.cwd ?? temp.path,
    };
    expect(after.told).toMatchObject({ told });
    await vi.waitFor(() => expect(isRunning(before.pid)).toBe(false), WAIT);
  });

  it('when another directory takes the place of its own', async () => {
    const kept = open();
    const cwd = path.join(temp.path, 'there');
    const ask = async () => (await kept.ask({ steps: [{ answer: {} }] }, { cwd })).kept?.pid;
    await mkdir(cwd);
    const pid = await ask();
    await writeFile(path.join(cwd, 'file'), 'other');
    expect(await ask()).toBe(pid);
    await rm(cwd, { recursive: true });
    await mkdir(cwd);
    expect(await ask()).not.toBe(pid);
    await vi.waitFor(() => expect(isRunning(pid ?? 0)).toBe(false), WAIT);
  });

  it('not because there are many others', async () => {
    const kept = open();
    const answer = `echo '{"hookstack":1}'; read -r line; echo '{"id":1}'; read -r line; echo '{"id":2}'; read -r line`;
    const ask = (n: number) =>
      kept.hooks.run({ n }, kept.hook, commandOf(shell(`: ${n}; ${answer}`)));
    const first = await ask(0);
    for (let n = 1; n <= 80; n++) await ask(n);
    expect(await ask(0)).toMatchObject({ kept: { pid: first?.kept?.pid, isNew: false } });
  });

  it('when the umask changes', async () => {
    const kept = open();
    const pid = await pidOf(kept);
    const umask = process.umask(0o077);
    try {
      expect(await pidOf(kept)).not.toBe(pid);
    } finally {
      process.umask(umask);
    }
  });

  it('after many events', async () => {
    const kept = open({ maxEvents: 3 });
    const pids: unknown[] = [];
    for (let event = 0; event < 7; event++) pids.push(await pidOf(kept));
    const [first, , , second, , , third] = pids;
    expect(pids).toEqual([first, first, first, second, second, second, third]);
    expect(new Set(pids).size).toBe(3);
  });

  it('when it says that its answer is the last one, which is no fault', async () => {
    const kept = open({ pauseMs: 60_000 });
    const first = await kept.act({ answer: { stdout: 'bye', last: true } });
    expect(first).toMatchObject({ ending: 'exit', stdout: 'bye' });
    const next = await kept.act({ answer: { stdout: 'hi', last: false } });
    expect(next).toMatchObject({ ending: 'exit', stdout: 'hi', kept: { isNew: true } });
    expect(next.kept?.pid).not.toBe(first.kept?.pid);
    expect(await pidOf(kept)).toBe(next.kept?.pid);
    expect(warnings).toEqual([]);
  });

  it('before its next event, where it is to be started ahead', async () => {
    const kept = open({ maxEvents: 1 });
    const input = { steps: [{ answer: {} }] };
    const first = await kept.ask(input, { prestart: true });
    await untilReaped(first.kept?.pid);
    const waiting = await vi.waitFor(() => {
      const pids = findProcesses(runId);
      expect(pids).toHaveLength(1);
      return pids;
    }, WAIT);
    const second = await kept.ask(input);
    expect(second.kept).toEqual({ pid: waiting[0], isNew: true });
  });

  it('when it has waited for too long', async () => {
    const kept = open({ idleMs: 200 });
    const pid = (await pidOf(kept)) ?? 0;
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
    expect(await kept.act({ answer: {} })).toMatchObject({ kept: { isNew: true } });
    expect(warnings).toEqual([]);
  });

  it('is not taken for idle while it works', async () => {
    const kept = open({ idleMs: 100 });
    const outcome = await kept.act({ sleep: 400 }, { answer: { stdout: 'done' } });
    expect(outcome.stdout).toBe('done');
  });

  it('when it takes too much memory, with what it has started', async () => {
    const kept = open({ memoryMs: 0 }, { maxMemory: 250 });
    const pid = (await pidOf(kept)) ?? 0;
    expect(await pidOf(kept)).toBe(pid);
    const outcome = await kept.act({ grow: 300 }, { answer: { stdout: 'large' } });
    expect(outcome).toMatchObject({ ending: 'exit', stdout: 'large', kept: { pid } });
    const second = (await pidOf(kept)) ?? 0;
    expect(second).not.toBe(pid);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
    const child = `node -e 'const b = Buffer.alloc(3e8, 1); require("fs").writeFileSync("big", ""); setInterval(() => b, 1e6)'`;
    await kept.act({ run: child }, { answer: {} });
    await vi.waitFor(() => temp.readLines('big'), WAIT);
    expect(await pidOf(kept)).toBe(second);
    expect(await pidOf(kept)).not.toBe(second);
    expect(warnings).toEqual([]);
  });

  it('when its hook is dropped, but not before it has answered', async () => {
    const kept = open();
    const pid = (await pidOf(kept)) ?? 0;
    const asked = kept.act({ sleep: 200 }, { answer: { stdout: 'answered' } });
    kept.hooks.drop(kept.key);
    expect(await asked).toMatchObject({ stdout: 'answered', kept: { pid } });
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
    expect(await pidOf(kept)).not.toBe(pid);
  });

  it('by the end of its stdin, or else by signals', async () => {
    const gentle = `echo '{"hookstack":1}'; read -r line; echo '{"id":1}'; cat; sleep 0.1; echo ended >>ended`;
    const stubborn = `trap '' TERM; ${gentle}; sleep 300`;
    const kept = open({ farewellMs: 500 });
    await kept.ask({}, shell(gentle));
    kept.hooks.forget();
    await vi.waitFor(async () => expect(await temp.readLines('ended')).toEqual(['ended']), WAIT);
    const { kept: other } = await kept.ask({}, shell(stubborn));
    kept.hooks.stop();
    await vi.waitFor(() => expect(isRunning(other?.pid ?? 0)).toBe(false), WAIT);
  });
});

describe('faults', () => {
  const CRASH = { exit: 3 };

  it('make the next start wait, the longer the more there were', async () => {
    const kept = open({ pauseMs: 50 });
    const waits: number[] = [];
    for (let round = 0; round < 4; round++) {
      await kept.act(CRASH);
      const startedAt = performance.now();
      await kept.act({ answer: {} });
      waits.push(performance.now() - startedAt);
    }
    for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThan(45 * 2 ** index);
  });

  it('end it after five, and a changed file forgives them', async () => {
    const file = path.join(temp.path, 'hook.mjs');
    await writeFile(file, await readFile(PUPPET));
    const kept = open();
    const act = (...steps: object[]) => kept.ask({ steps }, { args: [file] });
    for (let round = 0; round < 5; round++) expect((await act(CRASH)).ending).toBe('broken');
    const startedAt = performance.now();
    const waiting = [act({ answer: {} }), act({ answer: {} })];
    for (const outcome of await Promise.all(waiting)) {
      expect(outcome).toMatchObject({
        ending: 'broken',
        error: {
          message:
            'failed 5 times as a persistent hook and is not started any more (it last ended with exit code 3 while it owed an answer): fix it, or remove "persistent"',
        },
      });
    }
    expect(performance.now() - startedAt).toBeLessThan(50);
    await appendFile(file, '\n');
    expect(await act({ answer: {} })).toMatchObject({ ending: 'exit' });
  });

  it('are forgotten after many good answers', async () => {
    const kept = open({ maxFaults: 2, goodAnswers: 3 });
    for (let round = 0; round < 4; round++) {
      expect((await kept.act(CRASH)).ending).toBe('broken');
      for (let good = 0; good < 3; good++) {
        expect((await kept.act({ answer: {} })).ending).toBe('exit');
      }
    }
  });

  it('are none where the system did not start it', async () => {
    const kept = open({ maxFaults: 1 });
    const nowhere = { cwd: path.join(temp.path, 'nowhere') };
    for (let round = 0; round < 3; round++) {
      expect(await kept.ask({}, nowhere)).toMatchObject({
        ending: 'spawn-failed',
        error: { code: 'ENOENT' },
      });
    }
  });

  it('count where it greets and talks on, and its event gets no process', async () => {
    const kept = open();
    const talks = JSON.stringify([{ write: '{"hookstack":1}\n{"hookstack":1}\n' }]);
    expect(await kept.ask({}, { args: [PUPPET, talks] })).toMatchObject({
      ending: 'broken',
      error: { message: expect.stringMatching(/^failed 5 times .*nothing was asked/) },
    });
  });
});

describe('what it leaves behind', () => {
  it('is ended where it holds its pipes', async () => {
    const kept = open();
    const fork = { fork: 'trap "" TERM; echo $$ >held; sleep 300 & wait' };
    await kept.act(fork, { answer: {} });
    await vi.waitFor(() => temp.readLines('held'), WAIT);
    const [held = 0] = (await temp.readLines('held')).map(Number);
    expect(isRunning(held)).toBe(true);
    expect(await kept.act({ exit: 3 })).toMatchObject({ ending: 'broken' });
    await vi.waitFor(() => expect(isRunning(held)).toBe(false), WAIT);
  });

  it('is ended after it has ended well between events', async () => {
    const kept = open();
    const fork = { fork: 'echo $$ >held; sleep 300' };
    await kept.act(fork, { answer: {} }, { later: { ms: 200, steps: [{ exit: 0 }] } });
    await vi.waitFor(() => expect(findProcesses(runId)).toEqual([]), WAIT);
    expect(await kept.act({ answer: {} })).toMatchObject({ kept: { isNew: true } });
  });
});

describe('hooks of two hosts', () => {
  it('never share a process', async () => {
    const [one, other] = [open(), open()];
    expect(await pidOf(one)).not.toBe(await pidOf(other));
  });

  it('of one host share that of one command', async () => {
    const { hooks, hook, ask } = open();
    const { kept } = await ask({});
    const options = commandOf({ input: Buffer.from('{}') });
    expect(await hooks.run({}, hook, options)).toMatchObject({ kept: { pid: kept?.pid } });
  });

  it('run as ordinary ones once theirs is stopped', async () => {
    const kept = open();
    await kept.act({ answer: {} });
    kept.hooks.stop();
    expect(await kept.ask({ a: 1 }, shell('cat'))).toMatchObject({ stdout: '{"a":1}' });
  });
});

describe('an objection', () => {
  it('is what went wrong while it was asked for, and costs no process', async () => {
    let isBroken = true;
    const findObjection = async () => {
      if (isBroken) throw new Error('could not be read');
      return undefined;
    };
    const kept = open({}, { findObjection });
    const first = kept.act({ sleep: 200 }, { answer: {} });
    expect(await Promise.all([first, kept.act({ answer: {} })])).toMatchObject([
      { ending: 'exit' },
      { ending: 'broken', error: { message: 'could not be read' } },
    ]);
    isBroken = false;
    const next = [kept.act({ answer: {} }), kept.act({ answer: {} })];
    expect(await Promise.all(next)).toMatchObject([{ ending: 'exit' }, { ending: 'exit' }]);
  });

  it('is asked for again once an event has waited, and what it refuses is not asked', async () => {
    let objection: string | undefined;
    const kept = open({}, { findObjection: async () => objection });
    const first = kept.act({ sleep: 200 }, { answer: {} });
    const second = kept.act({ append: { file: 'asked', text: 'asked' } }, { answer: {} });
    await vi.waitFor(() => expect(findProcesses(runId)).toHaveLength(1), WAIT);
    objection = 'was changed';
    expect(await first).toMatchObject({ ending: 'exit' });
    expect(await second).toMatchObject({ ending: 'broken', error: { message: 'was changed' } });
    await expect(temp.readLines('asked')).rejects.toThrow('ENOENT');
    await vi.waitFor(() => expect(findProcesses(runId)).toEqual([]), WAIT);
  });
});
