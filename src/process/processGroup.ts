import { setTimeout } from 'node:timers/promises';
import { findByEnvironment, hasRunningMember } from './processTable.js';

/** A command's shell, and what it starts. */
export interface ProcessGroup {
  /** The id of the group, which is the pid of the shell. */
  readonly id: number;
  /** `NAME=value`, in the environment of all of them: it finds those that left the group (`setsid`). */
  readonly mark: string;
}

/**
 * Ends a group: SIGTERM, then SIGKILL for what is left after `graceMs`, in the group or out of it.
 * Resolves as soon as no member runs any more, and after SIGKILL without looking again.
 */
export async function endGroup(group: ProcessGroup, graceMs: number): Promise<void> {
  signalGroup(group, 'SIGTERM');
  // A stopped process gets its SIGTERM only once it continues.
  signalGroup(group, 'SIGCONT');
  await waitForEnd(group, graceMs);
  killGroups([group]);
}

/** Kills whatever is left of these groups, inside and outside of them, at once and synchronously. */
export function killGroups(groups: readonly ProcessGroup[]): void {
  for (const group of groups) signalGroup(group, 'SIGKILL');
  for (const pid of findByEnvironment(groups.map(({ mark }) => mark))) sendSignal(pid, 'SIGKILL');
}

async function waitForEnd(group: ProcessGroup, graceMs: number): Promise<void> {
  const endBy = performance.now() + graceMs;
  // Looking costs a walk through the process table, so the longer it takes the less often we look.
  for (let pauseMs = 10; isRunning(group); pauseMs = Math.min(pauseMs * 2, 250)) {
    const remainingMs = endBy - performance.now();
    if (remainingMs <= 0) return;
    await setTimeout(Math.min(pauseMs, remainingMs));
  }
}

function isRunning(group: ProcessGroup): boolean {
  return signalGroup(group, 0) && (hasRunningMember(group.id) ?? true);
}

function signalGroup(group: ProcessGroup, signal: NodeJS.Signals | 0): boolean {
  return sendSignal(process.platform === 'win32' ? group.id : -group.id, signal);
}

/** Says whether there is such a process, or group. */
function sendSignal(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
