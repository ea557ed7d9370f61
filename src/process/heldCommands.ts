import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { openSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readShebang } from '../shell/shebang.js';
import { isShortOfRoom } from '../util/room.js';
import {
  changesBash,
  directoriesOf,
  executionOf,
  findOnPath,
  isBash,
  isItself,
  type Execution,
  type StartOptions,
} from './execution.js';
import { watchHost } from './liveGroups.js';
import { resolveShell } from './resolveShell.js';
import {
  asRunningCommand,
  environmentOf,
  inheritedState,
  newRunId,
  noteBeginnings,
  RUN_ID,
  setReferenced,
  spawnGroup,
  type Beginnings,
  type RunningCommand,
} from './startCommand.js';

// Starting bash is most of what a hook of bash takes. So a command that bash itself reads is started ahead of its event, just
// as it would be for it, and held at a gate: before bash opens its script, or looks at its line.

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
  'unset -f __hookstack',
  'unset -v BASH_ENV "${!__hookstack_@}"',
  'SECONDS=0',
  '}',
  '__hookstack "$_"',
].join('\n');

/** Where bash finds that: a descriptor that it inherits. */
const GATE_FILE = '/dev/fd/4';
/** Stdin, stdout, stderr, and what says that it may go. */
const PIPES = ['pipe', 'pipe', 'pipe', 'pipe'] as const;

/** Ms without use after which what is held is let go. */
const IDLE_MS = 60_000;
/** Commands of all projects together that are held. Each takes four descriptors. */
const MAX_HELD = 32;

type Place = Pick<StartOptions, 'cwd' | 'env'>;

/** A command that bash reads, and that can be held. */
export interface HoldableCommand {
  /** By which the same command is known in its directory. */
  readonly key: string;
  readonly options: StartOptions;
  readonly execution: Execution;
}

interface HeldCommand extends HoldableCommand {
  readonly runId: string;
  /** All that it inherited, which must not have changed when it is taken. */
  readonly state: string;
  readonly subprocess: ChildProcessWithoutNullStreams;
  readonly beginnings: Beginnings;
  readonly control: Socket;
  /** Lets go of it: it has said something, such as that a locale is missing, which is not the command's to say. */
  readonly onNoise: () => void;
}

/** Those that were started first come first. */
let held: HeldCommand[] = [];
/** States in which bash says something before it has a command. */
const noisy = new Set<string>();
let idleTimer: NodeJS.Timeout | undefined;

/** Lets a command go that is held; `undefined` where none is, or it would be executed in another way now. */
export function startHeld(options: StartOptions): RunningCommand | undefined {
  const command = findHeld(options);
  if (!command) return undefined;
  held.splice(held.indexOf(command), 1);
  const isUsable = command.state === stateOf(options) && isStill(command, options);
  const running = isUsable ? release(command) : undefined;
  if (!running) letGo([command]);
  return running;
}

/** The run that a command will be where it is held: what it starts has its mark from the beginning. */
export function heldRunId(options: StartOptions): string | undefined {
  return findHeld(options)?.runId;
}

function findHeld(options: StartOptions): HeldCommand | undefined {
  const key = keyOf(options);
  return held.find((each) => each.key === key && each.options.cwd === options.cwd);
}

/** By which the same command is known in its directory; never empty. */
export function keyOf({ command, args, extraEnv }: Omit<StartOptions, 'cwd' | 'env'>): string {
  return JSON.stringify([command, args, extraEnv]);
}

/** The script may have become another program, or none. */
function isStill({ execution }: HoldableCommand, options: StartOptions): boolean {
  const now = holdable(options)?.execution;
  return now !== undefined && JSON.stringify(now) === JSON.stringify(execution);
}

function release(command: HeldCommand): RunningCommand | undefined {
  const { subprocess, runId, beginnings, control, onNoise } = command;
  subprocess.stderr.off('data', onNoise);
  watchHost();
  control.end('\0');
  // What has died while the host was busy reads nothing, which is known at once: its exit is not.
  if (control.errored || control.destroyed) return undefined;
  // One that somebody has stopped would never read that.
  subprocess.kill('SIGCONT');
  setReferenced(subprocess, true);
  const running = asRunningCommand(subprocess, runId, beginnings);
  // A socket that is closed with something unread in it is an error for the other end, and the word is the last of all.
  return running && { ...running, neverBegan: () => control.errored !== null };
}

/** Whether bash itself reads a command, so that it can be held: a line, a script that is named, or one with `#!`. */
export function holdable(options: StartOptions): HoldableCommand | undefined {
  const { args, env, extraEnv } = options;
  // Bash counts on from what it finds there.
  const isCounting = env['SECONDS'] !== undefined || extraEnv?.['SECONDS'] !== undefined;
  if (args || isCounting || changesBash(options) || !isItself()) return undefined;
  const shell = resolveShell(extraEnv?.['PATH'] ?? env['PATH']).file;
  // Only that of the place is asked whether it waits, and without the variables of a command.
  if (extraEnv && Object.keys(extraEnv).some((name) => CHANGING_LOADER.test(name)))
    return undefined;
  if (extraEnv?.['PATH'] !== undefined && resolveShell(env['PATH']).file !== shell)
    return undefined;
  if (!isBash(shell) || isScript(shell)) return undefined;
  const execution = executionOf(options);
  return isReadBy(shell, execution, options)
    ? { key: keyOf(options), options, execution }
    : undefined;
}

/** What the system loads into a program. */
const CHANGING_LOADER = /^(?:LD|DYLD)_|^GLIBC_TUNABLES$/;

function isReadBy(shell: string, execution: Execution, options: StartOptions): boolean {
  const { file, args, variables, shebang = [] } = execution;
  if (!variables) return file === shell;
  // What begins so is an option, and some of them change what bash reads first.
  if (leadsTo(shell, file)) return args[0] !== undefined && !/^(?:[-+]|$)/.test(args[0]);
  const [program = '', word = '', ...more] = shebang;
  if (program !== '/usr/bin/env') return word === '' && leadsTo(shell, program);
  // That looks in relative entries, too.
  const searchPath = options.extraEnv?.['PATH'] ?? options.env['PATH'] ?? '';
  return word === 'bash' && more.length === 0 && findOnPath('bash', searchPath) === shell;
}

/** By a path that leads to the same file. */
function leadsTo(shell: string, program: string): boolean {
  if (program === shell) return true;
  if (!path.isAbsolute(program) || !isBash(program)) return false;
  try {
    const [one, other] = [statSync(program), statSync(shell)];
    return one.dev === other.dev && one.ino === other.ino;
  } catch {
    // What a script names may be anything: nothing at all, a link to itself, or a name that no file can have.
    return false;
  }
}

/** Such as one that sets variables for the shell that it starts: then that is not what is held. */
function isScript(shell: string): boolean {
  try {
    return readShebang(shell) !== undefined;
  } catch {
    return true;
  }
}

/**
 * Starts one more of the commands that are to be held in a place, and lets go of those that are not, or that have
 * inherited what has changed since, so that they serve nobody any more. To be called when nobody waits for an answer.
 *
 * @returns whether it is to be called again for more, once others have had their turn
 */
export function holdNext(place: Place, wanted: readonly HoldableCommand[]): boolean {
  idleTimer ??= setTimeout(letAllGo, IDLE_MS).unref();
  idleTimer.refresh();
  const state = isShortOfRoom() ? undefined : stateOf(place);
  if (state === undefined || noisy.has(state)) return false;
  const missing = wanted.slice(0, MAX_HELD);
  for (const command of held) {
    const at = command.state === state ? missing.findIndex(({ key }) => key === command.key) : -1;
    if (at >= 0) missing.splice(at, 1);
    else if (command.options.cwd === place.cwd) letGo([command]);
  }
  let started: HeldCommand | undefined;
  while (!started && missing.length > 0) started = hold(missing.shift()!, state);
  if (started) held.push(started);
  if (held.length > MAX_HELD) letGo(held.slice(0, -MAX_HELD));
  return started !== undefined && missing.length > 0;
}

/** How many commands are held, in a directory or everywhere. */
export function countHeld(cwd?: string): number {
  return held.filter((command) => isIn(command, cwd)).length;
}

/** Ends what is held in a directory, or all; says whether there was any. */
export function dropHeld(cwd?: string): boolean {
  const dropped = held.filter((command) => isIn(command, cwd));
  letGo(dropped);
  return dropped.length > 0;
}

function isIn({ options }: HeldCommand, cwd: string | undefined): boolean {
  return cwd === undefined || options.cwd === cwd;
}

function letGo(commands: readonly HeldCommand[]): void {
  held = held.filter((command) => !commands.includes(command));
  for (const { subprocess } of commands) {
    for (const pipe of subprocess.stdio) pipe?.destroy();
  }
}

function letAllGo(): void {
  idleTimer = undefined;
  dropHeld();
}

const texts = new WeakMap<object, string>();

/**
 * What a command that is started now inherits, the directory among it: under the same name there may be another.
 *
 * @returns `undefined` for a directory that cannot be used, for whatever reason: a command that starts there says
 *   which
 */
function stateOf({ cwd, env }: Place): string | undefined {
  try {
    const found = statSync(cwd);
    if (!found.isDirectory()) return undefined;
    const text = texts.get(env) ?? JSON.stringify(env);
    texts.set(env, text);
    const directories = directoriesOf({ cwd, env });
    return [found.dev, found.ino, inheritedState(), cwd, directories, text].join('\0');
  } catch {
    return undefined;
  }
}

/** `undefined` where it cannot be started: the command starts at its event, and reports what is wrong if it still is. */
function hold(command: HoldableCommand, state: string, isProbe = false): HeldCommand | undefined {
  try {
    const gate = gateDescriptor();
    if (gate === undefined) return undefined;
    const { execution, options } = command;
    // Another program in the place of a script would run at once.
    if (!isStill(command, options)) return undefined;
    const runId = newRunId(options.env[RUN_ID]);
    const env = {
      ...environmentOf(options, runId),
      ...execution.variables,
      BASH_ENV: GATE_FILE,
      ...(isProbe && { __hookstack_probe: '1' }),
    };
    const subprocess = spawnGroup(execution, { cwd: options.cwd, env }, [...PIPES, gate]);
    for (const pipe of subprocess.stdio) pipe?.on('error', ignore);
    const control = subprocess.stdio[3];
    // Node's pipes carry both ways, which its types do not know.
    if (subprocess.pid === undefined || !(control instanceof Socket)) return undefined;
    // What only waits keeps no host alive.
    setReferenced(subprocess, false);
    const beginnings = noteBeginnings(subprocess);
    const onNoise = giveUpOn.bind(undefined, state);
    const started = { ...command, runId, state, subprocess, beginnings, control, onNoise };
    subprocess.stderr.on('data', onNoise);
    // Its pipes stay: when it ends as a command, what it has written may not be read yet.
    subprocess.once('exit', () => {
      const known = held.includes(started) ? gates.get(state) : undefined;
      if (known) known.earlyEnds += 1;
      held = held.filter((each) => each !== started);
    });
    return started;
  } catch {
    return undefined;
  }
}

/** What is known of the gate in one state. */
interface GateFacts {
  /** Whether bash waits there: where it sources nothing, a command would run at once. `undefined` while it is asked. */
  waits?: boolean;
  /** How many ended before they were needed. */
  earlyEnds: number;
}

const gates = new Map<string, GateFacts>();
/** States of which that is remembered; the environment is part of each. */
const MAX_GATES = 32;
const MAX_EARLY_ENDS = 3;

/** Whether bash waits at the gate in a place; `undefined` while it is asked to show it, which is done the first time. */
export function waitsAtGate(place: Place): boolean | undefined {
  const state = changesBash(place) ? undefined : stateOf(place);
  if (state === undefined) return false;
  const { waits, earlyEnds } = gates.get(state) ?? askToWait(place, state);
  return waits && earlyEnds <= MAX_EARLY_ENDS;
}

/** With a command that does nothing, should it be run at once. */
function askToWait(place: Place, state: string): GateFacts {
  const facts: GateFacts = { earlyEnds: 0 };
  if (gates.size >= MAX_GATES) gates.clear();
  gates.set(state, facts);
  const command = holdable({ ...place, command: ':' });
  const probe = command && hold(command, state, true);
  if (!probe) return Object.assign(facts, { waits: false });
  probe.subprocess.once('exit', () => (facts.waits ??= false));
  probe.control.once('data', () => {
    facts.waits = true;
    letGo([probe]);
  });
  return facts;
}

function giveUpOn(state: string): void {
  noisy.add(state);
  letGo(held.filter((each) => each.state === state));
}

/**
 * The gate as a file that nobody can change, for each bash that waits at it to inherit: without a name, so that nothing
 * is left of it. `undefined` where there is no room for one.
 */
function gateDescriptor(): number | undefined {
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

function ignore(): void {}
