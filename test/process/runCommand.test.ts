import { MAX_KEPT_BYTES } from '../../src/process/command/limits.js';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { isRunning, readPids, run, SHORT_TIMINGS, withTempDir } from './helpers.js';

const MEGABYTE = 1_000_000;

function busyFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('a plain run', () => {
  it('hands over input, environment and directory, and returns what was said', async () => {
    await withTempDir(async (cwd) => {
      const outcome = await run('cat; echo "$GREETING"; pwd; echo warning >&2; exit 3', {
        input: Buffer.from('{"a":1}\n'),
        env: { PATH: process.env['PATH'], GREETING: 'hello' },
        cwd,
      });
      const { durationMs, ...rest } = outcome;
      expect(rest).toEqual({
        ending: 'exit',
        exitCode: 3,
        signal: null,
        stdout: `{"a":1}\nhello\n${cwd}\n`,
        stderr: 'warning\n',
        inputTaken: true,
        bytesRead: Buffer.byteLength(outcome.stdout + outcome.stderr),
        truncated: false,
        stdoutTruncated: false,
        stragglers: false,
        stdoutHeld: false,
      });
      expect(durationMs).toBeLessThan(5_000);
      expect(Number.isInteger(durationMs)).toBe(true);
    });
  });

  it('listens to the signals of the host while it runs, and a moment longer', async () => {
    const stopping = new AbortController();
    const running = run('sleep 300', { signal: stopping.signal });
    await vi.waitFor(() => expect(process.listenerCount('SIGPWR')).toBe(1));
    stopping.abort();
    await running;
    await vi.waitFor(() => expect(process.listenerCount('SIGPWR')).toBe(0), { timeout: 10_000 });
  });

  it('inherits nothing from the host', async () => {
    const { stdout } = await run('echo "[$HOME]"', { env: { PATH: process.env['PATH'] } });
    expect(stdout).toBe('[]\n');
  });

  it('marks the run in the environment, each with its own id', async () => {
    const env = { ...process.env, HOOKSTACK_RUN_ID: undefined };
    const [first, second] = await Promise.all([
      run('echo $HOOKSTACK_RUN_ID', { env }),
      run('echo $HOOKSTACK_RUN_ID', { env }),
    ]);
    expect(first.stdout).toMatch(/^[\da-f]{12}\n$/);
    expect(second.stdout).not.toBe(first.stdout);
  });

  it('extends the mark of the hook that this host runs in', async () => {
    const env = { ...process.env, HOOKSTACK_RUN_ID: 'outer' };
    const { stdout } = await run('echo $HOOKSTACK_RUN_ID', { env });
    expect(stdout).toMatch(/^outer\/[\da-f]{12}\n$/);
  });

  it('shares one input between many commands and leaves it as it was', async () => {
    const input = Buffer.from('x'.repeat(300_000));
    const outcomes = await Promise.all(Array.from({ length: 15 }, () => run('wc -c', { input })));
    expect(new Set(outcomes.map(({ stdout }) => stdout.trim()))).toEqual(new Set(['300000']));
    expect(input.every((byte) => byte === 'x'.charCodeAt(0))).toBe(true);
  });

  it('answers at once when nothing holds the pipes', async () => {
    const timings = { ...SHORT_TIMINGS, quietMs: 5_000, drainMs: 5_000 };
    expect((await run('true', {}, timings)).durationMs).toBeLessThan(2_000);
  });
});

describe('input', () => {
  const input = Buffer.alloc(10 * MEGABYTE, 'x');

  it('may stay unread', async () => {
    expect(await run('echo ok', { input })).toMatchObject({
      ending: 'exit',
      exitCode: 0,
      stdout: 'ok\n',
      stragglers: false,
    });
  });

  it('may be closed early', async () => {
    const outcome = await run('exec <&-; echo no >&2; sleep 0.1; exit 2', { input });
    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 2, stderr: 'no\n' });
  });

  it('does not deadlock with a command that sleeps instead of reading', async () => {
    const outcome = await run('sleep 300', { input, timeoutMs: 200 });
    expect(outcome.ending).toBe('timeout');
    expect(outcome.durationMs).toBeLessThan(700);
  });

  it('does not deadlock with a command that writes before it reads', async () => {
    const outcome = await run(`head -c ${5 * MEGABYTE} /dev/zero; wc -c >&2`, { input });
    expect(outcome).toMatchObject({ exitCode: 0, truncated: true });
    expect(outcome.stderr.trim()).toBe(String(input.length));
    expect(outcome.bytesRead).toBe(5 * MEGABYTE + outcome.stderr.length);
  });
});

describe('output', () => {
  it('keeps the first MiB of each stream, or what is asked for, and reads on', async () => {
    const outcome = await run(
      `head -c ${MAX_KEPT_BYTES} /dev/zero | tr '\\0' a; echo tail; head -c ${3 * MEGABYTE} /dev/zero >&2`,
    );
    expect(outcome.stdout).toBe('a'.repeat(MAX_KEPT_BYTES));
    expect(outcome.stderr).toHaveLength(1024 * 1024);
    const short = await run('echo 123456789', { keepStdoutBytes: 4 });
    expect(short).toMatchObject({ stdout: '1234', stdoutTruncated: true, bytesRead: 10 });
    expect(outcome).toMatchObject({
      truncated: true,
      stdoutTruncated: true,
      bytesRead: MAX_KEPT_BYTES + 5 + 3 * MEGABYTE,
      exitCode: 0,
    });
  });

  it('leaves out a character that the limit cuts in two', async () => {
    const room = MAX_KEPT_BYTES - 1;
    const { stdout } = await run(`head -c ${room} /dev/zero | tr '\\0' a; echo 'ü'`);
    expect(stdout).toBe('a'.repeat(room));
  });

  it('replaces invalid UTF-8', async () => {
    expect((await run(String.raw`printf 'a\xff\xfeb\xc3'`)).stdout).toBe('a��b�');
  });

  it('joins a character that is split over two writes', async () => {
    const { stdout } = await run(String.raw`printf '\xf0\x9f'; sleep 0.1; printf '\x98\x80'`);
    expect(stdout).toBe('😀');
  });

  it('drops a byte order mark and keeps CRLF', async () => {
    const { stdout, stderr } = await run(
      String.raw`printf '\xef\xbb\xbf{}\r\n'; printf '\xef\xbb\xbfx' >&2`,
    );
    expect(stdout).toBe('{}\r\n');
    expect(stderr).toBe('x');
  });

  it('passes NUL, escape sequences and UTF-16 on as they are', async () => {
    const { stdout, stderr } = await run(
      String.raw`printf 'a\0\033[31mb'; printf '{\0}\0' >&2; exit 0`,
    );
    expect(stdout).toBe('a\0\u001B[31mb');
    expect(stderr).toBe('{\0}\0');
  });

  it('passes noise around JSON on as it is', async () => {
    const { stdout } = await run(`echo loading; echo '{"decision":"deny"}'; echo bye`);
    expect(stdout).toBe('loading\n{"decision":"deny"}\nbye\n');
  });

  it.each([['BASH_ENV'], ['ENV']])('is free of what a file named by %s says', async (name) => {
    await withTempDir(async (directory) => {
      const profile = path.join(directory, 'profile');
      await writeFile(profile, 'echo noise');
      const { stdout } = await run('echo "[$BASH_ENV$ENV]"; bash -c "echo inner"; sh -c :', {
        env: { ...process.env, [name]: profile },
      });
      expect(stdout).toBe('[]\ninner\n');
    });
  });
});

it('runs no start-up file, even where bash takes itself for a remote shell', async () => {
  await withTempDir(async (directory) => {
    await writeFile(path.join(directory, '.bashrc'), 'echo noise');
    await writeFile(path.join(directory, '.profile'), 'echo noise');
    const env = { PATH: process.env['PATH'], HOME: directory, SSH_CLIENT: '::1 1 22' };
    expect((await run('echo hook; bash -c "echo inner"', { env })).stdout).toBe('hook\ninner\n');
  });
});

const DEADLY_SIGNALS = Object.entries(constants.signals).filter(
  ([name]) => !/CHLD|CONT|STOP|TSTP|TTIN|TTOU|URG|WINCH|UNUSED|IOT|POLL/.test(name),
);

describe('a command that ends badly', () => {
  // bash itself ignores SIGQUIT.
  it.each(DEADLY_SIGNALS)('by %s', async (signal, number) => {
    const outcome = await run(
      `ulimit -c 0; echo before; exec sh -c 'kill -${number} $$; sleep 300'`,
    );
    expect(outcome).toMatchObject({ ending: 'signal', exitCode: null, signal, stdout: 'before\n' });
  });

  it('is reported with exit code 127 when the program does not exist', async () => {
    expect(await run('no-such-program-anywhere')).toMatchObject({
      ending: 'exit',
      exitCode: 127,
      stderr: expect.stringContaining('no-such-program-anywhere'),
    });
  });

  it('is reported with exit code 126 when the file may not be executed', async () => {
    await withTempDir(async (cwd) => {
      await writeFile(path.join(cwd, 'x.sh'), 'echo', { mode: 0o644 });
      expect(await run('./x.sh', { cwd })).toMatchObject({ ending: 'exit', exitCode: 126 });
    });
  });
});

describe('a command that cannot be started', () => {
  const NOTHING_SAID = { exitCode: null, signal: null, stdout: '', stderr: '', bytesRead: 0 };

  it('because it is too long', async () => {
    const outcome = await run(`: ${'x'.repeat(200_000)}`);
    expect(outcome).toMatchObject({
      ...NOTHING_SAID,
      ending: 'spawn-failed',
      error: { code: 'E2BIG', message: expect.stringMatching(/could not be started in .+ Move/) },
    });
  });

  it('because its environment is too long', async () => {
    const env = { ...process.env, LONG: 'x'.repeat(3 * MEGABYTE) };
    expect(await run('true', { env })).toMatchObject({ error: { code: 'E2BIG' } });
  });

  it('because its directory is gone', async () => {
    await withTempDir(async (parent) => {
      const cwd = path.join(parent, 'gone');
      await mkdir(cwd);
      await rm(cwd, { recursive: true });
      expect(await run('true', { cwd })).toMatchObject({
        ...NOTHING_SAID,
        ending: 'spawn-failed',
        error: {
          code: 'ENOENT',
          message: expect.stringContaining(`${cwd}" (ENOENT): there is no`),
        },
      });
    });
  });

  it('because its directory is a file', async () => {
    await withTempDir(async (parent) => {
      const cwd = path.join(parent, 'file');
      await writeFile(cwd, '');
      expect(await run('true', { cwd })).toMatchObject({
        ending: 'spawn-failed',
        error: { code: 'ENOTDIR' },
      });
    });
  });

  it.each([
    ['command', { command: 'echo a\0b' }],
    ['directory', { cwd: '/tmp\0' }],
    ['environment', { env: { A: 'a\0b' } }],
  ])('because its %s holds a NUL', async (_, options) => {
    expect(await run('true', options)).toMatchObject({
      ...NOTHING_SAID,
      ending: 'spawn-failed',
      error: { code: 'ERR_INVALID_ARG_VALUE', message: expect.stringContaining('Remove it') },
    });
  });
});

describe('a host that is busy', () => {
  it('past the deadline still takes the answer of a command that was in time', async () => {
    const running = run('echo deny; exit 2', { timeoutMs: 100 });
    // The deadline is set by now, and the command has hardly begun.
    await setImmediate();
    busyFor(700);
    expect(await running).toMatchObject({ ending: 'exit', exitCode: 2, stdout: 'deny\n' });
  });

  it('while output comes in still takes all of it', async () => {
    const running = run(`(sleep 0.1; echo late) & echo early; exit 0`);
    busyFor(50);
    setTimeout(() => busyFor(400), 60);
    expect(await running).toMatchObject({ stdout: 'early\nlate\n', stragglers: false });
  });
});

describe('a program with arguments', () => {
  it('reads them as they are: no shell splits, expands or runs anything of them', async () => {
    const args = [
      '-r',
      '$ARGS.positional|tojson',
      '-n',
      '--args',
      '$HOME',
      "a  'b'",
      '*',
      '`id`',
      '',
    ];
    const outcome = await run('jq', { args });
    expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toEqual(args.slice(4));
  });

  it('is the program alone where there are none', async () => {
    const { stdout } = await run('cat', { args: [], input: Buffer.from('read') });
    expect(stdout).toBe('read');
    expect(await run('echo $HOME; id', { args: [] })).toMatchObject({ ending: 'spawn-failed' });
  });

  it('finds the directory and the environment, and is called what it was called', async () => {
    await withTempDir(async (cwd) => {
      const env = { PATH: process.env['PATH'], BASH_ENV: '/nowhere', ENV: '/nowhere' };
      const args = ['-c', 'echo "$0|$PWD|$A|${BASH_ENV-none}|$SHLVL"'];
      const { stdout } = await run('bash', { args, cwd, env, extraEnv: { A: 'own' } });
      expect(stdout).toMatch(new RegExp(`^bash\\|${cwd}\\|own\\|none\\|\\d+\n$`));
    });
  });

  it('is ended with all that it started', async () => {
    await withTempDir(async (cwd) => {
      const args = ['-c', 'sleep 300 & echo $! >pids; echo $$ >>pids; wait'];
      const running = run('bash', { args, cwd, timeoutMs: 2000 });
      const pids = await readPids(path.join(cwd, 'pids'), 2);
      expect(await running).toMatchObject({ ending: 'timeout' });
      await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 10_000 });
    });
  });

  it('is not looked for in relative entries of the search path, and its absence is told', async () => {
    await withTempDir(async (cwd) => {
      await writeFile(path.join(cwd, 'guard'), '#!/bin/sh\necho found\n', { mode: 0o755 });
      const env = { PATH: `.:${process.env['PATH']}` };
      expect(await run('guard', { args: [], cwd, env })).toMatchObject({
        ending: 'spawn-failed',
        error: { code: 'ENOENT', message: expect.stringMatching(/no program "guard" on the PATH/) },
      });
      expect(await run('./guard', { args: [], cwd, env })).toMatchObject({ stdout: 'found\n' });
    });
  });

  it.each([
    ['./none', 'ENOENT', /there is no ".\/none"/],
    ['./plain', 'EACCES', /"\.\/plain" may not be executed\. Run chmod \+x/],
  ])('that cannot be started says what to do: %s', async (command, code, message) => {
    await withTempDir(async (cwd) => {
      await writeFile(path.join(cwd, 'plain'), 'echo\n', { mode: 0o644 });
      expect(await run(command, { args: [], cwd })).toMatchObject({
        ending: 'spawn-failed',
        error: { code, message: expect.stringMatching(message) },
      });
    });
  });
});
