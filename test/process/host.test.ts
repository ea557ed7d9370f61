import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { compileRunCommand, fixture, isRunning, makeTempDir, readPids } from './helpers.js';

let directory: string;
let remove: () => Promise<void>;
let runCommandModule: string;

beforeAll(async () => {
  ({ directory, remove } = await makeTempDir());
  runCommandModule = await compileRunCommand(directory);
});
afterAll(() => remove());

// Half a second is the promise, yet a busy machine may break it once.
describe('when the host ends', { retry: 2 }, () => {
  const endings: [string, (host: ReturnType<typeof spawn>) => void][] = [
    ['SIGINT', (host) => void host.kill('SIGINT')],
    ['SIGTERM', (host) => void host.kill('SIGTERM')],
    ['SIGHUP', (host) => void host.kill('SIGHUP')],
    ['process.exit', (host) => void host.stdin?.write('exit')],
    ['an uncaught error', (host) => void host.stdin?.write('throw')],
  ];
  const commands = {
    'a command with children in and out of its group':
      'echo $$ >>"$PIDS"; sleep 300 & echo $! >>"$PIDS"; setsid sleep 300 & echo $! >>"$PIDS"; wait',
    'what ignores SIGTERM':
      `trap '' TERM; echo $$ >>"$PIDS"; sleep 300 & echo $! >>"$PIDS"; ` +
      'while :; do sleep 0.1; done & echo $! >>"$PIDS"; wait',
  };

  describe.each(Object.entries(commands))('%s', (_, command) => {
    it.each(endings)('by %s, nothing is left half a second later', async (how, end) => {
      const file = path.join(directory, `pids-${randomUUID()}`);
      const host = spawn(process.execPath, [fixture('host.mjs'), runCommandModule, command], {
        env: { ...process.env, PIDS: file },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const exited = once(host, 'exit');
      const pids = await readPids(file, 3);
      expect(pids.filter(isRunning)).toEqual(pids);

      end(host);
      const [code, signal] = await exited;
      expect(signal ?? (code === 0 ? 'process.exit' : 'an uncaught error')).toBe(how);
      await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), {
        timeout: 500,
        interval: 10,
      });
    });
  });

  it('by itself, right after an answer with a straggler, nothing is left either', async () => {
    const file = path.join(directory, `pids-${randomUUID()}`);
    const command = `(trap '' TERM; echo $BASHPID >>"$PIDS"; sleep 300) & sleep 0.1`;
    const env = { PIDS: file };
    const { stdout } = await execa('node', [fixture('host.mjs'), runCommandModule, command], {
      env,
      // An open stdin would keep the host.
      stdin: 'ignore',
    });
    expect(stdout).toBe('exit');
    expect((await readPids(file, 1)).filter(isRunning)).toEqual([]);
  });
});

describe('a gigabyte', () => {
  const BYTES = 1_000_000_000;

  it.each([
    ['stdout', `head -c ${BYTES} /dev/zero; exit 2`, 'stdoutLength'],
    ['stderr', `head -c ${BYTES} /dev/zero >&2; exit 2`, 'stderrLength'],
  ])('on %s costs little memory, and the exit code counts', async (_, command, kept) => {
    const { stdout } = await execa('node', [fixture('flood.mjs'), runCommandModule, command]);
    const outcome = JSON.parse(stdout);
    expect(outcome).toMatchObject({
      ending: 'exit',
      exitCode: 2,
      bytesRead: BYTES,
      truncated: true,
      [kept]: 1024 * 1024,
    });
    expect(outcome.grownBytes).toBeLessThan(80 * 1024 * 1024);
  });
});

describe('a host that has run out', () => {
  it('of file descriptors survives, and says so', async () => {
    const { stdout } = await execa('bash', [
      '-c',
      'ulimit -n 200 && exec "$@"',
      'bash',
      process.execPath,
      fixture('descriptors.mjs'),
      runCommandModule,
    ]);
    const outcomes: { left: number | 'enough'; ending: string; code?: string }[] =
      JSON.parse(stdout);
    expect(outcomes[0]).toEqual({ left: 0, ending: 'spawn-failed', code: 'EMFILE' });
    expect(outcomes.at(-1)).toEqual({ left: 'enough', ending: 'exit' });
    for (const outcome of outcomes) {
      expect([
        { left: outcome.left, ending: 'exit' },
        { left: outcome.left, ending: 'spawn-failed', code: 'EMFILE' },
      ]).toContainEqual(outcome);
    }
  });

  it('of processes survives, and says so', async ({ skip }) => {
    const limited = await limitedUser();
    if (limited === undefined) {
      skip('root has no quota of processes, and nobody else can be found who may run this Node');
      return;
    }
    const { stdout } = await execa(limited.prefix[0], [
      ...limited.prefix.slice(1),
      'bash',
      '-c',
      `ulimit -u ${countThreads(limited.uid) + 50} && exec "$@"`,
      'bash',
      process.execPath,
      fixture('processes.mjs'),
      runCommandModule,
    ]);
    expect(JSON.parse(stdout)).toEqual({
      starved: 'spawn-failed',
      code: 'EAGAIN',
      afterwards: 'exit',
    });
  });
});

/** A user whom a quota binds: oneself, or for root somebody else. `undefined` when there is no way to be one. */
async function limitedUser(): Promise<{ uid: number; prefix: [string, ...string[]] } | undefined> {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  if (uid !== 0) return { uid, prefix: ['env'] };
  const nobody: [string, ...string[]] = [
    'setpriv',
    '--reuid=65534',
    '--regid=65534',
    '--clear-groups',
  ];
  const [command, ...flags] = nobody;
  // Through a shell, as below: setpriv itself still may run what its user may not.
  const version = ['bash', '-c', '"$0" --version', process.execPath];
  const { failed } = await execa(command, [...flags, ...version], { reject: false });
  return failed ? undefined : { uid: 65534, prefix: nobody };
}

function countThreads(uid: number): number {
  const threads = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'latin1');
        const owner = Number(/^Uid:\t(\d+)/m.exec(status)?.[1]);
        return owner === uid ? Number(/^Threads:\t(\d+)/m.exec(status)?.[1]) : 0;
      } catch {
        return 0;
      }
    });
  return threads.reduce((sum, count) => sum + count, 0);
}
