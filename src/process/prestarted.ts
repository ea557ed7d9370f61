import { untrackGroup } from './liveGroups.js';
import { killGroups } from './processGroup.js';
import { startCommand, type RunningCommand, type StartOptions } from './startCommand.js';

/** How often a command that ends before it is needed is started anew. */
const MAX_EARLY_ENDS = 3;

interface Prestarted {
  readonly cwd: string;
  /** Absent while it is being started, and once it has ended too early. */
  command?: RunningCommand;
  earlyEnds: number;
}

/** Commands of this process that run already and wait for their input, by what they are. */
const prestarted = new Map<string, Prestarted>();

/** Whether a command was started ahead and still waits for its input. */
export function isPrestarted(options: StartOptions): boolean {
  return prestarted.get(keyOf(options))?.command !== undefined;
}

/** Takes a command that was started ahead and still waits for its input. */
export function takePrestarted(options: StartOptions): RunningCommand | undefined {
  const entry = prestarted.get(keyOf(options));
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
  const key = keyOf(options);
  const entry = prestarted.get(key) ?? { cwd: options.cwd, earlyEnds: -1 };
  if (entry.command || entry.earlyEnds > MAX_EARLY_ENDS) return;
  entry.earlyEnds = Math.max(0, entry.earlyEnds);
  prestarted.set(key, entry);
  try {
    const command = await startCommand(options);
    command.setReferenced(false);
    command.stdin.on('error', () => undefined);
    entry.command = command;
    if (prestarted.get(key) === entry) void noticeEarlyEnd(entry, command, onGivingUp);
    else end(entry);
  } catch {
    // When it is needed it is started again, and what is wrong is reported then.
  }
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

/** Ends the commands that wait in a directory, or all. */
export function dropPrestarted(cwd?: string): void {
  for (const [key, entry] of prestarted) {
    if (cwd !== undefined && entry.cwd !== cwd) continue;
    prestarted.delete(key);
    end(entry);
  }
}

function end(entry: Prestarted): void {
  const { command } = entry;
  entry.command = undefined;
  if (!command) return;
  killGroups([command.group]);
  untrackGroup(command.group);
}

function keyOf({ command, cwd, env, extraEnv }: StartOptions): string {
  return JSON.stringify([command, cwd, env, extraEnv]);
}
