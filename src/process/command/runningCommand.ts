import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { onExit } from 'signal-exit';
import { assertDescriptorHeadroom } from '../../util/descriptors.js';
import type { Execution, StartOptions } from './execution.js';
import { killGroups } from './processGroup.js';
import type { ProcessGroup } from './processTable.js';

/** A command that runs, nothing written to it or read from it yet. */
export interface RunningCommand {
  /** Tracked: killed with the host until `untrackGroup`. */
  readonly group: ProcessGroup;
  /** Its shell, and the pipes of that. */
  readonly subprocess: ChildProcessWithoutNullStreams;
  /** Settles when the shell has ended; what it left behind may still hold the pipes. */
  readonly exited: Promise<unknown>;
}

/** What a process gets besides what its command says. */
export interface Extras {
  readonly variables?: Readonly<Record<string, string>>;
  /** One for each descriptor from 0 on, at least three; after them also descriptors of this process. */
  readonly pipes: readonly ('pipe' | number)[];
}

/** Stdin, stdout and stderr. */
export const PLAIN: Extras = { pipes: ['pipe', 'pipe', 'pipe'] };

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
  const { pid } = subprocess;
  if (pid === undefined) return undefined;
  const traces = { mark: `${RUN_ID}=${runId}`, pipes: readPipes(pid), startedAt: process.uptime() };
  const group = { id: pid, ...traces };
  trackGroup(group);
  const exited = new Promise((resolve) => subprocess.once('exit', resolve));
  return { group, subprocess, exited };
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

/** Whether its end is known. */
export function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Says whether a process and its pipes keep the host alive. */
export function setReferenced(subprocess: ChildProcess, isReferenced: boolean): void {
  const how = isReferenced ? 'ref' : 'unref';
  subprocess[how]();
  for (const pipe of subprocess.stdio) if (pipe instanceof Socket) pipe[how]();
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

/** What ends with this process. */
const live = new Set<ProcessGroup>();
let stopWatching: (() => void) | undefined;
/** Since it was last looked. */
let wasUsed = false;

/**
 * Watches for the end of this process, to be called right before something is started that is tracked at once: a signal
 * that came between start and tracking would end it, and nobody would end the group.
 */
export function watchHost(): void {
  stopWatching ??= startWatching();
}

function startWatching(): () => void {
  const unload = onExit(killTrackedGroups);
  const looking = setInterval(() => {
    // The host's signals are its own while no command runs.
    if (live.size === 0 && !wasUsed) stopWatching?.();
    wasUsed = false;
  }, LINGER_MS).unref();
  return () => {
    stopWatching = undefined;
    clearInterval(looking);
    unload();
  };
}

/**
 * Ms without a command after which the host is watched no longer, at least. Events come in bursts, and to listen to some
 * twenty signals anew for each takes a tenth of the time that a hook takes. Meanwhile they end the host as they would
 * anyway, once it has time for them.
 */
const LINGER_MS = 1000;

/** To be called by a host right before it ends in a way that no listener can see. */
export function killTrackedGroups(): void {
  killGroups([...live]);
}

/**
 * Remembers a group for as long as it runs: should this process end before it, by a signal, by `process.exit`,
 * or by an uncaught error, the group is killed. To be called after `watchHost`.
 */
export function trackGroup(group: ProcessGroup): void {
  live.add(group);
  wasUsed = true;
}

/** Forgets a group that has ended, or that may outlive this process. */
export function untrackGroup(group: ProcessGroup): void {
  live.delete(group);
}

/** Commands of this process that run. What they take of descriptors and processes comes back. */
let running = 0;

/** Starts that the system had no room for, those that waited longest first. Each is called when it may try again. */
const waiting: (() => void)[] = [];

/** Counts a command that runs, until `leaveRoom`. */
export function enterRoom(): void {
  running += 1;
}

/** Says that a command has ended and let go of its pipes. */
export function leaveRoom(): void {
  running -= 1;
  letNextTry();
}

/** Takes the count of one back that was not started, so that there is no more room than before. */
export function stayOut(): void {
  running -= 1;
}

/** Lets whoever waited longest try again, because there may be room. */
export function letNextTry(): void {
  waiting.shift()?.();
}

/** Whether a command waits for room, so that nothing is to be started ahead. */
export function isShortOfRoom(): boolean {
  return waiting.length > 0;
}

/** Waits for room, and says what came before it, if anything did. */
export type Patience = (room: Promise<void>) => Promise<unknown>;

/** Waits until a command has ended, behind those that have waited longer. Says whether one has, as opposed to the patience. */
export async function untilOneEnds(patience: Patience): Promise<boolean> {
  if (running === 0) return false;
  let tryAgain: () => void = letNextTry;
  const hasRoom = new Promise<void>((resolve) => waiting.push((tryAgain = resolve)));
  const interruption = await patience(hasRoom);
  const index = waiting.indexOf(tryAgain);
  if (index >= 0) waiting.splice(index, 1);
  return interruption === undefined;
}
