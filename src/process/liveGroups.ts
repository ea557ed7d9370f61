import { onExit } from 'signal-exit';
import { killGroups, type ProcessGroup } from './processGroup.js';

/**
 * Watches for the host's end, to be called right before something is started that is tracked at once: a signal that came
 * between start and tracking would end the host, and nobody would end the group.
 */
export function watchHost(): void {
  stopWatching ??= onExit(killTrackedGroups);
  lookForIdleness();
}

/** To be called by a host that ends in a way which nothing can watch. */
export function killTrackedGroups(): void {
  killGroups([...live]);
}

/**
 * Remembers a group for as long as it runs: should the host end before it, by a signal, by `process.exit`,
 * or by an uncaught error, the group is killed. To be called after `watchHost`.
 */
export function trackGroup(group: ProcessGroup): void {
  live.add(group);
}

/** Forgets a group that has ended, or that may outlive the host. */
export function untrackGroup(group: ProcessGroup): void {
  live.delete(group);
  lookForIdleness();
}

/**
 * Ms without a command after which the host is watched no longer. Events come in bursts, and to listen to some twenty
 * signals anew for each takes a tenth of the time that a hook takes. Meanwhile they end the host as they would anyway,
 * once it has time for them.
 */
const LINGER_MS = 1000;

const live = new Set<ProcessGroup>();
let stopWatching: (() => void) | undefined;
let lingering: NodeJS.Timeout | undefined;

function lookForIdleness(): void {
  if (live.size > 0) return;
  lingering ??= setTimeout(() => {
    lingering = undefined;
    stopWatchingWhenIdle();
  }, LINGER_MS).unref();
  lingering.refresh();
}

// The host's signals are its own while no command runs, but for that moment.
function stopWatchingWhenIdle(): void {
  if (live.size > 0) return;
  stopWatching?.();
  stopWatching = undefined;
}
