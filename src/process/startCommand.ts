import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { execa as Execa } from 'execa';
import { assertDescriptorHeadroom } from './descriptorHeadroom.js';
import { trackGroup, whileWatchingHost } from './liveGroups.js';
import type { ProcessGroup } from './processGroup.js';
import { resolveShell } from './shell.js';
import { startFailure } from './startFailure.js';

/** What to start, and where. */
export interface StartOptions {
  /** The shell command; see `expandCommand` for references to the project. */
  readonly command: string;
  readonly cwd: string;
  /**
   * The environment, of which nothing is inherited on top. `BASH_ENV` and `ENV` are dropped, since they name files that a shell runs first,
   * and `SHLVL` and `HOOKSTACK_RUN_ID` are set.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables of this command alone, on top of those. */
  readonly extraEnv?: Readonly<Record<string, string>>;
}

/** A command that runs, nothing written to it or read from it yet. */
export interface RunningCommand {
  /** Tracked: killed with the host until `untrackGroup`. */
  readonly group: ProcessGroup;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the shell has ended; what it left behind may still hold the pipes. */
  readonly exited: Promise<void>;
  /** How the shell ended; both `null` while it runs. */
  readonly status: { readonly exitCode: number | null; readonly signalCode: NodeJS.Signals | null };
  /** Whether the host stays alive for the command. It does, unless told otherwise. */
  readonly setReferenced: (isReferenced: boolean) => void;
}

/**
 * Starts a command in a shell and in a process group of its own.
 *
 * @throws Error with a `code` such as `ENOENT`, when the system refuses
 */
export async function startCommand(options: StartOptions): Promise<RunningCommand> {
  try {
    const execa = loaded ?? (await loadExeca());
    assertDescriptorHeadroom();
    const { subprocess, group } = whileWatchingHost(() => spawnShell(execa, options));
    if (group === undefined) throw (await subprocess).cause;
    return asRunningCommand(subprocess, group);
  } catch (error) {
    throw startFailure(error, options.cwd);
  }
}

let loaded: typeof Execa | undefined;

/** Loading it takes longer than all the rest of the package, and a host whose hooks never run needs it never. */
async function loadExeca(): Promise<typeof Execa> {
  loaded ??= (await import('execa')).execa;
  return loaded;
}

function spawnShell(execa: typeof Execa, { command, cwd, env, extraEnv }: StartOptions) {
  const runId = newRunId(env[RUN_ID]);
  const shell = resolveShell();
  const subprocess = execa(shell.file, shell.argumentsFor(command), {
    cwd,
    env: environmentOf({ env, extraEnv }, runId),
    ...EXECA_OPTIONS,
  });
  if (subprocess.pid === undefined) return { subprocess, group: undefined };
  const group = { id: subprocess.pid, mark: `${RUN_ID}=${runId}` };
  trackGroup(group);
  return { subprocess, group };
}

/** All that a command finds in its environment; what is `undefined` is not there. */
export function environmentOf(
  { env, extraEnv }: Pick<StartOptions, 'env' | 'extraEnv'>,
  runId: string,
): Record<string, string | undefined> {
  return { ...env, ...extraEnv, ...OWN_ENVIRONMENT, [RUN_ID]: runId };
}

/** What is needed of a started process, whoever started it. */
interface StartedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly stdio: readonly unknown[];
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  once(event: 'exit', listener: () => void): unknown;
  ref(): void;
  unref(): void;
}

/** A process whose group is tracked, as those who talk to it see it. */
export function asRunningCommand(subprocess: StartedProcess, group: ProcessGroup): RunningCommand {
  const { stdin, stdout, stderr } = subprocess;
  // Nobody writes to them. Unless told so, Node closes each at its end, and takes its time before it hears of the exit.
  for (const output of [stdout, stderr]) if (output instanceof Socket) output.allowHalfOpen = true;
  return {
    group,
    stdin,
    stdout,
    stderr,
    exited: new Promise<void>((resolve) => void subprocess.once('exit', () => resolve())),
    status: subprocess,
    setReferenced: (isReferenced) => setReferenced(subprocess, isReferenced),
  };
}

/** Says whether a process and its pipes keep the host alive. */
export function setReferenced(
  subprocess: Pick<StartedProcess, 'ref' | 'unref' | 'stdio'>,
  isReferenced: boolean,
): void {
  const sockets = subprocess.stdio.filter((pipe) => pipe instanceof Socket);
  for (const handle of [subprocess, ...sockets]) {
    if (isReferenced) handle.ref();
    else handle.unref();
  }
}

/** The variable by which everything that a command starts is found, wherever it went. */
export const RUN_ID = 'HOOKSTACK_RUN_ID';

/** A hook may start a host with hooks of its own: their ids begin with its id, so its mark finds them too. */
export function newRunId(outer: string | undefined): string {
  return outer ? `${outer}/${randomUUID()}` : randomUUID();
}

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

const EXECA_OPTIONS = {
  extendEnv: false,
  // Its result is not what we wait for: it comes only when the last holder of the pipes has gone.
  reject: false,
  buffer: false,
  encoding: 'buffer',
  detached: isDetached,
} as const;

/** What a process inherits of its host besides the environment, and cannot be told once it runs. */
export function inheritedState(): string {
  return [process.umask(), process.geteuid?.(), process.getegid?.()].join(':');
}
