import type { Socket } from 'node:net';
import path from 'node:path';
import { orUndefined, realPathOf, statsOf } from '../../util/paths.js';
import { executionOf, type Execution, type StartOptions } from './execution.js';
import { GO, heldByBash, PROBE, readByBash, writeGate } from './gate.js';
import { killGroups } from './processGroup.js';
import { letPendingEventsThrough } from './reading.js';
import {
  asRunningCommand,
  hasExited,
  inheritedState,
  isShortOfRoom,
  newRunId,
  PLAIN,
  RUN_ID,
  setReferenced,
  spawnGroup,
  untrackGroup,
  type Extras,
  type RunningCommand,
} from './runningCommand.js';

// Starting an interpreter is most of what a hook takes. So a command is started ahead of its event, just as it would be for
// it, and held: bash at a gate, before it opens its script or looks at its line; and what says `prestart` where it reads its
// input.

/** Commands at the gate, of all projects together. Each takes four descriptors. */
const MAX_AT_GATE = 32;
/** Commands at their stdin: each of them takes the memory of its interpreter. */
const MAX_AT_STDIN = 16;
/** How often one may end before it is needed. */
const MAX_EARLY_ENDS = 3;
/** States of which is remembered whether bash waits; the environment is part of each. */
const MAX_STATES = 32;

type Place = Pick<StartOptions, 'cwd' | 'env'>;

/** A command that can be held at the gate. */
export interface HoldableCommand {
  /** By which the same command is known in its directory. */
  readonly key: string;
  readonly options: StartOptions;
  readonly execution: Execution;
}

/** A command that was started ahead, and waits. */
export interface HeldCommand extends HoldableCommand, RunningCommand {
  /** The run that it will be: what it starts has its mark from the beginning. */
  readonly runId: string;
  /** All that it inherited, which must not have changed when it is taken. */
  readonly state: string;
  /** Takes the word to go; absent for what waits at its stdin. */
  readonly gate: Socket | undefined;
  /** Called when such commands have ended too early too often. */
  readonly onGivingUp: () => void;
}

/** Those that were started first come first. */
const held = new Set<HeldCommand>();
/** How often the same one has ended early, by its key, or by its state at the gate. */
const earlyEnds = new Map<string, number>();
/** Whether bash waits at the gate in a state: where it sources nothing, a command would run at once. */
const waiting = new Map<string, boolean | undefined>();
/** The gate, once something was held at it. */
let openGate: Extras | undefined;

/** By which the same command is known in its directory; never empty. */
export function commandKeyOf({
  command,
  args,
  extraEnv,
  prestart,
}: Omit<StartOptions, 'cwd' | 'env'>) {
  return JSON.stringify([command, args, extraEnv, prestart === true]);
}

/** Takes a command that is held; `undefined` where none is, or it would be executed in another way now. */
export function takeHeld(options: StartOptions): HeldCommand | undefined {
  const command = findHeld(options);
  if (!command) return undefined;
  held.delete(command);
  earlyEnds.delete(command.key);
  if (command.state === stateOf(options) && isUnchanged(command, options)) return command;
  endHeld([command]);
  return undefined;
}

function findHeld(options: StartOptions): HeldCommand | undefined {
  if (held.size === 0) return undefined;
  const key = commandKeyOf(options);
  for (const each of held) if (each.key === key && each.options.cwd === options.cwd) return each;
  return undefined;
}

/** The script may have become another program, or none. A line stays what it is, and what runs already does. */
function isUnchanged({ execution }: HoldableCommand, options: StartOptions): boolean {
  if (!execution.variables || options.prestart) return true;
  return JSON.stringify(readByBash(options)) === JSON.stringify(execution);
}

/** Lets a command go that was taken. Says whether it was still there. */
export function releaseHeld(command: HeldCommand): boolean | Promise<boolean> {
  const { subprocess, gate } = command;
  setReferenced(subprocess, true);
  if (!gate) return isStillThere(command);
  subprocess.stderr.removeAllListeners('data');
  gate.end(GO);
  // What has died while this process was busy reads nothing, which is known at once: its exit is not.
  if (gate.errored || gate.destroyed) {
    endHeld([command]);
    return false;
  }
  // A process stopped by SIGSTOP would never read the word.
  subprocess.kill('SIGCONT');
  return true;
}

/** What has died while this process was busy must not be taken for what waits at its stdin. */
async function isStillThere(command: HeldCommand): Promise<boolean> {
  await letPendingEventsThrough();
  if (!hasExited(command.subprocess)) return true;
  endHeld([command]);
  return false;
}

export function holdable(options: StartOptions): HoldableCommand | undefined {
  const execution = readByBash(options);
  return execution && { key: commandKeyOf(options), options, execution };
}

/**
 * Starts a command ahead of its input, unless it waits already. One that ends before it was needed is started anew at
 * the next call, but not more than three times.
 *
 * @param onGivingUp called once when it ended too early too often
 */
export function holdAtStdin(options: StartOptions, onGivingUp: () => void): void {
  const state = isShortOfRoom() ? undefined : stateOf(options);
  const known = findHeld(options);
  if (state === undefined || known?.state === state) return;
  if (known) endHeld([known]);
  const key = commandKeyOf(options);
  const isTooMany = [...held].filter(({ gate }) => !gate).length >= MAX_AT_STDIN;
  if (isTooMany || (earlyEnds.get(key) ?? 0) > MAX_EARLY_ENDS) return;
  const execution = orUndefined(() => executionOf(options));
  if (execution) hold({ key, options, execution }, state, onGivingUp);
}

/**
 * Starts one more of the commands that are to be held at the gate in a place, and lets go of those that are not, or that
 * have inherited what has changed since, so that they serve nobody any more. To be called when nobody waits for an answer.
 *
 * @returns whether it is to be called again for more, once others have had their turn
 */
export function holdNext(place: Place, wanted: readonly HoldableCommand[]): boolean {
  const state = isShortOfRoom() ? undefined : stateOf(place);
  if (state === undefined || waiting.get(state) === false) return false;
  const missing = wanted.slice(0, MAX_AT_GATE);
  const unwanted: HeldCommand[] = [];
  for (const command of held) {
    if (!command.gate || command.options.cwd !== place.cwd) continue;
    const at = command.state === state ? missing.findIndex(({ key }) => key === command.key) : -1;
    if (at >= 0) missing.splice(at, 1);
    else unwanted.push(command);
  }
  if (unwanted.length > 0) endHeld(unwanted);
  let started: HeldCommand | undefined;
  while (!started && missing.length > 0) {
    const next = missing.shift()!;
    // Another program in the place of a script would run at once.
    if (isUnchanged(next, next.options)) started = hold(next, state);
  }
  if (held.size > MAX_AT_GATE) endHeld([...held].filter(({ gate }) => gate).slice(0, -MAX_AT_GATE));
  return started !== undefined && missing.length > 0;
}

/**
 * Starts it. `undefined` where the system refuses, also by an exception: it starts at its event, and says what is wrong if it
 * still is.
 *
 * @param whenGivenUp for what is to wait at its stdin; all else waits at the gate
 */
function hold(
  command: HoldableCommand,
  state: string,
  whenGivenUp?: () => void,
): HeldCommand | undefined {
  const { options, execution } = command;
  const { runId = newRunId(options.env[RUN_ID]) } = options;
  const onGivingUp = whenGivenUp ?? (() => giveUpGate(state));
  try {
    const extras = whenGivenUp ? PLAIN : (openGate ??= writeGate());
    const isAtGate = execution.shebang && !whenGivenUp;
    const subprocess = spawnGroup(
      options,
      isAtGate ? heldByBash(options, execution) : execution,
      runId,
      extras,
    );
    for (const pipe of subprocess.stdio) pipe?.on('error', ignore);
    const running = asRunningCommand(subprocess, runId);
    if (!running) return undefined;
    // What only waits keeps no host alive.
    setReferenced(subprocess, false);
    // Node's pipes carry both ways, which its types do not know.
    const gate = subprocess.stdio[3] as Socket | undefined;
    // Such as that a locale is missing: that is not the command's to say.
    if (gate) subprocess.stderr.on('data', onGivingUp);
    const started = { ...command, ...running, runId, state, gate, onGivingUp };
    subprocess.once('exit', () => held.has(started) && noteEnd(started));
    held.add(started);
    return started;
  } catch {
    return undefined;
  }
}

function giveUpGate(state: string): void {
  waiting.set(state, false);
  endHeld([...held].filter((each) => each.gate && each.state === state));
}

function noteEnd(command: HeldCommand): void {
  const { gate, key, state, onGivingUp } = command;
  endHeld([command]);
  const what = gate ? state : key;
  const ends = (earlyEnds.get(what) ?? 0) + 1;
  earlyEnds.set(what, ends);
  if (ends === MAX_EARLY_ENDS + 1) onGivingUp();
}

/** Whether bash waits at the gate in a place; `undefined` while it is asked to show it, which is done the first time. */
export function waitsAtGate(place: Place): boolean | undefined {
  const state = stateOf(place);
  if (state === undefined) return false;
  if (!waiting.has(state)) probeGate(place, state);
  return waiting.get(state);
}

/** With the command `:`, which does no harm where bash does not wait. */
function probeGate(place: Place, state: string): void {
  if (waiting.size >= MAX_STATES) for (const known of [waiting, earlyEnds]) known.clear();
  const command = holdable({ ...place, command: ':' });
  const options = command && { ...command.options, extraEnv: PROBE };
  const probe = options && hold({ ...command, options }, state);
  waiting.set(state, probe ? undefined : false);
  if (!probe) return;
  held.delete(probe);
  const settle = (waits: boolean) => {
    if (waiting.get(state) === undefined) waiting.set(state, waits);
    endHeld([probe]);
  };
  probe.subprocess.once('exit', () => settle(false));
  probe.gate?.once('data', () => settle(true));
}

/** How many commands are held, in a directory or everywhere. */
export function countHeld(cwd?: string): number {
  return heldIn(cwd).length;
}

/** Ends what is held in a directory, or all; says whether there was any. */
export function dropHeld(cwd?: string): boolean {
  const dropped = heldIn(cwd);
  endHeld(dropped);
  return dropped.length > 0;
}

function heldIn(cwd: string | undefined): HeldCommand[] {
  return [...held].filter(({ options }) => cwd === undefined || options.cwd === cwd);
}

function endHeld(commands: readonly HeldCommand[]): void {
  const alive = commands.filter(({ subprocess }) => !hasExited(subprocess));
  for (const command of commands) held.delete(command);
  killGroups(alive.map(({ group }) => group));
  for (const { group, subprocess } of commands) {
    untrackGroup(group);
    for (const pipe of subprocess.stdio) pipe?.destroy();
  }
}

const texts = new WeakMap<object, string>();

/**
 * What a command that is started now inherits, the directory among it: under the same name there may be another.
 *
 * @returns `undefined` for a directory that cannot be used, for whatever reason: a command that starts there says
 *   which
 */
function stateOf({ cwd, env }: Place): string | undefined {
  const here = identityOf(cwd);
  if (here === '') return undefined;
  const text = texts.get(env) ?? JSON.stringify(env);
  texts.set(env, text);
  // By these bash says what its directory is called, and whether there is one before.
  const named = identityOf(path.resolve(cwd, env['PWD'] ?? ''));
  const before = identityOf(path.resolve(cwd, env['OLDPWD'] ?? ''));
  return [here, named, before, realPathOf(cwd), cwd, inheritedState(), text].join('\0');
}

/** Empty for anything but a directory that can be looked at. */
function identityOf(directory: string): string {
  const stats = statsOf(directory);
  return stats?.isDirectory() ? `${stats.dev}:${stats.ino}` : '';
}

function ignore(): void {}
