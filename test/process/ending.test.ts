import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { COMMAND_TIMINGS } from '../../src/process/command/limits.js';
import { endGroup } from '../../src/process/command/processGroup.js';
import { hasRunningMember } from '../../src/process/command/processTable.js';
import { isRunning, readPids, run, SHORT_TIMINGS, withTempDir } from './helpers.js';

/** Runs a command that appends pids to `$PIDS`; returns its outcome and those pids. */
async function runNotingPids(
  command: string,
  count: number,
  { timeoutMs = 20_000, signal, timings = SHORT_TIMINGS }: Options = {},
) {
  return withTempDir(async (directory) => {
    const file = path.join(directory, 'pids');
    const env = { ...process.env, PIDS: file };
    const outcome = await run(command, { env, timeoutMs, signal }, timings);
    return { outcome, pids: await readPids(file, count) };
  });
}

interface Options {
  timeoutMs?: number;
  signal?: AbortSignal;
  timings?: typeof SHORT_TIMINGS;
}

const noneRuns = (pids: number[]) =>
  vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 1_500, interval: 10 });

// Every bound in milliseconds is a promise, yet a busy machine may break it once.
const TIMED = { retry: 2 };

describe('after the exit', TIMED, () => {
  it.each([
    ['0', '{"decision":"deny"}', ''],
    ['2', '', 'no'],
  ])('a background job on the pipes does not hold up exit code %s', async (code, out, err) => {
    const { outcome, pids } = await runNotingPids(
      `sleep 300 & echo $! >>"$PIDS"; printf '%s' '${out}'; printf '%s' '${err}' >&2; exit ${code}`,
      1,
    );
    expect(outcome).toMatchObject({
      ending: 'exit',
      exitCode: Number(code),
      stdout: out,
      stderr: err,
      stragglers: true,
    });
    expect(outcome.durationMs).toBeLessThan(300);
    await noneRuns(pids);
  });

  it('a background job that ignores SIGTERM is killed', async () => {
    const { outcome, pids } = await runNotingPids(
      `(trap '' TERM; echo $BASHPID >>"$PIDS"; while :; do sleep 0.1; done) & sleep 0.1`,
      1,
    );
    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0, stragglers: true });
    expect(pids.filter(isRunning)).toEqual(pids);
    await noneRuns(pids);
  });

  it('a background job that never stops writing is cut off', async () => {
    const { outcome, pids } = await runNotingPids(`yes & echo $! >>"$PIDS"; exit 2`, 1);
    expect(outcome).toMatchObject({ exitCode: 2, stragglers: true, truncated: true });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(COMMAND_TIMINGS.drainMs);
    expect(outcome.durationMs).toBeLessThan(COMMAND_TIMINGS.drainMs + 500);
    await noneRuns(pids);
  });

  it('a job that left the group is ended when it holds the pipes', async () => {
    const { outcome, pids } = await runNotingPids(`setsid sleep 300 & echo $! >>"$PIDS"`, 1);
    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0, stragglers: true });
    await noneRuns(pids);
  });

  it('a job that left the group with an empty environment is ended when it holds a pipe', async () => {
    const { outcome, pids } = await runNotingPids(
      `env -i setsid sleep 300 >/dev/null & echo $! >>"$PIDS"; env -i setsid sleep 300 2>&- & echo $! >>"$PIDS"`,
      2,
    );
    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0, stragglers: true });
    await noneRuns(pids);
  });

  it('a background job that released the pipes is left alone', async () => {
    const { outcome, pids } = await runNotingPids(
      `sleep 300 >/dev/null 2>&1 & echo $! >>"$PIDS"; setsid sleep 300 >/dev/null 2>&1 </dev/null & echo $! >>"$PIDS"`,
      2,
      { timings: { ...SHORT_TIMINGS, quietMs: 5_000, drainMs: 5_000 } },
    );
    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0, stragglers: false });
    expect(outcome.durationMs).toBeLessThan(2_000);
    // Whatever would be ended is ended before another run with a straggler is.
    await noneRuns((await runNotingPids(`sleep 300 & echo $! >>"$PIDS"`, 1)).pids);
    expect(pids.filter(isRunning)).toEqual(pids);
  });
});

describe('at the deadline', TIMED, () => {
  it.each([
    ['with an empty environment', 'env -i setsid sleep 300'],
    ['that let go of the pipes as well', 'env -i setsid sleep 300 >/dev/null 2>&1 </dev/null'],
  ])('a job that left the group %s is ended', async (_, job) => {
    const { outcome, pids } = await runNotingPids(`${job} & echo $! >>"$PIDS"; wait`, 1, {
      timeoutMs: 300,
    });
    expect(outcome).toMatchObject({ ending: 'timeout' });
    await noneRuns(pids);
  });

  it('the shell and its children end at once', async () => {
    const { outcome, pids } = await runNotingPids(
      `echo $$ >>"$PIDS"; sleep 300 & echo $! >>"$PIDS"; echo said; echo why >&2; wait`,
      2,
      { timeoutMs: 300 },
    );
    expect(outcome).toMatchObject({
      ending: 'timeout',
      exitCode: null,
      signal: 'SIGTERM',
      stdout: 'said\n',
      stderr: 'why\n',
      stragglers: false,
    });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(300);
    expect(outcome.durationMs).toBeLessThan(500);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  it('a clean-up on SIGTERM is waited for, and is still a timeout', async () => {
    const outcome = await run(`trap 'sleep 0.2; echo clean; exit 0' TERM; sleep 300 & wait`, {
      timeoutMs: 200,
    });
    expect(outcome).toMatchObject({ ending: 'timeout', exitCode: 0, stdout: 'clean\n' });
  });

  it('a group that ignores SIGTERM is dead after the grace of five seconds', async () => {
    const { outcome, pids } = await runNotingPids(
      `trap '' TERM; echo $$ >>"$PIDS"; sleep 300 & echo $! >>"$PIDS"; wait`,
      2,
      { timeoutMs: 200, timings: COMMAND_TIMINGS },
    );
    expect(outcome).toMatchObject({ ending: 'timeout', exitCode: null, signal: 'SIGKILL' });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(5_200);
    expect(outcome.durationMs).toBeLessThan(6_000);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  it('a child that ignores SIGTERM is killed even when its shell has ended', async () => {
    const { outcome, pids } = await runNotingPids(
      `(trap '' TERM; echo $BASHPID >>"$PIDS"; while :; do sleep 0.1; done) & wait`,
      1,
      { timeoutMs: 200 },
    );
    expect(outcome).toMatchObject({ ending: 'timeout', signal: 'SIGTERM' });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(200 + SHORT_TIMINGS.graceMs);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  it('a job that left the group and holds the pipes does not delay the answer, and is ended', async () => {
    const { outcome, pids } = await runNotingPids(
      `setsid sh -c 'trap "" TERM; while :; do sleep 0.1; done' & echo $! >>"$PIDS"; wait`,
      1,
      { timeoutMs: 200 },
    );
    expect(outcome.ending).toBe('timeout');
    expect(outcome.durationMs).toBeLessThan(600);
    await noneRuns(pids);
  });

  it('a command that has stopped itself ends at once', async () => {
    const outcome = await run('echo before; kill -STOP $$; echo after', { timeoutMs: 200 });
    expect(outcome).toMatchObject({ ending: 'timeout', signal: 'SIGTERM', stdout: 'before\n' });
    expect(outcome.durationMs).toBeLessThan(500);
  });

  it('endless output ends', async () => {
    const outcome = await run('yes', { timeoutMs: 300 });
    expect(outcome).toMatchObject({ ending: 'timeout', truncated: true });
    expect(outcome.stdout).toHaveLength(1024 * 1024);
    expect(outcome.bytesRead).toBeGreaterThan(1024 * 1024);
    expect(outcome.durationMs).toBeLessThan(800);
  });
});

describe('when the caller aborts', TIMED, () => {
  it('before the start, nothing runs', async () => {
    await withTempDir(async (cwd) => {
      const signal = AbortSignal.abort();
      expect(await run('touch ran', { cwd, signal })).toMatchObject({
        ending: 'aborted',
        exitCode: null,
        durationMs: 0,
      });
      expect((await run('ls', { cwd })).stdout).toBe('');
    });
  });

  it('during the run, the group ends', async () => {
    const { outcome, pids } = await runNotingPids(
      `sleep 300 & echo $! >>"$PIDS"; echo said; wait`,
      1,
      { signal: AbortSignal.timeout(300) },
    );
    expect(outcome).toMatchObject({ ending: 'aborted', signal: 'SIGTERM', stdout: 'said\n' });
    expect(outcome.durationMs).toBeLessThan(600);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  it.each([
    ['before', async () => undefined],
    ['while', setImmediate],
  ])(
    'after an exit that the host has not seen, the answer stands (%s it waits)',
    async (_, turn) => {
      // What is loaded at the first start would come between.
      await run('true');
      const aborting = new AbortController();
      const running = run('echo deny; exit 2', { signal: aborting.signal });
      await turn();
      const end = performance.now() + 500;
      while (performance.now() < end);
      aborting.abort();
      expect(await running).toMatchObject({ ending: 'exit', exitCode: 2, stdout: 'deny\n' });
    },
  );

  it('leaves no listener on the signal, and many commands may share one', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 15 }, () => run('true', { signal })));
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('a zombie', () => {
  it('does not count as a running member of its group', async () => {
    // Job control gives the child a group of its own; it ends when its parent is `sleep`, which never reaps.
    const child = '(until [ "$(cat /proc/$$/comm)" = sleep ]; do :; done)';
    const parent = spawn('bash', ['-c', `set -m; ${child} & echo $!; exec sleep 300`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [line] = await once(parent.stdout, 'data');
      const zombie = Number(line);
      await vi.waitFor(() => expect(isRunning(zombie)).toBe(false));
      expect(process.kill(-zombie, 0)).toBe(true);
      expect(hasRunningMember(zombie)).toBe(false);

      const startedAt = performance.now();
      const traces = { mark: 'HOOKSTACK_RUN_ID=none', pipes: [], startedAt: process.uptime() };
      await endGroup({ id: zombie, ...traces }, 5_000);
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
