import { onExit } from 'signal-exit';
import { killGroups, type ProcessGroup } from './processGroup.js';

/**
 * Starts something that is tracked before `start` returns. The host's end is watched from before the
 * start: a signal that came between start and tracking would end the host, and nobody would end the group.
 */
export function whileWatchingHost<T>(start: () => T): T {
  stopWatching ??= onExit(() => killGroups([...live]));
  try {
    return start();
  } finally {
    stopWatchingWhenIdle();
  }
}

/**
 * Remembers a group for as long as it runs: should the host end before it, by a signal, by `process.exit`,
 * or by an uncaught error, the group is killed. To be called inside `whileWatchingHost`.
 */
export function trackGroup(group: ProcessGroup): void {
  live.add(group);
}

/** Forgets a group that has ended, or that may outlive the host. */
export function untrackGroup(group: ProcessGroup): void {
  live.delete(group);
  // After the answer: some thirty listeners are removed.
  setImmediate(stopWatchingWhenIdle);
}

const live = new Set<ProcessGroup>();
let stopWatching: (() => void) | undefined;

// The host's signals are its own while no command runs.
function stopWatchingWhenIdle(): void {
  if (live.size > 0) return;
  stopWatching?.();
  stopWatching = undefined;
}
