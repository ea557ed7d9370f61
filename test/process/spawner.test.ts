import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  countHeld,
  dropHeld,
  holdable,
  takeHeld,
  waitsAtGate,
} from '../../src/process/command/heldCommands.js';
import type { CommandOptions, CommandOutcome } from '../../src/process/command/outcome.js';
import { runCommand } from '../../src/process/command/runCommand.js';
import { readFrames, writeFrame } from '../../src/process/spawner/messages.js';
import { Bursts } from '../../src/process/spawner/bursts.js';
import {
  dropInSpawner,
  expectInSpawner,
  releaseSpawner,
  prepareSpawner,
  runInSpawner,
  unwatchGroup,
  watchGroup,
} from '../../src/process/spawner/spawner.js';
import { spawnerStatus } from '../helpers/lookAtSpawner.js';
import { isRunning, withTempDir } from './helpers.js';

const USER = {};
const env = { ...process.env, CI_MARK: 'as it is' };
const WAIT = { timeout: 10_000, interval: 10 };

async function startSpawner(): Promise<number> {
  prepareSpawner(USER);
  await expect.poll(() => spawnerStatus()?.held, WAIT).toBe(0);
  return spawnerStatus()?.pid ?? 0;
}

afterEach(async () => {
  const pid = spawnerStatus()?.pid ?? 0;
  releaseSpawner(USER, '/');
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
});

function optionsFor(cwd: string, command: string, more: Partial<CommandOptions> = {}) {
  const input = Buffer.from('the input\n');
  return { command, cwd, env, input, timeoutMs: 10_000, warmShells: 0, ...more };
}

/** How long it took, and whether a command that reads nothing leaves its input unread, is a matter of moments. */
function withoutTime(outcome: CommandOutcome | undefined): Partial<CommandOutcome> {
  const { durationMs: _ms, inputTaken: _taken, ...rest } = outcome ?? {};
  return rest;
}

const PROBE = `#!/bin/bash
env | sort | sed 's/^\\(HOOKSTACK_RUN_ID\\)=.*/\\1/'
ls -l /proc/self/fd | awk '{ print $9, $11 }' | sed 's/[0-9][0-9]*/N/2g; s/\\[.*//; s/[0-9]*.fd$//'
ps -o pgid=,sid=,comm= -p $$ | awk '{ print $1 == $2, $3 }'
printf '%s|' "$0" "$-" "$(umask)" "$#" "$@"
ulimit -a; nice; trap; pwd; cat; cat /proc/self/oom_score_adj; grep -E '^Sig[BIC]' /proc/self/status`;

describe('a command that another process starts, at its event and ahead of it', () => {
  it.each([
    './probe',
    './probe one "two words" \'$three\'',
    '. ./probe',
    'echo "$0 $- $# $*"; ls /proc/self/fd; trap; set | grep hookstack',
    'no-such-program at all',
    './not-executable',
    'mkdir .',
    'exit 7',
    'kill -TERM $$',
    'if then',
    'echo out; echo err >&2; exit 2',
    'head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2',
    "printf '\\xef\\xbb\\xbf\\xef\\xbb\\xbfx\\xff\\xc3'",
    'sleep 300 & echo answer',
  ])('is in no way different: %s', async (command) => {
    await withTempDir(async (cwd) => {
      await writeFile(path.join(cwd, 'probe'), PROBE, { mode: 0o755 });
      await writeFile(path.join(cwd, 'not-executable'), 'echo no', { mode: 0o644 });
      await startSpawner();
      const options = optionsFor(cwd, command, { warmShells: 1 });
      const own = withoutTime(await runCommand(options));
      const canBeHeld = holdable(options) !== undefined;
      expect(withoutTime(await runInSpawner(options))).toEqual(own);
      if (!canBeHeld) return;
      await expect.poll(() => spawnerStatus()?.held, WAIT).toBe(1);
      expect(withoutTime(await runInSpawner(options))).toEqual(own);
    });
  });
});

describe('a command that another process starts', () => {
  it.each([
    ['a program', { command: 'printf', args: ['%s|', '$HOME', 'a b', ''] }],
    ['a program that is not there', { command: 'no-such-program', args: [] }],
    ['a directory that is not there', { cwd: '/no/such/directory' }],
    ['a NUL in the command', { command: 'echo a\0b' }],
    ['a lone surrogate', { command: 'printf %s "\uD800" | od -c' }],
    [
      'its own variables',
      { command: 'echo "$STYLE"', extraEnv: { STYLE: 'a\nb $(touch pwned) "\'\\' } },
    ],
    ['a limit of stdout', { command: 'yes | head -c 100000', keepStdoutBytes: 10 }],
    ['a deadline', { command: 'echo before; sleep 300', timeoutMs: 300 }],
  ] as const)('is no other for %s', async (_what, more) => {
    await withTempDir(async (cwd) => {
      await startSpawner();
      const options = optionsFor(cwd, 'true', more);
      const [own, spawned] = [await runCommand(options), await runInSpawner(options)];
      expect({ ...withoutTime(spawned), error: undefined }).toEqual({
        ...withoutTime(own),
        error: undefined,
      });
      expect(spawned?.error?.message).toBe(own.error?.message);
      expect(spawned?.error?.code).toBe(own.error?.code);
    });
  });

  it('reads its own input where more are large than are known at a time', async () => {
    await withTempDir(async (cwd) => {
      await startSpawner();
      const inputs = Array.from({ length: 15 }, (_, at) => Buffer.alloc(70_000, `${at},`));
      const latest = { input: inputs[0] ?? Buffer.alloc(0), env: { ...env } };
      const commands = [...inputs.map((input) => ({ input })), latest];
      const running = commands.map(async (more) => {
        const outcome = await runInSpawner(optionsFor(cwd, 'sha256sum', more));
        return outcome?.stdout;
      });
      const digests = commands.map(({ input }) => createHash('sha256').update(input).digest('hex'));
      expect(await Promise.all(running)).toEqual(digests.map((digest) => `${digest}  -\n`));
    });
  });

  it('is ended by an abort, before it starts, while it runs and after it', async () => {
    await withTempDir(async (cwd) => {
      await startSpawner();
      expect(
        runInSpawner(optionsFor(cwd, 'true', { signal: AbortSignal.abort() })),
      ).toBeUndefined();
      const abort = new AbortController();
      const running = runInSpawner(
        optionsFor(cwd, 'echo $$; exec sleep 300', { signal: abort.signal }),
      );
      setTimeout(() => abort.abort(), 100);
      const outcome = await running;
      expect(outcome?.ending).toBe('aborted');
      const late = new AbortController();
      expect(await runInSpawner(optionsFor(cwd, 'true', { signal: late.signal }))).toMatchObject({
        exitCode: 0,
      });
      late.abort();
      expect(await runInSpawner(optionsFor(cwd, 'true'))).toMatchObject({ exitCode: 0 });
    });
  });

  it('finds each of many environments, in any order', async () => {
    await withTempDir(async (cwd) => {
      await startSpawner();
      const environments = Array.from({ length: 40 }, (_, number) => ({
        ...env,
        NUMBER: String(number),
      }));
      for (let round = 0; round < 2; round++) {
        const outcomes = environments.map(
          async (each) => await runInSpawner(optionsFor(cwd, 'echo $NUMBER', { env: each })),
        );
        const texts = (await Promise.all(outcomes)).map((outcome) => outcome?.stdout.trim());
        expect(texts).toEqual(environments.map(({ NUMBER }) => NUMBER));
      }
    });
  });

  it('reads the input of its own, also of many large ones at once', async () => {
    await withTempDir(async (cwd) => {
      await startSpawner();
      const inputs = [1, 2].map((size) => Buffer.alloc(size * 1_000_000, String(size)));
      const all = [...inputs, ...inputs].map(
        async (input) => await runInSpawner(optionsFor(cwd, 'wc -c; echo', { input })),
      );
      const sizes = (await Promise.all(all)).map((outcome) => Number(outcome?.stdout));
      expect(sizes).toEqual([1, 2, 1, 2].map((size) => size * 1_000_000));
    });
  });

  it('is left to the host where its input takes longer to send than it to start', async () => {
    await withTempDir(async (cwd) => {
      await startSpawner();
      const input = Buffer.alloc(3_000_000);
      expect(runInSpawner(optionsFor(cwd, 'wc -c', { input }))).toBeUndefined();
    });
  });
});

const never = () => expect.unreachable();
const ahead = (cwd: string, file: string) => ({
  cwd,
  env,
  command: `: > ${file}; cat`,
  prestart: true,
});

describe('what a spawner starts ahead', () => {
  it('is not started any more where it was dropped before that', async () => {
    await withTempDir(async (cwd) => {
      await startSpawner();
      await withTempDir(async (other) => {
        expect(expectInSpawner(ahead(cwd, 'dropped'), 0, never)).toBe(true);
        expectInSpawner(ahead(other, 'kept'), 0, never);
        dropInSpawner(cwd);
        await vi.waitFor(() => expect(existsSync(path.join(other, 'kept'))).toBe(true), WAIT);
        expect(existsSync(path.join(cwd, 'dropped'))).toBe(false);
        dropInSpawner(other);
      });
    });
  });

  it('is made ready after a burst only where that was', async () => {
    await withTempDir(async (here) => {
      await withTempDir(async (there) => {
        const bursts = new Bursts();
        for (const cwd of [here, there])
          await vi.waitFor(() => expect(waitsAtGate({ cwd, env })).toBe(true), WAIT);
        const use = async (cwd: string) => {
          bursts.noteUse({ command: 'true && a', cwd, env }, 2, 0);
          await vi.waitFor(() => expect(countHeld(cwd)).toBe(1), WAIT);
        };
        const untilQuiet = () => new Promise<void>((resolve) => bursts.later(here, resolve));
        await use(here);
        await use(there);
        await untilQuiet();
        await untilQuiet();
        dropHeld();
        await use(here);
        // What is made ready after the first quiet moment is there at the second.
        await untilQuiet();
        await untilQuiet();
        expect(countHeld(there)).toBe(0);
        dropHeld();
      });
    });
  });
});

describe('what is held for the next burst of events', () => {
  it('is the commands of the last ones that bash reads', async () => {
    await withTempDir(async (cwd) => {
      const bursts = new Bursts();
      const place = { cwd, env };
      await vi.waitFor(() => expect(waitsAtGate(place)).toBe(true), WAIT);
      const inTurn = [['true && a', 'true && a', 'true && b'], ['node x', 'node x'], ['true && b']];
      for (const [at, burst] of inTurn.entries()) {
        for (const command of burst) bursts.noteUse({ ...place, command }, 16, 0);
        await new Promise<void>((resolve) => bursts.later(cwd, resolve));
        const held = [3, 3, 3][at];
        await vi.waitFor(() => expect(countHeld(cwd)).toBe(held), WAIT);
      }
      const wasHeld = (command: string) => takeAway({ ...place, command });
      expect(['true && a', 'true && b', 'node x'].map(wasHeld)).toEqual([true, true, false]);
      dropHeld();
    });
  });

  it('is no more than is allowed, that of the latest first', async () => {
    await withTempDir(async (cwd) => {
      const bursts = new Bursts();
      const place = { cwd, env };
      await vi.waitFor(() => expect(waitsAtGate(place)).toBe(true), WAIT);
      for (const command of ['true && a', 'true && b', 'true && c']) {
        bursts.noteUse({ ...place, command }, 2, 0);
        await new Promise<void>((resolve) => bursts.later(cwd, resolve));
      }
      await vi.waitFor(() => expect(countHeld(cwd)).toBe(2), WAIT);
      // What the second burst had in the place of the third goes once that is over.
      await new Promise<void>((resolve) => bursts.later(cwd, resolve));
      const wasHeld = (command: string) => takeAway({ ...place, command });
      const commands = ['true && a', 'true && b', 'true && c'];
      expect(commands.map(wasHeld)).toEqual([false, true, true]);
    });
  });
});

/** Ends a command that is held, and says whether one was. */
function takeAway(options: { cwd: string; env: NodeJS.ProcessEnv; command: string }): boolean {
  const held = takeHeld(options);
  held?.subprocess.kill();
  return held !== undefined;
}

describe('a spawner without work', () => {
  // Its timer is one of these from its start on.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('stays as long as there is something to end with the host', async () => {
    await withTempDir(async (cwd) => {
      const group = { id: 2 ** 30, mark: 'NONE=1', pipes: [], startedAt: 0 };
      watchGroup(group);
      const pid = await startSpawner();
      await runInSpawner(optionsFor(cwd, 'true'));
      vi.advanceTimersByTime(150_000);
      releaseSpawner(USER, cwd);
      vi.useRealTimers();
      expect(spawnerStatus()).toMatchObject({ pid });
      unwatchGroup(group);
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
    });
  });

  it('stays as long as something waits in it that was started ahead', async () => {
    await withTempDir(async (cwd) => {
      const pid = await startSpawner();
      expectInSpawner({ cwd, env, command: 'cat', prestart: true }, 0, never);
      await runInSpawner(optionsFor(cwd, 'true'));
      vi.advanceTimersByTime(150_000);
      vi.useRealTimers();
      expect(spawnerStatus()).toMatchObject({ pid });
      dropInSpawner(cwd);
    });
  });

  it('ends after a minute, and not before', async () => {
    await withTempDir(async (cwd) => {
      const pid = await startSpawner();
      for (let minute = 0; minute < 2; minute++) {
        expect(await runInSpawner(optionsFor(cwd, 'true'))).toMatchObject({ exitCode: 0 });
        vi.advanceTimersByTime(59_000);
      }
      const running = runInSpawner(optionsFor(cwd, 'sleep 0.3'));
      vi.advanceTimersByTime(60_000);
      expect(await running).toMatchObject({ exitCode: 0 });
      vi.advanceTimersByTime(59_000);
      expect(isRunning(pid)).toBe(true);
      vi.advanceTimersByTime(1_000);
      vi.useRealTimers();
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
      expect(runInSpawner(optionsFor(cwd, 'true'))).toBeUndefined();
    });
  });
});

describe('frames', () => {
  it('are read as they were written, however they are cut', async () => {
    const frame = fc.tuple(fc.jsonValue(), fc.uint8Array({ maxLength: 200 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { maxLength: 6 }),
        fc.array(fc.nat(50), { minLength: 1 }),
        async (frames, cuts) => {
          const written = new PassThrough({ highWaterMark: 1e6 });
          for (const [message, bytes] of frames) writeFrame(written, { message }, bytes);
          written.end();
          const all = Buffer.concat((await written.toArray()) as Buffer[]);
          const read: unknown[] = [];
          const stream = new PassThrough({ highWaterMark: 1e6 });
          readFrames(stream, (message, bytes) => read.push([message, [...bytes]]), never);
          for (let at = 0, turn = 0; at < all.length; turn++) {
            const length = 1 + (cuts[turn % cuts.length] ?? 0);
            stream.write(all.subarray(at, at + length));
            at += length;
          }
          stream.end();
          await once(stream, 'end');
          const expected = frames.map(([message, bytes]) => [{ message }, [...bytes]]);
          expect(JSON.stringify(read)).toBe(JSON.stringify(expected));
        },
      ),
    );
  });
});
