import { untrackGroup } from './liveGroups.js';
import { killGroups } from './processGroup.js';
import { isShortOfRoom } from '../util/room.js';
import type { StartOptions } from './execution.js';
import { inheritedState, startCommand, type RunningCommand } from './startCommand.js';
import { letPendingEventsThrough } from './outputCollector.js';
import { directoryStamp } from '../util/fileStamp.js';

/** How often a command that ends before it is needed is started anew. */
const MAX_EARLY_ENDS = 3;

/** At most this many commands of a process wait: each of them takes the memory of its interpreter. */
const MAX_PRESTARTED = 16;

interface Prestarted {
  readonly cwd: string;
  /** What it inherited, which must not have changed when it is taken. */
  readonly surroundings: string;
  isStarting: boolean;
  /** Absent while it is being started, and once it has ended too early. */
  command?: RunningCommand;
  earlyEnds: number;
}

/** Commands of this process that run already and wait for their input, by what they are. */
const prestarted = new Map<string, Prestarted>();

/** Whether a command was started ahead and still waits for its input. */
export function isPrestarted(options: StartOptions): boolean {
  return findPrestarted(options)?.command !== undefined;
}

/** Takes a command that was started ahead and still waits for its input. */
export async function takePrestarted(options: StartOptions): Promise<RunningCommand | undefined> {
  if (!isPrestarted(options)) return undefined;
  // What has died while the host was busy must not be taken for what waits.
  await letPendingEventsThrough();
  const entry = findPrestarted(options);
  const command = entry?.command;
  if (!entry || !command) return undefined;
  entry.command = undefined;
  entry.earlyEnds = 0;
  command.setReferenced(true);
  return command;
}

/**
 * Starts a command ahead of its input, unless it waits already. One that ends before it was needed is started anew at
 * the next call, but not more than three times.
 *
 * @param onGivingUp called once when it ended too early too often
 */
export async function prestart(options: StartOptions, onGivingUp: () => void): Promise<void> {
  const entry = isShortOfRoom() ? undefined : entryFor(options);
  if (!entry || entry.isStarting || entry.command || entry.earlyEnds > MAX_EARLY_ENDS) return;
  entry.isStarting = true;
  try {
    const command = await startCommand(options);
    command.setReferenced(false);
    command.stdin.on('error', () => undefined);
    entry.command = command;
    if (prestarted.get(keyOf(options)) === entry) void noticeEarlyEnd(entry, command, onGivingUp);
    else end(entry);
  } catch {
    // When it is needed it is started again, and what is wrong is reported then.
  } finally {
    entry.isStarting = false;
  }
}

/** The entry of a command, a new one where its surroundings have changed. `undefined` when there are too many. */
function entryFor(options: StartOptions): Prestarted | undefined {
  const key = keyOf(options);
  const known = prestarted.get(key);
  const surroundings = surroundingsOf(options);
  if (known?.surroundings === surroundings) return known;
  if (known) end(known);
  else if (prestarted.size >= MAX_PRESTARTED) return undefined;
  const entry = { cwd: options.cwd, surroundings, isStarting: false, earlyEnds: 0 };
  prestarted.set(key, entry);
  return entry;
}

async function noticeEarlyEnd(
  entry: Prestarted,
  command: RunningCommand,
  onGivingUp: () => void,
): Promise<void> {
  await command.exited;
  if (entry.command !== command) return;
  entry.command = undefined;
  untrackGroup(command.group);
  entry.earlyEnds += 1;
  if (entry.earlyEnds > MAX_EARLY_ENDS) onGivingUp();
}

/** Ends the commands that wait in a directory, or all; says whether there were any. */
export function dropPrestarted(cwd?: string): boolean {
  const dropped = [...prestarted].filter(([, entry]) => cwd === undefined || entry.cwd === cwd);
  const hadAny = dropped.some(([, { command }]) => command !== undefined);
  for (const [key, entry] of dropped) {
    prestarted.delete(key);
    end(entry);
  }
  return hadAny;
}

function end(entry: Prestarted): void {
  const { command } = entry;
  entry.command = undefined;
  if (!command) return;
  killGroups([command.group]);
  untrackGroup(command.group);
}

function findPrestarted(options: StartOptions): Prestarted | undefined {
  const entry = prestarted.get(keyOf(options));
  return entry?.surroundings === surroundingsOf(options) ? entry : undefined;
}

function keyOf({ command, args, cwd, extraEnv }: StartOptions): string {
  return JSON.stringify([command, args, cwd, extraEnv]);
}

function surroundingsOf({ cwd, env }: StartOptions): string {
  return JSON.stringify([inheritedState(), directoryStamp(cwd), env]);
}
