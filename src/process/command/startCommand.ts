import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { assertDescriptorHeadroom } from '../../util/descriptors.js';
import { statsOf } from '../../util/paths.js';
import { executionOf, inShell, type Execution, type StartOptions } from './execution.js';
import { trackGroup, watchHost } from './processGroup.js';
import type { ProcessGroup } from './processTable.js';

/** A command that runs, nothing written to it or read from it yet. */
export interface RunningCommand {
  /** Tracked: killed with the host until `untrackGroup`. */
  readonly group: ProcessGroup;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the shell has ended; what it left behind may still hold the pipes. */
  readonly exited: Promise<unknown>;
  /** How the shell ended; both `null` while it runs. */
  readonly status: { readonly exitCode: number | null; readonly signalCode: NodeJS.Signals | null };
  /** Whether it ended before anything of the command was run. Absent where that cannot be known. */
  readonly neverBegan?: () => boolean;
  /** Whether the host stays alive for the command. It does, unless told otherwise. */
  readonly setReferenced: (isReferenced: boolean) => void;
}

/**
 * Starts a command in a process group of its own.
 *
 * @throws Error with a `code` such as `ENOENT`, when the system refuses
 */
export async function startCommand(options: StartOptions): Promise<RunningCommand> {
  try {
    const execution = executionOf(options);
    try {
      return await start(options, execution);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!execution.variables || !NOT_EXECUTED.has(code)) throw error;
      return await start(options, inShell(options));
    }
  } catch (error) {
    throw startFailure(error, options);
  }
}

/** Codes of what the system does not execute: a shell says why, as for a first line that names no program. */
const NOT_EXECUTED = new Set(
  'EACCES EINVAL EISDIR ELIBBAD ELOOP ENOENT ENOEXEC ENOTDIR EPERM ETXTBSY'.split(' '),
);

async function start(options: StartOptions, execution: Execution): Promise<RunningCommand> {
  const { runId = newRunId(options.env[RUN_ID]) } = options;
  const subprocess = spawnGroup(options, execution, runId);
  const command = asRunningCommand(subprocess, runId);
  if (!command) throw (await once(subprocess, 'error'))[0];
  return command;
}

/** What a process gets besides what its command says. */
export interface Extras {
  readonly variables?: Readonly<Record<string, string>>;
  /** One for each descriptor from 0 on, at least three; after them also descriptors of this process. */
  readonly pipes: readonly ('pipe' | number)[];
}

/** Stdin, stdout and stderr. */
const PLAIN: Extras = { pipes: ['pipe', 'pipe', 'pipe'] };

/**
 * Starts a program in a process group of its own. Its `error` event may go unheard. Without descriptors for its pipes, Node
 * would start it without any.
 *
 * @throws the system's error, for some of those that say why there is no process; it has no `pid` for the others
 */
export function spawnGroup(
  options: StartOptions,
  { file, args, argv0, variables }: Execution,
  runId: string,
  extras = PLAIN,
): ChildProcessWithoutNullStreams {
  assertDescriptorHeadroom();
  watchHost();
  const subprocess = spawn(file, args, {
    cwd: options.cwd,
    env: { ...environmentOf(options, runId), ...variables, ...extras.variables },
    argv0,
    detached: isDetached,
    stdio: [...extras.pipes],
    windowsHide: true,
  }) as ChildProcessWithoutNullStreams;
  subprocess.on('error', () => undefined);
  return subprocess;
}

/** All that a command finds in its environment; what is `undefined` is not there. */
export function environmentOf(
  { env, extraEnv }: Pick<StartOptions, 'env' | 'extraEnv'>,
  runId: string,
): Record<string, string | undefined> {
  return { ...env, ...extraEnv, ...OWN_ENVIRONMENT, [RUN_ID]: runId };
}

/** What every shell gets, whatever its host says. */
const OWN_ENVIRONMENT = {
  BASH_ENV: undefined,
  ENV: undefined,
  // Node's pipes are sockets, and a bash of the first level that reads from a socket takes itself for a
  // remote shell and runs ~/.bashrc.
  SHLVL: '1',
};

/**
 * Takes over a process that has just been started, so that it cannot have let go of what it has: its group is tracked
 * from now on.
 *
 * @returns `undefined` when there is no process
 */
export function asRunningCommand(
  subprocess: ChildProcessWithoutNullStreams,
  runId: string,
): RunningCommand | undefined {
  const { stdin, stdout, stderr, pid } = subprocess;
  if (pid === undefined) return undefined;
  const traces = { mark: `${RUN_ID}=${runId}`, pipes: readPipes(pid), startedAt: process.uptime() };
  const group = { id: pid, ...traces };
  trackGroup(group);
  return {
    group,
    stdin,
    stdout,
    stderr,
    exited: new Promise((resolve) => subprocess.once('exit', resolve)),
    status: subprocess,
    setReferenced: (isReferenced) => setReferenced(subprocess, isReferenced),
  };
}

/**
 * What a process writes to, in the system's words: by that its other holders are found. Empty where it cannot be told, as
 * of a process that has ended, or belongs to somebody else.
 */
export function readPipes(pid: number): string[] {
  const pipes: string[] = [];
  if (process.platform !== 'linux') return pipes;
  for (const descriptor of [1, 2]) {
    try {
      const held = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
      if (held.includes(':[')) pipes.push(held);
    } catch {
      // It has closed it.
    }
  }
  return pipes;
}

/** Says whether a process and its pipes keep the host alive. */
export function setReferenced(subprocess: ChildProcess, isReferenced: boolean): void {
  for (const handle of [subprocess, ...subprocess.stdio]) {
    if (handle !== subprocess && !(handle instanceof Socket)) continue;
    if (isReferenced) handle.ref();
    else handle.unref();
  }
}

/** The variable by which everything that a command starts is found, wherever it went. */
export const RUN_ID = 'HOOKSTACK_RUN_ID';

/** A hook may start a host with hooks of its own: their ids begin with its id, so its mark finds them too. */
export function newRunId(outer: string | undefined): string {
  const id = randomUUID().slice(-RUN_ID_LENGTH);
  return outer ? `${outer}/${id}` : id;
}

/** Enough to differ. */
const RUN_ID_LENGTH = 12;

/** A process group of its own, so that a signal reaches what the shell has started. */
export const isDetached = process.platform !== 'win32';

/** What a process inherits of its host besides the environment, and cannot be told once it runs. */
export function inheritedState(): string {
  const ids = [process.getuid?.(), process.geteuid?.(), process.getgid?.(), process.getegid?.()];
  return [process.umask(), ...ids, process.getgroups?.()].join(':');
}

/**
 * Says why a command could not be started, and what to do about it.
 *
 * @param cause what Node or the system reported
 * @returns an error with the `code` of its cause, such as `E2BIG`
 */
export function startFailure(
  cause: unknown,
  { command, args, cwd }: Pick<StartOptions, 'command' | 'args' | 'cwd'>,
): Error & { code?: string } {
  const { message, code } = cause as NodeJS.ErrnoException;
  const explanation = explain(code, cwd, args && command) ?? message;
  const error = new Error(
    `The command could not be started in ${JSON.stringify(cwd)} (${code ?? 'unknown error'}): ${explanation}`,
    { cause },
  );
  return Object.assign(error, { code });
}

const TOO_MANY =
  'the system has no process or memory left for it. Run fewer at a time, or raise `ulimit -u`.';
const NO_DESCRIPTORS = 'no file descriptors are left. Close files, or raise `ulimit -n`.';

const ADVICE: Readonly<Record<string, string>> = {
  E2BIG:
    'command and environment are longer than the system accepts. Move the command into a script file.',
  EAGAIN: TOO_MANY,
  ENOMEM: TOO_MANY,
  EMFILE: NO_DESCRIPTORS,
  ENFILE: NO_DESCRIPTORS,
  ERR_INVALID_ARG_VALUE: 'command, directory or environment hold a NUL character. Remove it.',
};

/** @param program what was to be started without a shell */
function explain(code = '', cwd: string, program?: string): string | undefined {
  if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return ADVICE[code];
  if (!statsOf(cwd)?.isDirectory())
    return 'there is no such directory. Create it, or work in another one.';
  if (program === undefined)
    return 'the shell or the directory may not be used. Check that bash or sh is installed, and who may enter the directory.';
  const name = JSON.stringify(program);
  if (code === 'EACCES') return `${name} may not be executed. Run chmod +x on it.`;
  return program.includes('/')
    ? `there is no ${name}, or the interpreter that its first line names is not there. Correct the path, or that line.`
    : `there is no program ${name} on the PATH, of which entries that lead into the project do not count. Install it, or write its path. With "args" there is no shell: "command" is the program alone.`;
}
