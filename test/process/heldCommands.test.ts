import { spawn } from 'node:child_process';
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CommandOptions, CommandOutcome } from '../../src/process/command/outcome.js';
import { runCommand } from '../../src/process/command/runCommand.js';
import { resolveShell } from '../../src/process/command/findProgram.js';
import { Bursts } from '../../src/process/spawner/bursts.js';
import { splitSimpleCommand } from '../../src/shell/shellWords.js';
import {
  countHeld,
  dropHeld,
  holdable,
  holdNext,
  waitsAtGate,
} from '../../src/process/command/heldCommands.js';
import { countResources } from '../helpers/countResources.js';
import { isRunning, withTempDir } from './helpers.js';

afterEach(() => dropHeld());

const WAIT = { timeout: 10_000 };
const BASH = resolveShell(process.env['PATH']).file;

const PROBE = `#!/bin/bash
echo "$_ $((SECONDS / 30)) $BASH $BASH_SOURCE $BASH_ENV $SHLVL"
env | sort | sed 's/^\\(HOOKSTACK_RUN_ID\\)=.*/\\1/'
ls -l /proc/self/fd | awk '{ print $9, $11 }' | sed 's/[0-9][0-9]*/N/2g; s/\\[.*//; s/[0-9]*.fd$//'
ps -o pgid=,sid=,comm= -p $$ | awk '{ print $1 == $2, $3 }'
printf '%s|' "$0" "$-" "$(umask)" "$#" "$@"
ulimit -a; trap; pwd; cat`;

/** Starts itself again and again, up to its time limit. */
const ENDLESS = 'bash -c "${BASH_EXECUTION_STRING}"';

const env = { ...process.env, _: undefined, CI_MARK: 'as it is', REPLY: 'kept' };

/** By a shell, as a person would; by itself; and started ahead, where that is possible. */
async function runAllWays(
  command: string,
  cwd: string,
  extraEnv: Record<string, string> = {},
  timeoutMs = 10_000,
): Promise<Record<'inShell' | 'cold' | 'ahead', Partial<CommandOutcome>>> {
  const input = Buffer.from('the input\n');
  const inProject = { ...env, LLXPRT_PROJECT_DIR: cwd };
  const options = { command, cwd, env: inProject, extraEnv, input, timeoutMs };
  const inShell = await runCommand({ ...options, command: BASH, args: ['-c', command] });
  const cold = await runCommand(options);
  const toBeHeld = holdable(options);
  if (toBeHeld) holdNext(options, [toBeHeld]);
  const starts = countResources('PROCESSWRAP');
  const ahead = await runCommand(options);
  const started = starts();
  if (toBeHeld) expect(started, 'what was started ahead was used').toBe(0);
  return { inShell: withoutTime(inShell), cold: withoutTime(cold), ahead: withoutTime(ahead) };
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

describe('a command that is executed without a shell, or was started ahead', () => {
  it.each([
    './probe',
    './by-env one two',
    'echo "$_"; set -- a; ./by-env "$_"',
    'echo "$((SECONDS / 30)) $BASHPID" | cut -d" " -f1; declare -f; compgen -v | grep -c hookstack',
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
      const byEnv = PROBE.replace('/bin/bash', '/usr/bin/env bash');
      await writeFile(path.join(cwd, 'by-env'), byEnv, { mode: 0o755 });
      await writeFile(path.join(cwd, 'dies'), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
      await writeFile(path.join(cwd, 'bad-interpreter'), '#!/no/such\n', { mode: 0o755 });
      await writeFile(path.join(cwd, 'no-shebang'), 'echo "$0 $#"', { mode: 0o755 });
      await writeFile(path.join(cwd, 'empty'), '', { mode: 0o755 });
      await writeFile(path.join(cwd, 'not-executable'), 'echo no', { mode: 0o644 });
      const timeoutMs = command === ENDLESS ? 2_000 : undefined;
      const { inShell, cold, ahead } = await runAllWays(command, cwd, {}, timeoutMs);
      expect(cold).toEqual(inShell);
      expect(ahead).toEqual(inShell);
    });
  });

  it('becomes a program with the same environment, in whatever order', async () => {
    await withTempDir(async (cwd) => {
      const { inShell, cold, ahead } = await runAllWays('env', cwd);
      expect(variablesIn(cold)).toEqual(variablesIn(inShell));
      expect(variablesIn(ahead)).toEqual(variablesIn(inShell));
    });
  });

  it('gets its own variables, whatever they hold', async () => {
    await withTempDir(async (cwd) => {
      const extraEnv = { STYLE: 'a\nb $(touch pwned) "\'\\', CI_MARK: 'another' };
      const command = 'env -0 | sort -z | tr -d "\\0"';
      const { inShell, cold, ahead } = await runAllWays(command, cwd, extraEnv);
      expect(withoutRun(cold)).toEqual(withoutRun(inShell));
      expect(withoutRun(ahead)).toEqual(withoutRun(inShell));
    });
  });

  it('is heard to the end, though Node hears of its exit before it reads', async () => {
    await withTempDir(async (cwd) => {
      const run = expecting('until [ -e go ]; do :; done; echo answer', cwd);
      const [shell] = shellsOfHost();
      const outcome = run();
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
      const run = expecting('sleep 300 & echo $!; exec sleep 300', cwd);
      const outcome = await run({ timeoutMs: 300 });
      expect(outcome.ending).toBe('timeout');
      await vi.waitFor(() => expect(isRunning(Number(outcome.stdout))).toBe(false));
    });
  });
});

/** The shells that this process has started. */
function shellsOfHost(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8');
  const pids = children.trim().split(' ').filter(Boolean).map(Number);
  return pids.filter((pid) => path.basename(readlinkSync(`/proc/${pid}/exe`)) === 'bash');
}

function base(cwd: string) {
  return { cwd, env, input: Buffer.from(''), timeoutMs: 10_000 };
}

/** So many of a command. */
function hold(place: { cwd: string; env: NodeJS.ProcessEnv }, count = 1, command = ANY): void {
  const toBeHeld = holdable({ ...place, command });
  const wanted = Array.from({ length: count }, () => toBeHeld).filter((each) => each !== undefined);
  while (holdNext(place, wanted));
}

const ANY = 'echo "$CI_MARK"; /bin/pwd -P; umask; : >new; stat -c %a new';

describe('a command that is held', () => {
  it('serves no other directory, environment, or directory of the same name', async () => {
    await withTempDir(async (parent) => {
      const cwd = path.join(parent, 'project');
      await mkdir(cwd);
      hold({ cwd, env });
      await runCommand({ ...base(parent), command: ANY });
      expect(countHeld()).toBe(1);
      const changed = { ...base(cwd), env: { ...env, CI_MARK: 'changed' } };
      const { stdout } = await runCommand({ ...changed, command: ANY });
      expect(stdout).toMatch(/^changed\n/);
      expect(countHeld()).toBe(0);
      hold({ cwd, env });
      await rename(cwd, `${cwd}-before`);
      await mkdir(cwd);
      await runCommand({ ...base(cwd), command: ANY });
      expect(await readdir(cwd)).toEqual(['new']);
    });
  });

  it('is let go once others with a changed environment are there', async () => {
    await withTempDir(async (cwd) => {
      hold({ cwd, env }, 2);
      hold({ cwd, env: { ...env, CI_MARK: 'changed' } });
      expect(countHeld(cwd)).toBe(1);
      const changed = { ...base(cwd), command: ANY, env: { ...env, CI_MARK: 'changed' } };
      expect((await runCommand(changed)).stdout).toMatch(/^changed\n/);
      expect(countHeld(cwd)).toBe(0);
    });
  });

  it('serves no directory that has gone', async () => {
    await withTempDir(async (parent) => {
      const cwd = path.join(parent, 'project');
      await mkdir(cwd);
      hold({ cwd, env });
      await rm(cwd, { recursive: true });
      const outcome = await runCommand({ ...base(cwd), command: ANY });
      expect(outcome.ending).toBe('spawn-failed');
    });
  });

  it('is one of no more than asked for, and is let go', async () => {
    await withTempDir(async (cwd) => {
      hold({ cwd, env }, 3);
      expect(countHeld()).toBe(3);
      hold({ cwd, env }, 2);
      expect(countHeld()).toBe(2);
      hold({ cwd, env }, 100);
      expect(countHeld()).toBe(32);
      dropHeld(cwd);
      expect(countHeld()).toBe(0);
    });
  });

  it.each([
    ['an exported function', { 'BASH_FUNC_cat%%': '() {  echo function\n}' }],
    ['options of the shell', { SHELLOPTS: 'xtrace' }],
    ['a library to be loaded first', { LD_PRELOAD: '/no/such.so' }],
    ['a limit to how long it may read', { TMOUT: '30' }],
  ])('is not started with %s in the environment', async (_what, more) => {
    await withTempDir(async (cwd) => {
      hold({ cwd, env: { ...env, ...more } });
      expect(countHeld()).toBe(0);
    });
  });

  it('is let go, and not started again, when bash has something to say by itself', async () => {
    await withTempDir(async (cwd) => {
      const missing = { ...env, LC_ALL: 'no_SUCH.locale' };
      hold({ cwd, env: missing }, 2);
      await vi.waitFor(() => expect(countHeld()).toBe(0));
      hold({ cwd, env: missing }, 2);
      expect(countHeld()).toBe(0);
    });
  });

  it('serves nobody once the host has another umask', async () => {
    await withTempDir(async (cwd) => {
      hold({ cwd, env });
      const before = process.umask(0o077);
      try {
        const { stdout } = await runCommand({ ...base(cwd), command: ANY });
        expect(stdout).toMatch(/\n0077\n600\n$/);
      } finally {
        process.umask(before);
      }
    });
  });

  it('that was killed serves nobody', async () => {
    await withTempDir(async (cwd) => {
      hold({ cwd, env });
      for (const pid of shellsOfHost()) {
        process.kill(pid, 'SIGKILL');
        // Without letting Node hear of it.
        while (isRunning(pid));
      }
      const { ending, stdout } = await runCommand({ ...base(cwd), command: ANY });
      expect(ending).toBe('exit');
      expect(stdout).toMatch(/^as it is\n/);
    });
  });

  it('goes on where somebody has stopped it', async () => {
    await withTempDir(async (cwd) => {
      hold({ cwd, env });
      for (const pid of shellsOfHost()) process.kill(pid, 'SIGSTOP');
      const { ending, stdout } = await runCommand({ ...base(cwd), command: ANY });
      expect(ending).toBe('exit');
      expect(stdout).toMatch(/^as it is\n/);
    });
  });

  it('is not started where the directory cannot be entered', async () => {
    await withTempDir(async (cwd) => {
      await chmod(cwd, 0o755);
      hold({ cwd: path.join(cwd, 'none'), env });
      expect(countHeld()).toBe(0);
    });
  });
});

describe('a command that bash reads', () => {
  it.each(['bash script', './script', '/bin/bash ./script', '. ./script', 'true; ./script'])(
    'reads nothing of it before it is told to go: %s',
    async (command) => {
      await withTempDir(async (cwd) => {
        await writeScript(cwd, '#!/bin/bash\n: > ran; echo early\n');
        const run = expecting(command, cwd);
        await untilHeld();
        await writeScript(
          cwd,
          '#!/bin/bash\necho "$((SECONDS / 30)) late"; [[ -e ran ]] && echo early\n',
        );
        const starts = countResources('PROCESSWRAP');
        expect((await run()).stdout).toBe('0 late\n');
        expect(starts()).toBe(0);
      });
    },
  );

  it.each([
    ['another program', '#!/bin/sh\necho "$0 $BASH_VERSION"\n', './script \n'],
    ['no program any more', 'echo no interpreter', 'no interpreter\n'],
  ])('lets go of a script that has become %s', async (_what, text, stdout) => {
    await withTempDir(async (cwd) => {
      await writeScript(cwd, '#!/usr/bin/env bash\necho before\n');
      const run = expecting('./script', cwd);
      await untilHeld();
      await writeScript(cwd, text);
      expect((await run()).stdout).toBe(stdout);
      expect(countHeld()).toBe(0);
    });
  });

  it('says what bash says of a script that has gone', async () => {
    await withTempDir(async (cwd) => {
      const script = await writeScript(cwd, 'echo');
      const run = expecting('bash ./script', cwd);
      await untilHeld();
      await rm(script);
      expect(await run()).toMatchObject({
        exitCode: 127,
        stderr: expect.stringMatching(/script: No such file or directory/) as string,
      });
    });
  });

  it('serves no other command, and not the same one with other variables', async () => {
    await withTempDir(async (cwd) => {
      expecting('echo $X; true', cwd, { X: '1' });
      const started = base(cwd);
      const others = [
        { command: 'echo $X' },
        { command: 'echo $X; true', extraEnv: { X: '2' } },
        { command: 'echo $X; true', args: [] },
      ];
      for (const other of others) await runCommand({ ...started, ...other });
      expect(countHeld()).toBe(1);
    });
  });

  it('is not told anything where bash is a script, which may change how bash begins', async () => {
    await withTempDir(async (cwd) => {
      const wrapper = '#!/bin/bash\nexport POSIXLY_CORRECT=1\nexec /bin/bash "$@"\n';
      await writeFile(path.join(cwd, 'bash'), wrapper, { mode: 0o755 });
      const place = { cwd, env: { ...env, PATH: `${cwd}:${process.env['PATH']}` } };
      for (const command of [': > early; true', 'bash ./x']) {
        expect(holdable({ ...place, command })).toBeUndefined();
      }
    });
  });

  it('is asked first to show that it waits, with a command that does nothing', async () => {
    await withTempDir(async (cwd) => {
      expect(waitsAtGate({ cwd, env })).toBeUndefined();
      await vi.waitFor(() => expect(waitsAtGate({ cwd, env })).toBe(true), WAIT);
      expect(countHeld()).toBe(0);
      await vi.waitFor(() => expect(shellsOfHost()).toEqual([]), WAIT);
    });
  });

  it('is not told anything any more after some that ended early', async () => {
    await withTempDir(async (cwd) => {
      await vi.waitFor(() => expect(waitsAtGate({ cwd, env })).toBe(true), WAIT);
      for (let round = 0; round < 4; round++) {
        expect(waitsAtGate({ cwd, env })).toBe(true);
        expecting('true; true', cwd);
        for (const pid of await untilHeld()) process.kill(pid, 'SIGKILL');
        await vi.waitFor(() => expect(countHeld()).toBe(0), WAIT);
      }
      expect(waitsAtGate({ cwd, env })).toBe(false);
    });
  });

  it.each(['POSIXLY_CORRECT', 'POSIX_PEDANTIC', 'TMOUT', '__hookstack_gate'])(
    'is not there for a command with a variable that changes how bash begins: %s',
    async (name) => {
      await withTempDir(async (cwd) => {
        const command = ': > early; true';
        const extraEnv = { [name]: '1' };
        expect(holdable({ ...base(cwd), command, extraEnv })).toBeUndefined();
        expect(waitsAtGate({ cwd, env: { ...env, POSIX_PEDANTIC: '1' } })).toBe(false);
        const counting = { ...env, SECONDS: '100' };
        expect(holdable({ ...base(cwd), command, env: counting })).toBeUndefined();
      });
    },
  );

  it('looks at the first line of the script that would run', async () => {
    await withTempDir(async (parent) => {
      const cwd = path.join(parent, 'project');
      await mkdir(path.join(parent, 'other/sub'), { recursive: true });
      await mkdir(cwd);
      await symlink(path.join(parent, 'other/sub'), path.join(cwd, 'link'));
      await writeFile(path.join(cwd, 'x'), '#!/bin/bash\n', { mode: 0o755 });
      await writeFile(path.join(parent, 'other/x'), '#!/bin/sh\n', { mode: 0o755 });
      expect(holdable({ ...base(cwd), command: 'link/../x' })).toBeUndefined();
      expect(holdable({ ...base(cwd), command: './x' })).toBeDefined();
    });
  });

  it('ends when its host lets go of it', async () => {
    await withTempDir(async (cwd) => {
      expecting('sleep 300; true', cwd);
      const [pid = 0] = await untilHeld();
      dropHeld();
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
    });
  });

  it.each([
    'node script.mjs',
    './script.py',
    'bash',
    'bash -x script',
    'bash +e script',
    'bash --posix script',
    'sh script',
  ])('is there for what bash reads alone, and not for: %s', async (command) => {
    await withTempDir(async (cwd) => {
      const file = path.join(cwd, 'script.py');
      await writeFile(file, '#!/usr/bin/env python3\n', { mode: 0o755 });
      expect(holdable({ ...base(cwd), command })).toBeUndefined();
    });
  });
});

describe('a command that only looks like one that the system executes', () => {
  it.each([
    ['a program for another processor', (own: Buffer) => withByte(own, 18, 0xb7)],
    ['a program of which there is only a beginning', (own: Buffer) => own.subarray(0, 40)],
    ['a program of another system', () => binary('cffaedfe', '\nexit 2')],
    ['a class of Java', () => binary('cafebabe00000034', '\nexit 2')],
    ['a script that names nothing', () => Buffer.from('#!\n[[ 1 ]] && exit 3\n')],
    ['a script whose interpreter is text', () => Buffer.from('#!/etc/passwd\nexit 3\n')],
    ['a script with an impossible interpreter', () => Buffer.from('#!/tmp/\0/bash\nexit 3\n')],
    ['a script whose interpreter leads in a circle', () => Buffer.from('#!./loop/bash\n')],
  ])('ends as with a shell: %s', async (_what, contentOf) => {
    await withTempDir(async (cwd) => {
      await symlink('loop', path.join(cwd, 'loop'));
      await writeFile(path.join(cwd, 'x'), contentOf(await readFile(BASH)), { mode: 0o755 });
      const { inShell, cold, ahead } = await runAllWays('./x', cwd);
      expect(cold).toEqual(inShell);
      expect(ahead).toEqual(inShell);
    });
  });

  it.each([
    ['a job', '%/x', {}],
    ['a reference to nothing', '/bin/echo "${CLAUDE_PROJECT_DIR}/x"', {}],
    ['a former directory that leads in a circle', './%/x', { OLDPWD: 'loop' }],
    ['a former directory with an impossible name', './%/x', { OLDPWD: '/'.padEnd(300, 'x') }],
    ['a former directory that is relative', '/usr/bin/printenv OLDPWD', { OLDPWD: '%' }],
    ['a PATH that leads through a link', 'x', { PATH: 'link/..:', inside: 'yes' }],
    [
      'a variable that bash sets',
      '/usr/bin/printenv PS4 IFS OPTIND',
      { PS4: 'a', IFS: '', OPTIND: '7' },
    ],
    ['a variable that bash drops', '/usr/bin/printenv PS1 PS2', { PS1: 'a', PS2: 'b' }],
  ])(
    'is in no way different with %s',
    async (_what, command, { inside, ...extraEnv }: Record<string, string>) => {
      await withTempDir(async (cwd) => {
        const script = '#!/bin/sh\necho "$0"\n';
        await mkdir(path.join(cwd, '%/sub'), { recursive: true });
        await symlink('%/sub', path.join(cwd, 'link'));
        await symlink('loop', path.join(cwd, 'loop'));
        await writeFile(path.join(cwd, '%/x'), script, { mode: 0o755 });
        await writeFile(path.join(cwd, 'x'), script, { mode: 0o755 });
        if (inside) extraEnv['PATH'] = `${cwd}/${extraEnv['PATH']}${process.env['PATH']}`;
        const { inShell, cold, ahead } = await runAllWays(command, cwd, extraEnv);
        expect(cold).toEqual(inShell);
        expect(ahead).toEqual(inShell);
      });
    },
  );
});

function withByte(bytes: Buffer, at: number, byte: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = byte;
  return changed;
}

function binary(magic: string, text: string): Buffer {
  return Buffer.concat([Buffer.from(magic, 'hex'), Buffer.from(text.padEnd(100))]);
}

describe('what would run before its event', () => {
  it.each([
    [
      'a bash of the hook that is another shell',
      (cwd: string) => `${cwd}/bin:${process.env['PATH']}`,
    ],
    ['a bash of the project', () => `bin:${process.env['PATH']}`],
  ])('is not started ahead: %s', async (_what, searchPath) => {
    await withTempDir(async (cwd) => {
      await mkdir(path.join(cwd, 'bin'));
      await symlink('/bin/sh', path.join(cwd, 'bin/bash'));
      await writeScript(cwd, '#!/usr/bin/env bash\n');
      const extraEnv = { PATH: searchPath(cwd) };
      expect(holdable({ ...base(cwd), command: './script', extraEnv })).toBeUndefined();
      const place = { cwd, env: { ...env, ...extraEnv } };
      const isOther = path.isAbsolute(extraEnv.PATH);
      if (isOther) {
        expect(holdable({ ...base(cwd), command: ': > early; true', extraEnv })).toBeUndefined();
        expect(waitsAtGate(place)).toBeUndefined();
        await vi.waitFor(() => expect(waitsAtGate(place)).toBe(false), WAIT);
      } else expect(holdable({ ...place, command: './script' })).toBeUndefined();
    });
  });

  it.each(['LD_LIBRARY_PATH', 'LD_AUDIT', 'GLIBC_TUNABLES'])(
    'is not started ahead with a variable that changes what is loaded: %s',
    async (name) => {
      await withTempDir(async (cwd) => {
        const extraEnv = { [name]: '/no/such' };
        expect(holdable({ ...base(cwd), command: 'true; true', extraEnv })).toBeUndefined();
      });
    },
  );

  it('is not started ahead where a script has become another program meanwhile', async () => {
    await withTempDir(async (cwd) => {
      await writeScript(cwd, '#!/bin/bash\n');
      const found = holdable({ ...base(cwd), command: './script' });
      await writeScript(cwd, '#!/bin/sh\n: > early\n');
      expect(holdNext({ cwd, env }, [found!])).toBe(false);
      expect(countHeld()).toBe(0);
      expect(shellsOfHost()).toEqual([]);
    });
  });

  it('runs nothing at once, whatever takes the place of its script while it starts', async () => {
    await withTempDir(async (cwd) => {
      const swapping = String.raw`
        printf '#!/usr/bin/env bash\n:' > own; printf '#!/bin/sh\n: > ran\n' > other
        chmod 755 own other
        while :; do ln -f other new; mv -f new script; ln -f own new; mv -f new script; done`;
      await writeFile(path.join(cwd, 'script'), '#!/usr/bin/env bash\n:', { mode: 0o755 });
      const command = holdable({ command: './script', cwd, env });
      const swapper = spawn('bash', ['-c', swapping], { cwd });
      try {
        for (let left = 300; left > 0; left--) {
          holdNext({ cwd, env }, command ? [command] : []);
          dropHeld();
          await new Promise(setImmediate);
        }
      } finally {
        swapper.kill('SIGKILL');
      }
      expect(command).toBeDefined();
      expect(await readdir(cwd)).not.toContain('ran');
    });
  });

  it('is held again and again, whatever a script names', async () => {
    await withTempDir(async (cwd) => {
      await writeScript(cwd, '#!/tmp/\0/bash\n');
      const bursts = new Bursts();
      bursts.noteUse({ command: './script', cwd, env }, 1, 0);
      bursts.noteUse({ command: 'true; true', cwd, env }, 1, 0);
      await vi.waitFor(() => expect(countHeld(cwd)).toBe(1), WAIT);
    });
  });

  it('serves nobody once the name that it has for its directory leads elsewhere', async () => {
    await withTempDir(async (cwd) => {
      const [link, elsewhere] = [path.join(cwd, 'link'), path.join(cwd, 'elsewhere')];
      await mkdir(elsewhere);
      await symlink('.', link);
      const place = { ...base(cwd), env: { ...env, PWD: link } };
      hold(place, 1, 'echo "$PWD"; true');
      await rm(link);
      await symlink('elsewhere', link);
      const { stdout } = await runCommand({ ...place, command: 'echo "$PWD"; true' });
      expect(stdout).toBe(`${cwd}\n`);
    });
  });
});

/** Holds a command, and returns what runs it. */
function expecting(command: string, cwd: string, extraEnv: Record<string, string> = {}) {
  const options = { ...base(cwd), command, extraEnv };
  const toBeHeld = holdable(options);
  if (toBeHeld) holdNext({ cwd, env }, [toBeHeld]);
  return (more: Partial<CommandOptions> = {}) => runCommand({ ...options, ...more });
}

async function writeScript(cwd: string, text: string): Promise<string> {
  await writeFile(path.join(cwd, 'script'), text, { mode: 0o755 });
  return path.join(cwd, 'script');
}

/** Waits until all that is held has reached the gate, and returns the pids. */
function untilHeld(): Promise<number[]> {
  return vi.waitFor(() => {
    const pids = shellsOfHost();
    // Bash has opened the gate as a file of its own, and waits for the word in it.
    for (const pid of pids)
      expect(readFileSync(`/proc/${pid}/wchan`, 'utf8')).toMatch(/poll|skb|sock|unix|recv|read/);
    expect(pids.length).toBeGreaterThan(0);
    return pids;
  }, WAIT);
}

describe('splitSimpleCommand', () => {
  it.each([
    './a',
    'node x.mjs',
    '"${GEMINI_PROJECT_DIR}/a b" c',
    "python3 'a b.py' --x=1",
    '/usr/bin/env FOO=bar a',
  ])('splits %s', (command) => expect(splitSimpleCommand(command)).toBeDefined());

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
    './a\r',
    '\v./a',
    "./a 'b",
    '(./a)',
    '! ./a',
    '"echo" a',
    'if true',
  ])('splits no %s', (command) => expect(splitSimpleCommand(command)).toBeUndefined());
});

function withoutRun({ stdout = '' }: Partial<CommandOutcome>): string {
  return stdout.replace(/HOOKSTACK_RUN_ID=[\w/-]+/, '');
}
