import { accessSync, constants, openSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { readShebang } from '../shell/shebang.js';
import { expandWord } from '../shell/expandCommand.js';
import { splitSimpleCommand } from '../shell/shellWords.js';
import { environmentOf, resolveShell, type StartOptions } from './startCommand.js';

/**
 * What a shell that waits for its word runs first: bash sources it by way of BASH_ENV, before it opens its script or
 * looks at its line. It waits until it is told to go, and leaves nothing of itself behind: after a call, `$_` is its last
 * word, so it stays what it was. A script that Linux starts by its first line has its own name in lists of processes. At
 * the end of the input, when the host has ended, the shell does so too.
 */
const GATE = [
  '__hookstack() {',
  'local __hookstack_go',
  '[[ ! ${__hookstack_probe-} ]] || printf . >&3',
  "IFS= read -r -d '' -u 3 __hookstack_go || exit",
  'exec 3<&- 4<&-',
  '[[ ! ${__hookstack_comm-} ]] || printf %s "$__hookstack_comm" 2>/dev/null >/proc/self/comm',
  'unset -f __hookstack',
  'unset -v BASH_ENV "${!__hookstack_@}"',
  'SECONDS=0',
  '}',
  '__hookstack "${__hookstack_last-$_}"',
].join('\n');

/** How a command is run by bash itself: as a line, as a script that is named, or as one that begins with `#!`. */
export interface OwnBash {
  /** What the shell is told about it, as variables that the gate unsets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether it would still be run so. */
  readonly isStill: () => boolean;
}

/**
 * Finds out whether bash itself reads what a command is, so that it can be started ahead up to there: the line or the
 * script is read when its event comes, and nothing of it before.
 *
 * @returns `undefined` for a command that is another program, or may be one
 */
export function findOwnBash(options: StartOptions): OwnBash | undefined {
  const variables = environmentOf(options, '');
  const shell = resolveShell(options.env['PATH']).file;
  // Bash counts on from what it finds there.
  const isCounting = variables['SECONDS'] !== undefined;
  if (options.args || isCounting || !isItself() || isScript(shell)) return undefined;
  const words = splitSimpleCommand(options.command);
  if (!words) return asBash({});
  const [program = '', script = ''] = words.slice(0, 2).map((word) => valueOf(word, variables));
  // What begins so is an option, and some of them change what bash reads first.
  if (isBash(program, shell)) {
    if (/^(?:[-+]|$)/.test(script)) return undefined;
    const last = program.includes('/') ? program : shell;
    return asBash({ kind: 'bash', name: program, last });
  }
  return /^[^-+].*\//.test(program) ? scriptOf(program, shell, options.cwd) : undefined;
}

function scriptOf(program: string, shell: string, cwd: string): OwnBash | undefined {
  // `..` after a link leads elsewhere than its text says.
  const file = path.isAbsolute(program) ? program : `${cwd}/${program}`;
  const name = interpreterOf(file, shell);
  if (name === undefined) return undefined;
  // Where Linux starts bash itself, it names the process by the script, and `env` by bash.
  const comm = name === 'bash' ? '' : path.basename(program);
  const isStill = () => interpreterOf(file, shell) === name;
  return asBash({ kind: 'script', name, last: program, comm }, isStill);
}

/** The name by which a script is run by the shell that waits; `undefined` where that does not run it. */
function interpreterOf(file: string, shell: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    const [program = '', word = '', ...more] = readShebang(file) ?? [];
    if (program === '/usr/bin/env') return word === 'bash' && more.length === 0 ? word : undefined;
    return path.isAbsolute(program) && word === '' && isBash(program, shell) ? program : undefined;
  } catch {
    return undefined;
  }
}

/** By the search path of the hook, or by a path that leads to the same file. */
function isBash(program: string, shell: string): boolean {
  if (program === 'bash' || program === shell) return true;
  if (!path.isAbsolute(program) || path.basename(program) !== 'bash') return false;
  try {
    const [one, other] = [statSync(program), statSync(shell)];
    return one.dev === other.dev && one.ino === other.ino;
  } catch {
    return false;
  }
}

/** Without its quotes, and with the project's directory in the place of a reference to it. */
function valueOf(word: string, variables: Readonly<Record<string, string | undefined>>): string {
  return word.replaceAll(
    /'([^']*)'|"([^"]*)"/g,
    (_all, single?: string, double = '') => single ?? expandWord(double, 'project', variables),
  );
}

function asBash(facts: Readonly<Record<string, string>>, isStill = () => true): OwnBash {
  const own = Object.entries(facts).map(([name, value]) => [`__hookstack_${name}`, value]);
  return { variables: { __hookstack_gate: '1', ...Object.fromEntries(own) }, isStill };
}

/** With the rights of somebody else, bash sources nothing. */
function isItself(): boolean {
  return process.getuid?.() === process.geteuid?.() && process.getgid?.() === process.getegid?.();
}

/** Such as one that sets variables for the shell that it starts: then that is not what is waiting. */
function isScript(shell: string): boolean {
  try {
    return readShebang(shell) !== undefined;
  } catch {
    return true;
  }
}

/**
 * The gate as a file that nobody can change, for each shell that waits in it to inherit: without a name, so that nothing
 * is left of it. `undefined` where there is no room for one.
 */
export function gateDescriptor(): number | undefined {
  try {
    descriptor ??= openGate();
  } catch {
    return undefined;
  }
  return descriptor;
}

let descriptor: number | undefined;

function openGate(): number {
  const file = path.join(tmpdir(), `hookstack-${randomUUID()}`);
  const opened = openSync(file, 'wx+', 0o600);
  unlinkSync(file);
  if (writeSync(opened, GATE) < Buffer.byteLength(GATE)) throw new Error('there is no room for it');
  return opened;
}
