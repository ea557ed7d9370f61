import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { expandWord } from '../shell/expandCommand.js';
import { splitSimpleCommand } from '../shell/shellWords.js';
import { readStart } from '../util/guardedRead.js';
import { hostEnvironment } from '../util/surroundings.js';
import { findProgram, isExecutable, safeSearchPath } from './findProgram.js';
import { resolveShell } from './resolveShell.js';

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
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables of this command alone, on top of those. */
  readonly extraEnv?: Readonly<Record<string, string>>;
  /** The run by which its processes are found. Default: a new one. */
  readonly runId?: string;
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

/** For what the system does not execute by itself a shell has messages that people know. */
export function inShell(line: CommandLine): Execution {
  const { file, argumentsFor } = resolveShell(searchPathOf(line));
  return { file, args: argumentsFor?.(line.command) ?? ['-c', line.command] };
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
  // Names of programs have extensions of their own there.
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
  if (process.platform === 'win32' || changesBash(line)) return undefined;
  const words = splitSimpleCommand(command);
  const env = { ...line.env, ...line.extraEnv };
  const { PATH } = env;
  if (!words || PATH === undefined || !isBash(resolveShell(PATH).file)) return undefined;
  const [program = '', ...args] = words.map((word) => valueOf(word, env));
  const file = program.includes('/') ? program : findOnPath(program, PATH);
  const variables = file === undefined ? undefined : asBashSets(file, cwd, env);
  if (file === undefined || !variables || !isProgram(inDirectory(file, cwd))) return undefined;
  return { file, args, argv0: program, variables };
}

/** A relative entry is looked up by a shell, which tells of it in its own way. */
function findOnPath(program: string, searchPath: string): string | undefined {
  const isPlain = searchPath.split(path.delimiter).every((entry) => path.isAbsolute(entry));
  return isPlain ? findProgram(program, searchPath) : undefined;
}

/** `..` after a link leads elsewhere than its text says. */
export function inDirectory(file: string, cwd: string): string {
  return path.isAbsolute(file) ? file : `${cwd}/${file}`;
}

/** Beginnings of what a system executes by itself: ELF, Mach-O for one processor and for several, and `#!`. */
const EXECUTED: ReadonlySet<string> = new Set(['7f454c46', 'cffaedfe', 'cafebabe']);

/** Other files that may be executed, a shell reads itself. */
function isProgram(file: string): boolean {
  if (!isExecutable(file)) return false;
  try {
    const start = readStart(file, 4);
    return start.toString('latin1', 0, 2) === '#!' || EXECUTED.has(start.toString('hex'));
  } catch {
    // One that may be executed and not be read. It is an exception, and a shell knows what to do.
    return false;
  }
}

/** What bash sets in the environment of a program. `undefined` where that takes more than a look. */
function asBashSets(
  file: string,
  cwd: string,
  { PWD, OLDPWD }: Environment,
): Environment | undefined {
  const directory = PWD === cwd ? cwd : directoryFor(cwd, PWD);
  if (directory === undefined || path.normalize(directory) !== directory) return undefined;
  const isGone = OLDPWD !== undefined && !isDirectory(OLDPWD);
  return { _: file, PWD: directory, ...(isGone && { OLDPWD: undefined }) };
}

/** The name that it has in the environment, if it is one of it; else that of the system. */
function directoryFor(cwd: string, named = ''): string | undefined {
  try {
    const [here, there] = [cwd, named].map((each) => statSync(each, { throwIfNoEntry: false }));
    const isSame = here?.dev === there?.dev && here?.ino === there?.ino;
    return path.isAbsolute(named) && isSame ? named : realpathSync.native(cwd);
  } catch {
    return undefined;
  }
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Without its quotes, and with the project's directory in the place of a reference to it. */
function valueOf(word: string, variables: Environment): string {
  return word.replaceAll(
    /'([^']*)'|"([^"]*)"/g,
    (_all, single?: string, double = '') => single ?? expandWord(double, 'project', variables),
  );
}

/**
 * Exported functions could stand in the place of a program, and the others change what bash does or prints, how long it
 * waits, or what it is told.
 */
const CHANGING_BASH =
  /^(?:__hookstack.*|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|BASH_COMPAT|POSIXLY_CORRECT|POSIX_PEDANTIC|LD_PRELOAD|TMOUT)$/;

const looked = new WeakMap<object, boolean>();

/** Whether an environment changes how bash begins, so that what it would do by itself is not known. */
export function changesBash({
  env,
  extraEnv = {},
}: Pick<CommandLine, 'env' | 'extraEnv'>): boolean {
  const known = looked.get(env) ?? holdsChange(env);
  looked.set(env, known);
  return known || holdsChange(extraEnv);
}

function holdsChange(env: Environment): boolean {
  return Object.entries(env).some(
    ([name, value]) => value !== undefined && CHANGING_BASH.test(name),
  );
}

function isBash(shell: string): boolean {
  return path.basename(shell) === 'bash';
}
