import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { statSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import { watchHost } from './liveGroups.js';
import { findOwnBash, gateDescriptor, type OwnBash } from './ownBash.js';
import { isSimpleCommand } from '../shell/shellWords.js';
import { isShortOfRoom } from '../util/room.js';
import {
  asRunningCommand,
  inheritedState,
  newRunId,
  noteBeginnings,
  OWN_ENVIRONMENT,
  resolveShell,
  RUN_ID,
  setReferenced,
  spawnCommand,
  type Beginnings,
  type RunningCommand,
  type StartOptions,
} from './startCommand.js';

/**
 * What a waiting shell runs: it reads, each ended by a NUL, variables up to an empty one, which tell the run, the word
 * `simple` or nothing, and the command; and after all that a NUL that says go. Then it becomes the command, so that
 * nothing of the waiting remains: the last command of all that bash was given replaces it, with `$_` set as for any
 * other. (Before 5.1 bash would stay, and `bash -c` does without that.) A program that is not found is left to `bash -c`,
 * for the message that people know, and so is one with a relative path, which would be told as an absolute one. Where it
 * is told of a gate, it becomes the command's own bash before it is told to go, and waits in the gate. At the end of the
 * input, when the host has ended, the shell does so too. All of it is one line, as messages tell the line of a fault.
 */
const WAIT_FOR_COMMAND = [
  `while IFS= read -r -d '' -u 3 __hookstack || exit; [[ $__hookstack ]]; do export "$__hookstack"; done`,
  "IFS= read -r -d '' -u 3 __hookstack_simple && IFS= read -r -d '' -u 3 __hookstack || exit",
  '[[ ! $__hookstack_simple ]] || ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)) || eval "set -- $__hookstack"',
  'if [[ ${__hookstack_gate-} ]]; then [[ -s /dev/fd/4 ]] || exit; export BASH_ENV=/dev/fd/4',
  '(($#)) || exec "$BASH" -c "$__hookstack"',
  '[[ ${__hookstack_kind-} != bash ]] || shift',
  'exec -a "$__hookstack_name" "$BASH" "$@"; fi',
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

/** A command that will come, and that bash itself reads: a shell may become that bash before it comes. */
export interface ExpectedCommand {
  readonly key: string;
  readonly options: StartOptions;
  readonly own: OwnBash;
}

/** Where shells are made ready, and which commands the first of them are for; the others may run anything. */
interface Preparation extends Surroundings {
  readonly expected?: readonly ExpectedCommand[];
}

/** A shell that waits for its command, in one directory and with one environment. */
interface WaitingShell {
  readonly cwd: string;
  /** What it was told already, and waits in the gate for the word to go. Absent where it may run anything. */
  told?: ExpectedCommand & { readonly runId: string };
  /** All that it inherited, which must not have changed when it is taken. */
  readonly surroundings: string;
  readonly hasAbsolutePath: boolean;
  /** The run of the hook within which this host runs. */
  readonly outerRunId: string | undefined;
  readonly subprocess: ChildProcessWithoutNullStreams;
  readonly beginnings: Beginnings;
  readonly control: Socket;
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
  const shell = waiting.find(({ cwd, told }) => cwd === options.cwd && !told);
  const runId = shell && (options.runId ?? newRunId(shell.outerRunId));
  const message = runId && messageFor(options, shell, runId);
  if (!message) return undefined;
  waiting.splice(waiting.indexOf(shell), 1);
  shell.control.write(message);
  const isUsable = shell.surroundings === surroundingsOf(options);
  const running = isUsable ? go(shell, runId) : undefined;
  if (!running) letGo([shell]);
  return running;
}

/** Lets a shell go that expects just this command; `undefined` when none does, or it would be run in another way now. */
export function startExpected(options: StartOptions): RunningCommand | undefined {
  const shell = findExpecting(options);
  if (!shell?.told) return undefined;
  waiting.splice(waiting.indexOf(shell), 1);
  const { surroundings, told } = shell;
  const isUsable = surroundings === surroundingsOf(options) && told.own.isStill();
  const running = isUsable ? go(shell, told.runId) : undefined;
  if (!running) letGo([shell]);
  return running;
}

/** The run that a command will be where a shell expects it: what that starts has its mark from the beginning. */
export function expectedRunId(options: StartOptions): string | undefined {
  return findExpecting(options)?.told?.runId;
}

function findExpecting(options: StartOptions): WaitingShell | undefined {
  const key = keyOf(options);
  return waiting.find(({ cwd, told }) => told?.key === key && cwd === options.cwd);
}

/** Whether a shell can become what reads a command before the command comes; `undefined` where it cannot. */
export function expectCommand(options: StartOptions): ExpectedCommand | undefined {
  const own = findOwnBash(options);
  const canBeTold = own && messageFor(options, { hasAbsolutePath: true }, '') !== undefined;
  return canBeTold ? { key: keyOf(options), options, own } : undefined;
}

/** By which the same command is known in its directory; never empty. */
export function keyOf({ command, args, extraEnv }: Omit<StartOptions, 'cwd' | 'env'>): string {
  return JSON.stringify([command, args, extraEnv]);
}

function go(
  { subprocess, beginnings, control, onNoise }: WaitingShell,
  runId: string,
): RunningCommand | undefined {
  subprocess.stderr.off('data', onNoise);
  watchHost();
  control.end('\0');
  // What has died while the host was busy reads nothing, which is known at once: its exit is not.
  if (control.errored || control.destroyed) return undefined;
  setReferenced(subprocess, true);
  const running = asRunningCommand(subprocess, runId, beginnings);
  // A socket that is closed with something unread in it is an error for the other end, and the word is the last of all.
  return running && { ...running, neverBegan: () => control.errored !== null };
}

/**
 * Starts one more shell, unless `count` wait in a place, and lets go of those that are too many, or whose environment
 * has changed since, so that they serve nobody any more. To be called when nobody waits for an answer, because starting
 * a process takes the longer the more memory the host has.
 *
 * @returns whether it is to be called again for more, once others have had their turn
 */
export function prepareWarmShell(options: Preparation, count: number): boolean {
  idleTimer ??= setTimeout(letAllGo, IDLE_MS).unref();
  idleTimer.refresh();
  const { cwd, env, expected = [] } = options;
  const surroundings =
    factsOf(env).canWait && !isShortOfRoom() ? surroundingsOf(options) : undefined;
  if (surroundings === undefined || noisy.has(surroundings)) return false;
  const missing: (ExpectedCommand | undefined)[] = expected.slice(0, count);
  missing.length = Math.min(count, MAX_WAITING);
  for (const shell of waiting) {
    const isReady = shell.surroundings === surroundings;
    const at = isReady ? missing.findIndex((each) => each?.key === shell.told?.key) : -1;
    if (at >= 0) missing.splice(at, 1);
    else if (isReady || shell.cwd === cwd) letGo([shell]);
  }
  if (missing.length === 0) return false;
  const started = spawnWaitingShell(options, surroundings, missing[0] && gateDescriptor());
  if (!started) return false;
  if (missing[0]) tell(started, missing[0]);
  waiting.push(started);
  if (waiting.length > MAX_WAITING) letGo(waiting.slice(0, -MAX_WAITING));
  return missing.length > 1;
}

/** What an environment means for shells that wait in it, found out once. */
interface EnvironmentFacts {
  readonly asText: string;
  /** Only bash can read what it is to run from a descriptor, exactly; and only where nothing changes how it reads. */
  readonly canWait: boolean;
  readonly hasAbsolutePath: boolean;
}

const environments = new WeakMap<object, EnvironmentFacts>();

function factsOf(env: StartOptions['env']): EnvironmentFacts {
  return environments.get(env) ?? noteFacts(env);
}

function noteFacts(env: StartOptions['env']): EnvironmentFacts {
  const { PATH = '' } = env;
  const isChanged = Object.entries(env).some(
    ([name, value]) => value !== undefined && CHANGING_BASH.test(name),
  );
  const facts = {
    asText: JSON.stringify(env),
    canWait: !isChanged && resolveShell(env['PATH']).file.endsWith('/bash'),
    hasAbsolutePath: PATH.split(path.delimiter).every((each) => path.isAbsolute(each)),
  };
  environments.set(env, facts);
  return facts;
}

/**
 * Exported functions could stand in the place of a program, and the others change what bash does or prints, how long it
 * waits, or what it is told.
 */
const CHANGING_BASH =
  /^(?:__hookstack.*|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|BASH_COMPAT|POSIXLY_CORRECT|POSIX_PEDANTIC|LD_PRELOAD|TMOUT)$/;

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

function letAllGo(): void {
  idleTimer = undefined;
  dropWarmShells();
}

/**
 * What a shell that is started now inherits, the directory among it: under the same name there may be another.
 *
 * @returns `undefined` for a directory that cannot be used, for whatever reason: a command that starts there says
 *   which
 */
function surroundingsOf({ cwd, env }: Surroundings): string | undefined {
  try {
    const found = statSync(cwd);
    if (!found.isDirectory()) return undefined;
    return [found.dev, found.ino, inheritedState(), cwd, factsOf(env).asText].join('\0');
  } catch {
    return undefined;
  }
}

/** At most this many bytes are handed over: bash reads them one by one, and would be slower than a start. */
const MAX_HANDED_OVER_BYTES = 4096;

/** Variables that bash keeps for itself, that change how it reads on, or that tell which run it is. */
const OWN_VARIABLES =
  /^(?:__hookstack.*|HOOKSTACK_RUN_ID|BASH.*|_|IFS|SHLVL|UID|EUID|PPID|PWD|OLDPWD|SHELLOPTS|POSIXLY_CORRECT|POSIX_PEDANTIC|TMOUT|LINENO|RANDOM|SECONDS|ENV|PATH|LD_.*|LC_.*|LANG|LANGUAGE|GROUPS|DIRSTACK|FUNCNAME|PIPESTATUS)$/;

/**
 * All that a shell is told before it may go; `undefined` for what cannot be handed over: NUL ends what it reads, and bash
 * has variables that cannot be set.
 */
function messageFor(
  { command, args, extraEnv = {} }: StartOptions,
  shell: Pick<WaitingShell, 'hasAbsolutePath'>,
  runId: string,
): string | undefined {
  if (args) return undefined;
  const words = [`${RUN_ID}=${runId}`];
  for (const [name, value] of Object.entries(extraEnv)) {
    if (!/^[A-Za-z_]\w*$/.test(name) || OWN_VARIABLES.test(name)) return undefined;
    words.push(`${name}=${value}`);
  }
  const text = [...words.slice(1), command].join('');
  if (text.includes('\0') || Buffer.byteLength(text) > MAX_HANDED_OVER_BYTES) return undefined;
  const isSimple = shell.hasAbsolutePath && (simple.get(command) ?? noteWhetherSimple(command));
  return [...words, '', isSimple ? 'simple' : '', command, ''].join('\0');
}

/** Whether commands are simple, each found out once. */
const simple = new Map<string, boolean>();

/** At most this many commands are remembered; a host that makes them up has no end of them. */
const MAX_REMEMBERED = 1000;

/** Finds out, and remembers, whether a command is nothing but a program. To be done while nobody waits for its start. */
export function noteWhetherSimple(command: string): boolean {
  const isSimple = isSimpleCommand(command);
  if (simple.size >= MAX_REMEMBERED) simple.clear();
  simple.set(command, isSimple);
  return isSimple;
}

/** `undefined` where it cannot be started: the next command starts cold, and reports what is wrong if it still is. */
function spawnWaitingShell({ cwd, env }: Surroundings, surroundings: string, gate?: number) {
  try {
    const start = { command: WAIT_FOR_COMMAND, cwd, env: { ...env, ...OWN_ENVIRONMENT } };
    const subprocess = spawnCommand(start, gate ? [...PIPES_OF_WAITING, gate] : PIPES_OF_WAITING);
    for (const pipe of subprocess.stdio) pipe?.on('error', ignore);
    const control = subprocess.stdio[3];
    // Node's pipes carry both ways, which its types do not know.
    if (subprocess.pid === undefined || !(control instanceof Socket)) return undefined;
    // Shells that only wait keep no host alive.
    setReferenced(subprocess, false);
    const shell: WaitingShell = {
      cwd,
      surroundings,
      subprocess,
      control,
      hasAbsolutePath: factsOf(env).hasAbsolutePath,
      outerRunId: env[RUN_ID],
      beginnings: noteBeginnings(subprocess),
      onNoise: giveUpOn.bind(undefined, surroundings),
    };
    subprocess.stderr.on('data', shell.onNoise);
    // Its pipes stay: when it ends as a command, what it has written may not be read yet.
    subprocess.once('exit', () => (waiting = waiting.filter((each) => each !== shell)));
    return shell;
  } catch {
    return undefined;
  }
}

/** What is known of shells that wait in the gate in one place. */
interface GateFacts {
  /** Whether one has: where bash sources nothing, it would run its command at once. */
  hasWaited: boolean;
  /** How many ended before they were needed. */
  earlyEnds: number;
}

const gates = new Map<string, GateFacts>();
/** Places of which that is remembered; the environment is part of each. */
const MAX_GATES = 32;
const MAX_EARLY_ENDS = 3;

/** Whether a shell may be told ahead which command it will run in a place. The first time, one is asked to show it. */
export function waitsInGate(options: Surroundings): boolean {
  const place = factsOf(options.env).canWait ? surroundingsOf(options) : undefined;
  if (place === undefined) return false;
  const { hasWaited, earlyEnds } = gates.get(place) ?? askToWait(options, place);
  return hasWaited && earlyEnds <= MAX_EARLY_ENDS;
}

/** With a command that does nothing, should it be run at once. */
function askToWait(options: Surroundings, place: string): GateFacts {
  const facts = { hasWaited: false, earlyEnds: 0 };
  if (gates.size >= MAX_GATES) gates.clear();
  gates.set(place, facts);
  const shell = spawnWaitingShell(options, place, gateDescriptor());
  if (!shell) return facts;
  shell.control.once('data', () => {
    facts.hasWaited = true;
    letGo([shell]);
  });
  const variables = { __hookstack_gate: '1', __hookstack_probe: '1' };
  const own = { variables, isStill: () => true };
  tell(shell, { key: '', options: { ...options, command: ':' }, own });
  return facts;
}

/** Has a shell become what reads a command. */
function tell(shell: WaitingShell, expected: ExpectedCommand): void {
  const runId = newRunId(shell.outerRunId);
  const message = messageFor(expected.options, shell, runId) ?? '';
  const facts = Object.entries(expected.own.variables).map(([name, value]) => `${name}=${value}\0`);
  shell.control.write(`${facts.join('')}${message}`);
  shell.told = { ...expected, runId };
  shell.subprocess.prependOnceListener('exit', () => {
    const known = waiting.includes(shell) ? gates.get(shell.surroundings) : undefined;
    if (known) known.earlyEnds += 1;
  });
}

function giveUpOn(surroundings: string): void {
  noisy.add(surroundings);
  letGo(waiting.filter((each) => each.surroundings === surroundings));
}

function ignore(): void {}

/** Stdin, stdout, stderr, and what the shell is told. */
const PIPES_OF_WAITING = ['pipe', 'pipe', 'pipe', 'pipe'] as const;
