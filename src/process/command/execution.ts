import path from 'node:path';
import { expandWord, PROJECT_NAMES } from '../../shell/expandCommand.js';
import { readShebang } from '../../shell/shebang.js';
import { splitSimpleCommand } from '../../shell/shellWords.js';
import { readStart } from '../../util/guardedRead.js';
import { orUndefined, realPathOf, statsOf } from '../../util/paths.js';
import { hostEnvironment } from '../../util/requester.js';
import { findProgram, isExecutable, resolveShell, safeSearchPath } from './findProgram.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** What to start, and where. */
export interface StartOptions {
  /** The shell command; see `expandCommand` for references to the project. Beside `args` the program. */
  readonly command: string;
  /** The arguments of a program that is started without a shell. */
  readonly args?: readonly string[];
  readonly cwd: string;
  /**
   * The environment, of which nothing is inherited on top. `BASH_ENV` and `ENV` are dropped, since they name files that
   * a shell runs first, and `SHLVL` and `HOOKSTACK_RUN_ID` are set.
   */
  readonly env: Environment;
  /** Variables of this command alone, on top of those. */
  readonly extraEnv?: Readonly<Record<string, string>>;
  /** Whether it may be started before there is an input for it. Default false. */
  readonly prestart?: boolean | undefined;
  /** The run by which its processes are found. Default: a new one. */
  readonly runId?: string | undefined;
}

type CommandLine = Pick<StartOptions, 'command' | 'args' | 'cwd' | 'env' | 'extraEnv'>;

/** What the system is asked to execute. */
export interface Execution {
  /** A path as the command has it, or an absolute one. */
  readonly file: string;
  readonly args: readonly string[];
  /** The name that the program finds as its own. */
  readonly argv0?: string | undefined;
  /** Where a program is executed without the shell that its command is for: what that would have set for it. */
  readonly variables?: Environment | undefined;
  /** The words of the program's first line, where that is `#!` and such a program. */
  readonly shebang?: readonly string[] | undefined;
}

/**
 * What is executed for a command: the program with `args`; else the program that the command names, where it is nothing
 * but a program with words; else the shell.
 *
 * @throws Error with the code `ENOENT` for a program with `args` that is not on the PATH
 */
export function executionOf(line: CommandLine): Execution {
  const { command, args } = line;
  if (args) return { file: locateProgram(command, searchPathOf(line)), args, argv0: command };
  return programOf(line) ?? inShell(line);
}

/** A file that the system does not execute goes to a shell, whose error messages people know. */
export function inShell(line: CommandLine): Execution {
  const { file, argumentsFor } = resolveShell(searchPathOf(line));
  return { file, args: argumentsFor(line.command) };
}

function searchPathOf({ cwd, env, extraEnv }: CommandLine): string {
  return extraEnv?.['PATH'] ?? env['PATH'] ?? safeSearchPath(hostEnvironment()['PATH'], cwd);
}

/**
 * Looks a program up as a shell would, but in no relative entry of the search path. A path stays as it is.
 *
 * @throws Error with the code `ENOENT`
 */
function locateProgram(program: string, searchPath: string): string {
  // On Windows, programs have extensions such as .exe, which the system adds.
  if (program.includes('/') || process.platform === 'win32') return program;
  const found = findProgram(program, searchPath);
  if (found !== undefined) return found;
  throw Object.assign(new Error(`${program} is not on the PATH`), { code: 'ENOENT' });
}

/**
 * The program that a shell would become, so that no shell is started: to start bash takes longer than most hooks.
 *
 * @returns `undefined` where a shell would do anything else, or when in doubt
 */
function programOf(line: CommandLine): Execution | undefined {
  const { command, cwd } = line;
  if (process.platform === 'win32' || changesBash(line) || !isItself()) return undefined;
  const words = splitSimpleCommand(command);
  if (!words) return undefined;
  const env = { ...line.env, ...line.extraEnv };
  const { PATH } = env;
  if (PATH === undefined || !resolveShell(PATH).isBash) return undefined;
  if (command.includes('$') && PROJECT.some((name) => env[name] === undefined)) return undefined;
  const [program = '', ...args] = words.map((word) => valueOf(word, env));
  const file = program.includes('/') ? program : findOnPath(program, PATH);
  const set = file === undefined ? undefined : asBashSets(file, cwd, env);
  if (file === undefined || !set) return undefined;
  const found = readProgram(inDirectory(file, cwd));
  return found && { file, args, argv0: program, variables: set, ...found };
}

/**
 * A program where every shell finds it. A relative entry is looked up by a shell, which tells of it in its own way, and `..`
 * after a link leads elsewhere than its text says.
 */
export function findOnPath(program: string, searchPath: string): string | undefined {
  const isPlain = searchPath
    .split(path.delimiter)
    .every((entry) => path.isAbsolute(entry) && path.normalize(entry) === entry);
  return isPlain ? findProgram(program, searchPath) : undefined;
}

/** `..` after a link leads elsewhere than its text says. */
function inDirectory(file: string, cwd: string): string {
  return path.isAbsolute(file) ? file : `${cwd}/${file}`;
}

/**
 * What the system executes by itself: a program for this machine, or `#!` and one. What it refuses, the C library would hand
 * to `sh`, whose exit code may be one that means something.
 */
function readProgram(file: string): Pick<Execution, 'shebang'> | undefined {
  if (!isExecutable(file)) return undefined;
  // A file that may be executed but not read is left to a shell.
  return orUndefined(() => {
    const shebang = readShebang(file);
    const [interpreter = ''] = shebang ?? [file];
    const isFound = !shebang || (path.isAbsolute(interpreter) && isExecutable(interpreter));
    return isFound && isNative(interpreter) ? { shebang } : undefined;
  });
}

/** Of an ELF file of 64 bits; those of Mach-O are shorter. */
const HEADER_BYTES = 64;
/** What tells a system and a processor in the header of an ELF file, and of one of Mach-O. */
const MACHINE = /^7f454c46(?<bits>.{4}).{24}(?<processor>.{4})|^cffaedfe(?<both>.{8})/;
/** One for several processors. In the place of their number, Java has its version, which is larger. */
const UNIVERSAL = /^cafebabe000000(?:0.|1[0-3])/;

/** Whether a file begins like a program for this machine, such as the one that runs. */
function isNative(file: string): boolean {
  const header = readStart(file, HEADER_BYTES).toString('hex');
  if (header.length < 2 * HEADER_BYTES) return false;
  if (process.platform === 'darwin' && UNIVERSAL.test(header)) return true;
  ownMachine ??= machineOf(readStart(process.execPath, HEADER_BYTES).toString('hex'));
  return ownMachine !== undefined && machineOf(header) === ownMachine;
}

let ownMachine: string | undefined;

function machineOf(header: string): string | undefined {
  return MACHINE.exec(header)?.slice(1).join(' ');
}

/** What bash sets in the environment of a program. `undefined` where that takes more than a look. */
function asBashSets(file: string, cwd: string, env: Environment): Environment | undefined {
  const { directory, isGone } = directoriesOf({ cwd, env });
  if (directory === undefined || path.normalize(directory) !== directory) return undefined;
  // bash sets these only in an interactive shell.
  const prompts = { PS1: undefined, PS2: undefined };
  return { _: file, PWD: directory, ...prompts, ...(isGone && { OLDPWD: undefined }) };
}

/** What bash calls its directory, and whether the one before is none any more: by the environment, and by what is there. */
export function directoriesOf({ cwd, env: { PWD, OLDPWD } }: Pick<CommandLine, 'cwd' | 'env'>) {
  const directory = PWD === cwd ? cwd : directoryFor(cwd, PWD);
  const previous = OLDPWD && statsOf(inDirectory(OLDPWD, cwd));
  const isGone = OLDPWD !== undefined && !(previous && previous.isDirectory());
  return { directory, isGone };
}

/** The name that it has in the environment, if it is one of it; else that of the system. */
function directoryFor(cwd: string, named = ''): string | undefined {
  const [here, there] = [statsOf(cwd), statsOf(named)];
  const isSame = here?.dev === there?.dev && here?.ino === there?.ino;
  return path.isAbsolute(named) && isSame ? named : realPathOf(cwd);
}

const PROJECT = PROJECT_NAMES.split('|');

/** Without its quotes, and with the project's directory in the place of a reference to it. */
function valueOf(word: string, variables: Environment): string {
  return word.replaceAll(
    /'([^']*)'|"([^"]*)"/g,
    (_all, single?: string, double = '') => single ?? expandWord(double, 'project', variables),
  );
}

/**
 * Variables that change what bash does or prints, how long it waits, or what it is told, such as exported functions, which
 * could stand in the place of a program; and those that it sets itself, or says something about, also where they came from
 * its host.
 */
const CHANGING_BASH =
  /^(?:|__hookstack.*|BASH|BASH_FUNC_.*|BASHOPTS|BASHPID|BASH_(?:ARGV0|COMMAND|COMPAT|EXECUTION_STRING|SUBSHELL|VERSINFO|VERSION|XTRACEFD)|COMP_WORDBREAKS|EPOCH(?:REALTIME|SECONDS)|HISTCMD|IFS|LD_PRELOAD|LINENO|OPTERR|OPTIND|POSIXLY_CORRECT|POSIX_PEDANTIC|PPID|PS4|SECONDS|SHELLOPTS|S?RANDOM|TMOUT)$/s;

const changing = new WeakMap<object, boolean>();

/** Whether an environment changes how bash begins, so that what it would do by itself is not known. */
export function changesBash({ env, extraEnv }: Pick<CommandLine, 'env' | 'extraEnv'>): boolean {
  return holdsChanging(env) || (extraEnv !== undefined && holdsChanging(extraEnv));
}

function holdsChanging(env: Environment): boolean {
  const holds =
    changing.get(env) ??
    Object.entries(env).some(([name, value]) => value !== undefined && CHANGING_BASH.test(name));
  changing.set(env, holds);
  return holds;
}

/** Else bash gives up the rights of somebody else that it was started with, and sources nothing. */
export function isItself(): boolean {
  return process.getuid?.() === process.geteuid?.() && process.getgid?.() === process.getegid?.();
}
