import { randomUUID } from 'node:crypto';
import { openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { statsOf } from '../../util/paths.js';
import {
  changesBash,
  executionOf,
  findOnPath,
  isItself,
  type Execution,
  type StartOptions,
} from './execution.js';
import { resolveShell } from './findProgram.js';
import type { Extras } from './runningCommand.js';

/**
 * What bash sources first, by way of BASH_ENV: it waits for the word to go, and leaves nothing of itself behind. After a
 * call, `$_` is its last word, so it stays what it was. At the end of the input, when the host has ended, bash does so too.
 */
const GATE = [
  '__hookstack() {',
  'local __hookstack_go',
  '[[ ! ${__hookstack_probe-} ]] || printf . >&3',
  "IFS= read -r -d '' -u 3 __hookstack_go || exit",
  'exec 3<&- 4<&-',
  '[[ ! ${__hookstack_name-} ]] || { printf %s "$__hookstack_name" >/proc/self/comm; } 2>/dev/null',
  'unset -f __hookstack',
  'unset -v BASH_ENV "${!__hookstack_@}"',
  'SECONDS=0',
  '}',
  '__hookstack "$_"',
].join('\n');

/** The word to go. */
export const GO = '\0';

/** What makes it write to the pipe once it waits. */
export const PROBE = { __hookstack_probe: '1' };

/**
 * With what bash waits at the gate: a pipe for the word to go, and the gate as a file that nobody can change, without a
 * name, so that nothing is left of it.
 *
 * @throws the system's error, where there is no room for a file
 */
export function writeGate(): Extras {
  const file = path.join(tmpdir(), `hookstack-${randomUUID()}`);
  const opened = openSync(file, 'wx+', 0o600);
  unlinkSync(file);
  if (writeSync(opened, GATE) < Buffer.byteLength(GATE)) throw new Error('there is no room for it');
  return {
    variables: { BASH_ENV: '/dev/fd/4' },
    pipes: ['pipe', 'pipe', 'pipe', 'pipe', opened],
  };
}

/**
 * What is executed for a command, where that is bash itself, which can wait at the gate: with a line, a script that is
 * named, or one with `#!`. Only the bash of the place is asked whether it waits, and without the variables of a command.
 */
export function readByBash(options: StartOptions): Execution | undefined {
  const { args, env, extraEnv = {} } = options;
  if (args || changesBash(options) || !isItself()) return undefined;
  const { file, isBash } = resolveShell(env['PATH']);
  const isOther = extraEnv['PATH'] !== undefined && resolveShell(extraEnv['PATH']).file !== file;
  if (!isBash || isOther || Object.keys(extraEnv).some((name) => CHANGING_LOADER.test(name)))
    return undefined;
  const execution = executionOf(options);
  return isReadBy(file, execution, options) ? execution : undefined;
}

/**
 * What is executed for a script that is to wait at the gate: bash itself, as its first line would have it, and under the
 * name that the system gives a script. Until the system executes a script, somebody may have put one of another program in
 * its place, which would not wait.
 */
export function heldByBash(
  { env }: StartOptions,
  { file, args, variables, shebang: [program = ''] = [] }: Execution,
): Execution {
  const isByEnv = program === ENV;
  return {
    file: resolveShell(env['PATH']).file,
    args: [file, ...args],
    argv0: isByEnv ? 'bash' : program,
    variables: isByEnv ? variables : { ...variables, __hookstack_name: path.basename(file) },
  };
}

const ENV = '/usr/bin/env';

/** What the system loads into a program. */
const CHANGING_LOADER = /^(?:LD|DYLD)_|^GLIBC_TUNABLES$/;

function isReadBy(shell: string, execution: Execution, options: StartOptions): boolean {
  const { file, args, variables, shebang = [] } = execution;
  if (!variables) return file === shell;
  // What begins so is an option, and some of them change what bash reads first.
  if (leadsTo(shell, file)) return args[0] !== undefined && !/^(?:[-+]|$)/.test(args[0]);
  const [program = '', word = '', ...more] = shebang;
  if (program !== ENV) return word === '' && leadsTo(shell, program);
  // That looks in relative entries, too.
  const searchPath = options.extraEnv?.['PATH'] ?? options.env['PATH'] ?? '';
  return word === 'bash' && more.length === 0 && findOnPath('bash', searchPath) === shell;
}

/** By a path that leads to the same file. */
function leadsTo(shell: string, program: string): boolean {
  if (program === shell) return true;
  if (!path.isAbsolute(program) || path.basename(program) !== 'bash') return false;
  // What a script names may be anything: nothing at all, a link to itself, or a name that no file can have.
  const [one, other] = [statsOf(program), statsOf(shell)];
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}
