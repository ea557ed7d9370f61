import { createHook } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runCommand, type CommandOutcome } from '../../src/process/runCommand.js';
import { isSimpleCommand } from '../../src/shell/shellWords.js';
import { countWarmShells, dropWarmShells, prepareWarmShell } from '../../src/process/warmShells.js';
import { isRunning, withTempDir } from './helpers.js';

afterEach(() => dropWarmShells());

const PROBE = `#!/bin/bash
env | sort | sed 's/^\\(HOOKSTACK_RUN_ID\\)=.*/\\1/'
ls -l /proc/self/fd | awk '{ print $9, $11 }' | sed 's/[0-9][0-9]*/N/2g; s/\\[.*//; s/[0-9]*.fd$//'
ps -o pgid=,sid=,comm= -p $$ | awk '{ print $1 == $2, $3 }'
printf '%s|' "$0" "$-" "$(umask)" "$#" "$@"
ulimit -a; trap; pwd; cat`;

/** Starts itself again and again, up to its time limit. */
const ENDLESS = 'bash -c "${BASH_EXECUTION_STRING}"';

const env = { ...process.env, CI_MARK: 'as it is', REPLY: 'kept' };

function prepareWarmShells(place: Parameters<typeof prepareWarmShell>[0], count: number): void {
  while (prepareWarmShell(place, count));
}

async function runBothWays(
  command: string,
  cwd: string,
  extraEnv: Record<string, string> = {},
  timeoutMs = 10_000,
): Promise<{ cold: Partial<CommandOutcome>; warm: Partial<CommandOutcome> }> {
  const input = Buffer.from('the input\n');
  const inProject = { ...env, LLXPRT_PROJECT_DIR: cwd };
  const options = { command, cwd, env: inProject, extraEnv, input, timeoutMs };
  const cold = await runCommand(options);
  prepareWarmShells({ cwd, env: inProject }, 1);
  const starts = countStarts();
  const warm = await runCommand({ ...options, warmShells: 16 });
  expect(starts(), 'the warm shell was used').toBe(0);
  return { cold: withoutTime(cold), warm: withoutTime(warm) };
}

/** Counts the processes that Node starts from now on. */
function countStarts(): () => number {
  let count = 0;
  const watch = createHook({
    init: (_id, type) => {
      if (type === 'PROCESSWRAP') count += 1;
    },
  }).enable();
  return () => {
    watch.disable();
    return count;
  };
}

function variablesIn({ stdout }: Partial<CommandOutcome>): string[] | undefined {
  const lines = stdout?.split('\n');
  return lines?.filter((line) => !line.startsWith('HOOKSTACK_RUN_ID=')).toSorted();
}

/** Whether a command that reads nothing leaves its input unread is a matter of moments. */
function withoutTime({
  durationMs: _ms,
  inputTaken: _taken,
  ...outcome
}: CommandOutcome): Partial<CommandOutcome> {
  return outcome;
}

describe('a command in a shell that was started ahead', () => {
  it.each([
    './probe',
    './probe one "two words" \'$three\'',
    '"${LLXPRT_PROJECT_DIR}/probe" one "two words"',
    'bash probe',
    '"$PWD"/probe; true',
    'exec ./probe',
    '. ./probe',
    'echo "$0 $- $# $*"; ls /proc/self/fd; ps -o comm= -p $$; trap; set | grep hookstack',
    'no-such-program at all',
    './no-such-file',
    './not-executable',
    'mkdir .',
    'printenv _',
    './bad-interpreter',
    './no-shebang one two',
    './empty',
    ENDLESS,
    '/bin/echo "${LINENO}"',
    'exit 7',
    'kill -TERM $$',
    './dies',
    'bash -c "kill -KILL \\$\\$"',
    'if then',
    'FOO=bar env | grep FOO',
    'echo a & wait',
    'type -t ls; echo "$LINENO"; set -o | grep monitor',
  ])('is in no way different: %s', async (command) => {
    await withTempDir(async (cwd) => {
      await writeFile(path.join(cwd, 'probe'), PROBE, { mode: 0o755 });
      await writeFile(path.join(cwd, 'dies'), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
      await writeFile(path.join(cwd, 'bad-interpreter'), '#!/no/such\n', { mode: 0o755 });
      await writeFile(path.join(cwd, 'no-shebang'), 'echo "$0 $#"', { mode: 0o755 });
      await writeFile(path.join(cwd, 'empty'), '', { mode: 0o755 });
      await writeFile(path.join(cwd, 'not-executable'), 'echo no', { mode: 0o644 });
      const timeoutMs = command === ENDLESS ? 2_000 : undefined;
      const { cold, warm } = await runBothWays(command, cwd, {}, timeoutMs);
      expect(warm).toEqual(cold);
    });
  });

  it('becomes a program with the same environment, in whatever order', async () => {
    await withTempDir(async (cwd) => {
      const { cold, warm } = await runBothWays('env', cwd);
      expect(variablesIn(warm)).toEqual(variablesIn(cold));
    });
  });

  it('gets its own variables, whatever they hold', async () => {
    await withTempDir(async (cwd) => {
      const extraEnv = { STYLE: 'a\nb $(touch pwned) "\'\\', CI_MARK: 'another' };
      const { cold, warm } = await runBothWays('env -0 | sort -z | tr -d "\\0"', cwd, extraEnv);
      expect(withoutRun(warm)).toEqual(withoutRun(cold));
    });
  });

  it.each(['UID', '__hookstack'])(
    'is started cold where a variable would be lost: %s',
    async (name) => {
      await withTempDir(async (cwd) => {
        prepareWarmShells({ cwd, env }, 1);
        const extraEnv = { [name]: '5' };
        const command = `env | grep ^${name}`;
        const { stdout } = await runCommand({ ...base(cwd), command, extraEnv });
        expect(stdout).toBe(`${name}=5\n`);
        expect(countWarmShells()).toBe(1);
      });
    },
  );

  it('is heard to the end, though Node hears of its exit before it reads', async () => {
    await withTempDir(async (cwd) => {
      prepareWarmShells({ cwd, env }, 1);
      const [shell] = shellsOfHost();
      const command = 'until [ -e go ]; do :; done; echo answer';
      const outcome = runCommand({ ...base(cwd), command });
      // Node reads first, and then asks for all that have ended: also what has ended while it was reading.
      const other = spawn('echo');
      other.stdout.once('data', () => {
        writeFileSync(path.join(cwd, 'go'), '');
        while (isRunning(shell!));
      });
      while (isRunning(other.pid!));
      expect(await outcome).toMatchObject({ ending: 'exit', stdout: 'answer\n' });
    });
  });

  it('is ended with everything that it started, at its deadline', async () => {
    await withTempDir(async (cwd) => {
      prepareWarmShells({ cwd, env }, 1);
      const command = 'sleep 300 & echo $!; exec sleep 300';
      const outcome = await runCommand({ ...base(cwd), command, timeoutMs: 300 });
      expect(outcome.ending).toBe('timeout');
      await vi.waitFor(() => expect(isRunning(Number(outcome.stdout))).toBe(false));
    });
  });
});

/** The shells that this process has started. */
function shellsOfHost(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  const pids = children.trim().split(' ').map(Number);
  return pids.filter((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'bash\n');
}

function base(cwd: string) {
  return { cwd, env, input: Buffer.from(''), timeoutMs: 10_000, warmShells: 16 };
}

describe('a shell that waits', () => {
  it('serves no other directory, environment, or directory of the same name', async () => {
    await withTempDir(async (parent) => {
      const cwd = path.join(parent, 'project');
      await mkdir(cwd);
      prepareWarmShells({ cwd, env }, 1);
      await runCommand({ ...base(parent), command: 'true' });
      expect(countWarmShells()).toBe(1);
      const changed = { ...base(cwd), env: { ...env, CI_MARK: 'changed' } };
      expect(await runCommand({ ...changed, command: 'echo $CI_MARK' })).toMatchObject({
        stdout: 'changed\n',
      });
      expect(countWarmShells()).toBe(0);
      prepareWarmShells({ cwd, env }, 1);
      await rename(cwd, `${cwd}-before`);
      await mkdir(cwd);
      const { stdout } = await runCommand({ ...base(cwd), command: '/bin/pwd -P' });
      expect(stdout).toBe(`${cwd}\n`);
    });
  });

  it('is let go once shells with a changed environment are there', async () => {
    await withTempDir(async (cwd) => {
      prepareWarmShells({ cwd, env }, 2);
      prepareWarmShells({ cwd, env: { ...env, CI_MARK: 'changed' } }, 1);
      expect(countWarmShells(cwd)).toBe(1);
      const changed = {
        ...base(cwd),
        command: 'echo $CI_MARK',
        env: { ...env, CI_MARK: 'changed' },
      };
      expect((await runCommand(changed)).stdout).toBe('changed\n');
      expect(countWarmShells(cwd)).toBe(0);
    });
  });

  it('serves no directory that has gone', async () => {
    await withTempDir(async (parent) => {
      const cwd = path.join(parent, 'project');
      await mkdir(cwd);
      prepareWarmShells({ cwd, env }, 1);
      await rm(cwd, { recursive: true });
      const outcome = await runCommand({ ...base(cwd), command: 'true' });
      expect(outcome.ending).toBe('spawn-failed');
    });
  });

  it('is one of no more than asked for, and is let go', async () => {
    await withTempDir(async (cwd) => {
      prepareWarmShells({ cwd, env }, 3);
      expect(countWarmShells()).toBe(3);
      prepareWarmShells({ cwd, env }, 2);
      expect(countWarmShells()).toBe(2);
      prepareWarmShells({ cwd, env }, 100);
      expect(countWarmShells()).toBe(32);
      dropWarmShells(cwd);
      expect(countWarmShells()).toBe(0);
    });
  });

  it.each([
    ['an exported function', { 'BASH_FUNC_cat%%': '() {  echo function\n}' }],
    ['options of the shell', { SHELLOPTS: 'xtrace' }],
    ['a library to be loaded first', { LD_PRELOAD: '/no/such.so' }],
    ['a limit to how long it may read', { TMOUT: '30' }],
  ])('is not started with %s in the environment', async (_what, more) => {
    await withTempDir(async (cwd) => {
      prepareWarmShells({ cwd, env: { ...env, ...more } }, 1);
      expect(countWarmShells()).toBe(0);
    });
  });

  it('is let go, and not started again, when it has something to say by itself', async () => {
    await withTempDir(async (cwd) => {
      const missing = { ...env, LC_ALL: 'no_SUCH.locale' };
      prepareWarmShells({ cwd, env: missing }, 2);
      await vi.waitFor(() => expect(countWarmShells()).toBe(0));
      prepareWarmShells({ cwd, env: missing }, 2);
      expect(countWarmShells()).toBe(0);
    });
  });

  it('serves nobody once the host has another umask', async () => {
    await withTempDir(async (cwd) => {
      prepareWarmShells({ cwd, env }, 1);
      const before = process.umask(0o077);
      try {
        const { stdout } = await runCommand({
          ...base(cwd),
          command: 'umask; : >new; stat -c %a new',
        });
        expect(stdout).toBe('0077\n600\n');
      } finally {
        process.umask(before);
      }
    });
  });

  it('that was killed serves nobody', async () => {
    await withTempDir(async (cwd) => {
      prepareWarmShells({ cwd, env }, 1);
      for (const pid of shellsOfHost()) {
        process.kill(pid, 'SIGKILL');
        // Without letting Node hear of it.
        while (isRunning(pid));
      }
      const { ending, stdout } = await runCommand({ ...base(cwd), command: 'echo ran' });
      expect({ ending, stdout }).toEqual({ ending: 'exit', stdout: 'ran\n' });
    });
  });

  it('is not started where the directory cannot be entered', async () => {
    await withTempDir(async (cwd) => {
      await chmod(cwd, 0o755);
      prepareWarmShells({ cwd: path.join(cwd, 'none'), env }, 1);
      expect(countWarmShells()).toBe(0);
    });
  });
});

describe('isSimpleCommand', () => {
  it.each([
    './a',
    'node x.mjs',
    '"${GEMINI_PROJECT_DIR}/a b" c',
    "python3 'a b.py' --x=1",
    '/usr/bin/env FOO=bar a',
  ])('is true of %s', (command) => expect(isSimpleCommand(command)).toBe(true));

  it.each([
    '',
    'echo a',
    'exit 2',
    '. ./a',
    'FOO=bar ./a',
    './a | ./b',
    './a; ./b',
    './a && ./b',
    './a &',
    './a > b',
    './a $HOME',
    './a *',
    './a ~/b',
    './a {1,2}',
    '$(a)',
    '`a`',
    './a "$(b)"',
    './a "`b`"',
    './a "!b"',
    './a \\b',
    './a # b',
    './a\n./b',
    "./a 'b",
    '(./a)',
    '! ./a',
    '"echo" a',
    'if true',
  ])('is false of %s', (command) => expect(isSimpleCommand(command)).toBe(false));
});

function withoutRun({ stdout = '' }: Partial<CommandOutcome>): string {
  return stdout.replace(/HOOKSTACK_RUN_ID=[\w/-]+/, '');
}
