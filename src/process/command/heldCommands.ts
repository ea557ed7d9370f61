import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Socket } from 'node:net';
import { orUndefined, statsOf } from '../../util/paths.js';
import { directoriesOf, executionOf, type Execution, type StartOptions } from './execution.js';
import { gateFor, GO, readByBash } from './gate.js';
import { letPendingEventsThrough } from './outputCollector.js';
import { killGroups, untrackGroup } from './processGroup.js';
import { isShortOfRoom } from './room.js';
import {
  asRunningCommand,
  inheritedState,
  newRunId,
  RUN_ID,
  spawnGroup,
  type Extras,
  type RunningCommand,
} from './startCommand.js';

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
export interface HeldCommand extends HoldableCommand {
  /** The run that it will be: what it starts has its mark from the beginning. */
  readonly runId: string;
  /** All that it inherited, which must not have changed when it is taken. */
  readonly state: string;
  readonly subprocess: ChildProcessWithoutNullStreams;
  readonly running: RunningCommand;
  /** Takes the word to go; absent for what waits at its stdin. */
  readonly gate: Socket | undefined;
  /** Called when such commands have ended too early too often. */
  readonly onGivingUp: () => void;
}

/** Those that were started first come first. */
let held: HeldCommand[] = [];
/** How often the same one has ended early, by its key, or by its state at the gate. */
const earlyEnds = new Map<string, number>();
/** Whether bash waits at the gate in a state: where it sources nothing, a command would run at once. */
const waiting = new Map<string, boolean | undefined>();

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
  const command = held.length > 0 ? findHeld(options) : undefined;
  if (!command) return undefined;
  held = held.filter((each) => each !== command);
  earlyEnds.delete(command.key);
  if (command.state === stateOf(options) && isUnchanged(command, options)) return command;
  endHeld([command]);
  return undefined;
}

function findHeld(options: StartOptions): HeldCommand | undefined {
  const key = commandKeyOf(options);
  return held.find((each) => each.key === key && each.options.cwd === options.cwd);
}

/** The script may have become another program, or none. A line stays what it is, and what runs already does. */
function isUnchanged({ execution }: HoldableCommand, options: StartOptions): boolean {
  if (!execution.variables || options.prestart) return true;
  return JSON.stringify(readByBash(options)) === JSON.stringify(execution);
}

/** Lets a command go that was taken; `undefined` where it has died meanwhile. */
export async function releaseHeld(command: HeldCommand): Promise<RunningCommand | undefined> {
  const { subprocess, running, gate } = command;
  running.setReferenced(true);
  if (!gate) {
    // What has died while this process was busy must not be taken for what waits.
    await letPendingEventsThrough();
    if (!hasEnded(command)) return running;
    endHeld([command]);
    return undefined;
  }
  subprocess.stderr.removeAllListeners('data');
  gate.end(GO);
  // What has died while this process was busy reads nothing, which is known at once: its exit is not.
  if (gate.errored || gate.destroyed) {
    endHeld([command]);
    return undefined;
  }
  // A process stopped by SIGSTOP would never read the word.
  subprocess.kill('SIGCONT');
  // A socket that is closed with something unread in it is an error for the other end, and the word is the last of all.
  return { ...running, neverBegan: () => gate.errored !== null };
}

function hasEnded({ running: { status } }: HeldCommand): boolean {
  return status.exitCode !== null || status.signalCode !== null;
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
  const isTooMany = held.filter(({ gate }) => !gate).length >= MAX_AT_STDIN;
  if (isTooMany || (earlyEnds.get(key) ?? 0) > MAX_EARLY_ENDS) return;
  // When it is needed it is started again, and what is wrong is reported then.
  orUndefined(() => hold({ key, options, execution: executionOf(options) }, state, onGivingUp));
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
  endHeld(unwanted);
  let started: HeldCommand | undefined;
  while (!started && missing.length > 0) started = holdAtGate(missing.shift()!, state);
  endHeld(held.filter(({ gate }) => gate).slice(0, -MAX_AT_GATE));
  return started !== undefined && missing.length > 0;
}

/** `undefined` where it cannot be started: the command starts at its event, and reports what is wrong if it still is. */
function holdAtGate(
  command: HoldableCommand,
  state: string,
  isProbe = false,
): HeldCommand | undefined {
  const giveUp = () => {
    waiting.set(state, false);
    endHeld(held.filter((each) => each.gate && each.state === state));
  };
  // Another program in the place of a script would run at once.
  if (!isUnchanged(command, command.options)) return undefined;
  const started = orUndefined(() => hold(command, state, giveUp, gateFor(isProbe)));
  // Such as that a locale is missing: that is not the command's to say.
  started?.subprocess.stderr.on('data', giveUp);
  return started;
}

/** Starts it. `undefined` where the system refuses, also by an exception. */
function hold(
  command: HoldableCommand,
  state: string,
  onGivingUp: () => void,
  atGate?: Extras,
): HeldCommand | undefined {
  const { options, execution } = command;
  const { runId = newRunId(options.env[RUN_ID]) } = options;
  const subprocess = spawnGroup(options, execution, runId, atGate);
  for (const pipe of subprocess.stdio) pipe?.on('error', ignore);
  const running = asRunningCommand(subprocess, runId);
  if (!running) return undefined;
  // What only waits keeps no host alive.
  running.setReferenced(false);
  // Node's pipes carry both ways, which its types do not know.
  const gate = subprocess.stdio[3] as Socket | undefined;
  const started = { ...command, runId, state, subprocess, running, gate, onGivingUp };
  subprocess.once('exit', () => noteEnd(started));
  held.push(started);
  return started;
}

function noteEnd(command: HeldCommand): void {
  if (!held.includes(command)) return;
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
  const probe = command && holdAtGate(command, state, true);
  waiting.set(state, probe ? undefined : false);
  if (!probe) return;
  held = held.filter((each) => each !== probe);
  const settle = (waits: boolean) => {
    if (waiting.get(state) === undefined) waiting.set(state, waits);
    endHeld([probe]);
  };
  probe.subprocess.once('exit', () => settle(false));
  probe.gate?.once('data', () => settle(true));
}

/** How many commands are held, in a directory or everywhere. */
export function countHeld(cwd?: string): number {
  return held.filter((command) => isIn(command, cwd)).length;
}

/** Ends what is held in a directory, or all; says whether there was any. */
export function dropHeld(cwd?: string): boolean {
  const dropped = held.filter((command) => isIn(command, cwd));
  endHeld(dropped);
  return dropped.length > 0;
}

function isIn({ options }: HeldCommand, cwd: string | undefined): boolean {
  return cwd === undefined || options.cwd === cwd;
}

function endHeld(commands: readonly HeldCommand[]): void {
  if (commands.length === 0) return;
  held = held.filter((command) => !commands.includes(command));
  const alive = commands.filter((command) => !hasEnded(command));
  killGroups(alive.map(({ running }) => running.group));
  for (const { running, subprocess } of commands) {
    untrackGroup(running.group);
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
  const found = statsOf(cwd);
  if (!found?.isDirectory()) return undefined;
  const text = texts.get(env) ?? JSON.stringify(env);
  texts.set(env, text);
  const { directory, isGone } = directoriesOf({ cwd, env });
  return [found.dev, found.ino, inheritedState(), cwd, directory, isGone, text].join('\0');
}

function ignore(): void {}
