import { setTimeout } from 'node:timers/promises';
import { onExit } from 'signal-exit';
import {
  findByTraces,
  findDescendants,
  hasRunningMember,
  stillThere,
  type FoundProcess,
  type ProcessGroup,
} from './processTable.js';

/** Those that end with this process. */
const live = new Set<ProcessGroup>();
let stopWatching: (() => void) | undefined;
/** Since it was last looked. */
let wasUsed = false;

/**
 * Watches for the end of this process, to be called right before something is started that is tracked at once: a signal
 * that came between start and tracking would end it, and nobody would end the group.
 */
export function watchHost(): void {
  if (stopWatching) return;
  const unload = onExit(killTrackedGroups);
  const looking = setInterval(() => {
    // The host's signals are its own while no command runs.
    if (live.size === 0 && !wasUsed) stopWatching?.();
    wasUsed = false;
  }, LINGER_MS).unref();
  stopWatching = () => {
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
