import { setTimeout } from 'node:timers/promises';
import {
  findByTraces,
  findDescendants,
  hasRunningMember,
  stillThere,
  type FoundProcess,
  type ProcessGroup,
} from './processTable.js';

/**
 * Ends a group: SIGTERM, then SIGKILL for what is left after `graceMs`, in the group or out of it.
 * Resolves as soon as no member runs any more, and after SIGKILL without looking again.
 */
export async function endGroup(group: ProcessGroup, graceMs: number): Promise<void> {
  // Once its parent has ended, nobody knows whose child a process was.
  const descendants = findDescendants([group]);
  signalGroup(group, 'SIGTERM');
  // A stopped process gets its SIGTERM only once it continues.
  signalGroup(group, 'SIGCONT');
  await waitForEnd(group, graceMs);
  kill([group], stillThere(descendants));
}

/** Kills whatever is left of these groups, inside and outside of them, at once and synchronously. */
export function killGroups(groups: readonly ProcessGroup[]): void {
  kill(groups, findDescendants(groups));
}

function kill(groups: readonly ProcessGroup[], descendants: readonly FoundProcess[]): void {
  for (const group of groups) signalGroup(group, 'SIGKILL');
  for (const { pid } of descendants) sendSignal(pid, 'SIGKILL');
  for (const { pid } of findByTraces(groups)) sendSignal(pid, 'SIGKILL');
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
