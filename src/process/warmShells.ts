import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { statSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { whileWatchingHost } from './liveGroups.js';
import { isSimpleCommand } from '../shell/shellWords.js';
import { resolveShell } from './shell.js';
import { isShortOfRoom } from './shortage.js';
import {
  asRunningCommand,
  inheritedState,
  newRunId,
  noteBeginnings,
  OWN_ENVIRONMENT,
  RUN_ID,
  setReferenced,
  spawnCommand,
  type Beginnings,
  type RunningCommand,
  type StartOptions,
} from './startCommand.js';

/**
 * What a waiting shell runs: it reads, each ended by a NUL, variables up to an empty one, of which the first tells the
 * run, the word `simple` or nothing, and the command; and after all that a NUL that says go. Then it becomes the
 * command, so that nothing of the waiting remains: the last command of all that bash was given replaces it, with `$_`
 * set as for any other. (Before 5.1 bash would stay, and `bash -c` does without that.) A program that is not found is
 * left to `bash -c`, for the message that people know, and so is one with a relative path, which would be told as an
 * absolute one. At the end of the input, when the host has ended, the shell does so too. All of it is one line, as
 * messages tell the line of a fault.
 */
const WAIT_FOR_COMMAND = [
  `while IFS= read -r -d '' -u 3 __hookstack || exit; [[ $__hookstack ]]; do export "$__hookstack"; done`,
  "IFS= read -r -d '' -u 3 __hookstack_simple && IFS= read -r -d '' -u 3 __hookstack || exit",
  '[[ ! $__hookstack_simple ]] || ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)) || eval "set -- $__hookstack"',
  'if [[ $1 == */* ]]; then [[ $1 == /* && -f $1 && -x $1 ]]; else hash -- "$1" 2>/dev/null; fi || set --',
  "IFS= read -r -d '' -u 3 __hookstack_go || exit",
  'exec 3<&-',
  '(($#)) || exec "$BASH" -c "$__hookstack"',
  '"$@"',
].join('; ');

/** Ms without use after which waiting shells are let go. */
const IDLE_MS = 60_000;

/** Waiting shells of all projects of a process together. Each holds four descriptors of the host. */
const MAX_WAITING = 32;

type Surroundings = Pick<StartOptions, 'cwd' | 'env'>;

/** A shell that waits for its command, in one directory and with one environment. */
interface WaitingShell {
  readonly cwd: string;
  /** All that it inherited, which must not have changed when it is taken. */
  readonly surroundings: string;
  readonly hasAbsolutePath: boolean;
  /** The run of the hook within which this host runs. */
  readonly outerRunId: string | undefined;
  readonly subprocess: ChildProcessWithoutNullStreams;
  readonly beginnings: Beginnings;
  readonly control: Writable;
  /** Lets go of it: it has said something, such as that a locale is missing, which is not the command's to say. */
  readonly onNoise: () => void;
}

/** All shells of this process that wait, those that waited longest first. */
let waiting: WaitingShell[] = [];
/** Surroundings in which shells say something before they have a command. */
const noisy = new Set<string>();
let idleTimer: NodeJS.Timeout | undefined;

/**
 * Hands a command to a shell that was started ahead, in the same directory and with the same environment. The shell
 * makes ready while it is looked at whether it may go.
 *
 * @returns `undefined` when none waits there, or the command asks for what such a shell cannot give
 */
export function startInWarmShell(options: StartOptions): RunningCommand | undefined {
  const { command, args, extraEnv = {} } = options;
  if (args || !canBeHandedOver(command, extraEnv)) return undefined;
  const index = waiting.findIndex((shell) => shell.cwd === options.cwd);
  const [shell] = index < 0 ? [] : waiting.splice(index, 1);
  if (!shell) return undefined;
  const runId = newRunId(shell.outerRunId);
  shell.control.write(messageFor(options, shell, runId));
  const isUsable = shell.surroundings === surroundingsOf(options);
  const running = isUsable ? whileWatchingHost(() => go(shell, runId)) : undefined;
  if (!running) letGo([shell]);
  return running;
}

function go(
  { subprocess, beginnings, control, onNoise }: WaitingShell,
  runId: string,
): RunningCommand | undefined {
  subprocess.stderr.off('data', onNoise);
  control.end('\0');
  // What has died while the host was busy reads nothing, which is known at once: its exit is not.
  if (control.errored || control.destroyed) return undefined;
  setReferenced(subprocess, true);
  const running = asRunningCommand(subprocess, runId, beginnings);
  // A socket that is closed with something unread in it is an error for the other end, and the word is the last of all.
  return running && { ...running, neverBegan: () => control.errored !== null };
}

/**
 * Starts one more shell, unless `count` wait in a place, and lets go of those that are too many. To be called when
 * nobody waits for an answer, because starting a process takes the longer the more memory the host has.
 *
 * @returns whether it is to be called again for more, once others have had their turn
 */
export function prepareWarmShell(options: Surroundings, count: number): boolean {
  keepWarm();
  const { cwd, env } = options;
  const surroundings = canBeWaitedIn(env) && !isShortOfRoom() ? surroundingsOf(options) : undefined;
  if (surroundings === undefined || noisy.has(surroundings)) return false;
  const isReady = (shell: WaitingShell) => shell.surroundings === surroundings;
  // Shells with an environment that has changed since serve nobody any more.
  letGo(waiting.filter((each) => each.cwd === cwd && !isReady(each)));
  const ready = waiting.filter(isReady);
  const wanted = Math.min(count, MAX_WAITING);
  letGo(ready.slice(wanted));
  if (ready.length >= wanted) return false;
  const started = spawnWaitingShell(options);
  if (!started) return false;
  const onNoise = () => {
    noisy.add(surroundings);
    letGo(waiting.filter(isReady));
  };
  const entry = {
    ...started,
    cwd,
    surroundings,
    hasAbsolutePath: hasAbsolutePath(env),
    outerRunId: env[RUN_ID],
    onNoise,
  };
  waiting.push(entry);
  started.subprocess.stderr.on('data', onNoise);
  started.subprocess.once('exit', () => {
    waiting = waiting.filter((each) => each !== entry);
  });
  letGo(waiting.slice(0, -MAX_WAITING));
  return ready.length + 1 < wanted;
}

/** Only bash can read what it is to run from a descriptor, exactly; and only where nothing changes how it reads. */
function canBeWaitedIn(env: StartOptions['env']): boolean {
  return (
    resolveShell(env['PATH']).file.endsWith('/bash') &&
    !Object.entries(env).some(([name, value]) => value !== undefined && CHANGING_BASH.test(name))
  );
}

/**
 * Exported functions could stand in the place of a program, and the others change what bash does or prints, or how long
 * it waits.
 */
const CHANGING_BASH =
  /^(?:BASH_FUNC_.*|BASHOPTS|SHELLOPTS|BASH_COMPAT|POSIXLY_CORRECT|LD_PRELOAD|TMOUT)$/;

/** How many shells wait, in a directory or everywhere. */
export function countWarmShells(cwd?: string): number {
  return waiting.filter((shell) => isIn(shell, cwd)).length;
}

/** Ends the shells that wait in a directory, or all; says whether there were any. */
export function dropWarmShells(cwd?: string): boolean {
  const dropped = waiting.filter((shell) => isIn(shell, cwd));
  letGo(dropped);
  return dropped.length > 0;
}

function isIn(shell: WaitingShell, cwd: string | undefined): boolean {
  return cwd === undefined || shell.cwd === cwd;
}

function letGo(shells: readonly WaitingShell[]): void {
  waiting = waiting.filter((shell) => !shells.includes(shell));
  for (const { subprocess } of shells) {
    for (const pipe of subprocess.stdio) pipe?.destroy();
  }
}

function keepWarm(): void {
  idleTimer ??= setTimeout(() => {
    idleTimer = undefined;
    dropWarmShells();
  }, IDLE_MS).unref();
  idleTimer.refresh();
}

const environments = new WeakMap<object, string>();

/**
 * What a shell that is started now inherits, the directory among it: under the same name there may be another.
 *
 * @returns `undefined` for a directory that cannot be used, for which reason ever: a command that starts there says
 *   which
 */
function surroundingsOf({ cwd, env }: Surroundings): string | undefined {
  try {
    const found = statSync(cwd);
    if (!found.isDirectory()) return undefined;
    return [found.dev, found.ino, inheritedState(), cwd, environmentAsText(env)].join('\0');
  } catch {
    return undefined;
  }
}

function environmentAsText(env: StartOptions['env']): string {
  let environment = environments.get(env);
  if (environment === undefined) {
    environment = JSON.stringify(env);
    environments.set(env, environment);
  }
  return environment;
}

/** So many bytes at most are handed over: bash reads them one by one, and would be slower than a start. */
const MAX_HANDED_OVER_BYTES = 4096;

/** NUL ends what a waiting shell reads, and bash has variables that cannot be set. */
function canBeHandedOver(command: string, extraEnv: Readonly<Record<string, string>>): boolean {
  const variables = Object.entries(extraEnv);
  const all = [command, ...variables.flat()].join('');
  if (all.includes('\0') || Buffer.byteLength(all) > MAX_HANDED_OVER_BYTES) return false;
  return variables.every(([name]) => /^[A-Za-z_]\w*$/.test(name) && !OWN_VARIABLES.test(name));
}

/** Variables that bash keeps for itself, that change how it reads on, or that tell which run it is. */
const OWN_VARIABLES =
  /^(?:__hookstack.*|HOOKSTACK_RUN_ID|BASH.*|_|IFS|SHLVL|UID|EUID|PPID|PWD|OLDPWD|SHELLOPTS|POSIXLY_CORRECT|LINENO|RANDOM|SECONDS|ENV|PATH|LD_.*|LC_.*|LANG|LANGUAGE|GROUPS|DIRSTACK|FUNCNAME|PIPESTATUS)$/;

/** All that a shell is told before it may go. */
function messageFor(
  { command, extraEnv = {} }: Pick<StartOptions, 'command' | 'extraEnv'>,
  shell: WaitingShell,
  runId: string,
): string {
  const own = { [RUN_ID]: runId, ...extraEnv };
  const variables = Object.entries(own).map(([name, value]) => `${name}=${value}`);
  const kind = shell.hasAbsolutePath && isSimpleCommand(command) ? 'simple' : '';
  return [...variables, '', kind, command, ''].join('\0');
}

function hasAbsolutePath({ PATH = '' }: StartOptions['env']): boolean {
  return PATH.split(path.delimiter).every((directory) => path.isAbsolute(directory));
}

function spawnWaitingShell({ cwd, env }: Surroundings) {
  try {
    const surroundings = { cwd, env: { ...env, ...OWN_ENVIRONMENT } };
    const start = { command: WAIT_FOR_COMMAND, ...surroundings };
    const subprocess = spawnCommand(start, PIPES_OF_WAITING);
    for (const pipe of subprocess.stdio) pipe?.on('error', () => undefined);
    const control = subprocess.stdio[3];
    // Node's pipes carry both ways, which its types do not know.
    if (subprocess.pid === undefined || !(control instanceof Socket)) return undefined;
    // Shells that only wait keep no host alive.
    setReferenced(subprocess, false);
    return { subprocess, beginnings: noteBeginnings(subprocess), control };
  } catch {
    // The next command starts cold, and reports what is wrong if it still is.
    return undefined;
  }
}

/** Stdin, stdout, stderr, and what the shell is told. */
const PIPES_OF_WAITING = ['pipe', 'pipe', 'pipe', 'pipe'] as const;
