import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { assertDescriptorHeadroom } from '../util/room.js';
import { trackGroup, watchHost } from './liveGroups.js';
import type { ProcessGroup } from './processGroup.js';
import { findProgram, safeSearchPath } from './findProgram.js';
import { startFailure } from './startFailure.js';
import { hostEnvironment } from '../util/surroundings.js';

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
 * Starts a command in a process group of its own: in a shell, or by itself where it has `args`.
 *
 * @throws Error with a `code` such as `ENOENT`, when the system refuses
 */
export async function startCommand(options: StartOptions): Promise<RunningCommand> {
  try {
    const { runId = newRunId(options.env[RUN_ID]) } = options;
    const env = environmentOf(options, runId);
    watchHost();
    const subprocess = spawnCommand({ ...options, env }, PIPES);
    const command = asRunningCommand(subprocess, runId, noteBeginnings(subprocess));
    if (!command) throw (await once(subprocess, 'error'))[0];
    return command;
  } catch (error) {
    throw startFailure(error, options);
  }
}

/** Stdin, stdout and stderr. */
const PIPES = ['pipe', 'pipe', 'pipe'] as const;

/**
 * Starts a shell with something to run, or a program, in a process group of its own. Its `error` event may go unheard.
 * Without descriptors for its pipes, Node would start it without any.
 *
 * @param pipes one for each descriptor from 0 on, at least three; after them also descriptors of this process
 * @throws the system's error, for some of those that say why there is no process; it has no `pid` for the others
 */
export function spawnCommand(
  { command, args, cwd, env }: Pick<StartOptions, 'command' | 'args' | 'cwd' | 'env'>,
  pipes: readonly ('pipe' | number)[],
): ChildProcessWithoutNullStreams {
  assertDescriptorHeadroom();
  const searchPath = env['PATH'] ?? safeSearchPath(hostEnvironment()['PATH'], cwd);
  const { file, argumentsFor } = args
    ? { file: locateProgram(command, searchPath), argumentsFor: undefined }
    : resolveShell(searchPath);
  const subprocess = spawn(file, args ?? argumentsFor?.(command) ?? ['-c', command], {
    cwd,
    env,
    argv0: args && command,
    detached: isDetached,
    stdio: [...pipes],
    windowsHide: true,
  }) as ChildProcessWithoutNullStreams;
  subprocess.on('error', () => undefined);
  return subprocess;
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

/** All that a command finds in its environment; what is `undefined` is not there. */
export function environmentOf(
  { env, extraEnv }: Pick<StartOptions, 'env' | 'extraEnv'>,
  runId: string,
): Record<string, string | undefined> {
  return { ...env, ...extraEnv, ...OWN_ENVIRONMENT, [RUN_ID]: runId };
}

/** What a process that has just been started has, and may let go of when it runs. */
export type Beginnings = Pick<ProcessGroup, 'pipes' | 'startedAt'>;

/** To be noted before the process can have run anything. */
export function noteBeginnings({ pid }: ChildProcessWithoutNullStreams): Beginnings {
  return { pipes: pid === undefined ? [] : readPipes(pid), startedAt: process.uptime() };
}

/**
 * What a process writes to, in the system's words: by that its other holders are found. Empty where it cannot be told,
 * as of a process that has ended, or belongs to somebody else.
 */
export function readPipes(pid: number): string[] {
  const held: string[] = [];
  if (process.platform !== 'linux') return held;
  for (const link of [`/proc/${pid}/fd/1`, `/proc/${pid}/fd/2`]) {
    try {
      held.push(readlinkSync(link));
    } catch {
      // It has closed it.
    }
  }
  return held.filter((target) => target.includes(':['));
}

/**
 * Takes over a started process: its group is tracked from now on.
 *
 * @returns `undefined` when there is no process
 */
export function asRunningCommand(
  subprocess: ChildProcessWithoutNullStreams,
  runId: string,
  beginnings: Beginnings,
): RunningCommand | undefined {
  const { stdin, stdout, stderr, pid } = subprocess;
  if (pid === undefined) return undefined;
  const group = { id: pid, mark: `${RUN_ID}=${runId}`, ...beginnings };
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

/** Enough to differ. A waiting shell reads it byte by byte. */
const RUN_ID_LENGTH = 12;

/** What every shell gets, whatever its host says. */
export const OWN_ENVIRONMENT = {
  BASH_ENV: undefined,
  ENV: undefined,
  // Node's pipes are sockets, and a bash of the first level that reads from a socket takes itself for a
  // remote shell and runs ~/.bashrc.
  SHLVL: '1',
};

/** A process group of its own, so that a signal reaches what the shell has started. */
export const isDetached = process.platform !== 'win32';

/** What a process inherits of its host besides the environment, and cannot be told once it runs. */
export function inheritedState(): string {
  return [process.umask(), process.geteuid?.(), process.getegid?.()].join(':');
}

/** The program that runs hook commands. */
export interface Shell {
  /** Absolute path; on Windows a name that the system looks up. */
  readonly file: string;
  /** The arguments that make the shell run one command, where they are not `-c` and the command. */
  readonly argumentsFor?: (command: string) => string[];
}

/**
 * The shell of this machine: bash where there is one, else sh; PowerShell on Windows. Looked up once for each search
 * path.
 *
 * @param searchPath that of the hook, in which no project could put a shell of its own
 */
export function resolveShell(searchPath: string | undefined): Shell {
  if (resolved?.searchPath !== searchPath || !resolved) {
    resolved = { searchPath, shell: findShell(process.platform, searchPath) };
  }
  return resolved.shell;
}

let resolved: { readonly searchPath: string | undefined; readonly shell: Shell } | undefined;

/**
 * Looks a shell up.
 *
 * @param platform as `process.platform`
 * @param searchPath relative entries are skipped, since they name a directory of whatever
 *   project is open
 */
export function findShell(platform: NodeJS.Platform, searchPath: string | undefined): Shell {
  if (platform === 'win32') return { file: 'powershell.exe', argumentsFor: powerShellArguments };
  const file = ['bash', 'sh']
    .map((name) => findProgram(name, `${searchPath ?? ''}${path.delimiter}/bin`))
    .find((found) => found !== undefined);
  return { file: file ?? '/bin/sh' };
}

// PowerShell's own exit code is 0 or 1; the verdict is in that of the program it ran.
function powerShellArguments(command: string): string[] {
  return ['-NoProfile', '-NonInteractive', '-Command', `${command}\nexit $LASTEXITCODE`];
}
