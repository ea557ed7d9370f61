import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/**
 * Lists what the hooks of a host have started and what still runs: by the mark in its environment, and by its pid in
 * case it has lost the mark.
 *
 * @param {string} runId see `findMarked`
 * @param {string} pidFile see `readPids`
 * @returns {number[]} pids
 */
export function listRunning(runId, pidFile) {
  return [...new Set([...findMarked(runId), ...readPids(pidFile).filter(isRunning)])];
}

/**
 * Finds what the hooks of a host have started, however far it has moved from them.
 *
 * @param {string} runId the host's own `HOOKSTACK_RUN_ID`, with which the ids of its hooks begin
 * @returns {number[]} pids; without the host itself, and without zombies, which have no environment any more
 */
export function findMarked(runId) {
  const mark = `HOOKSTACK_RUN_ID=${runId}/`;
  return listPids().filter((pid) => readProcessFile(pid, 'environ')?.includes(mark));
}

/**
 * Finds the children of a process that have ended and that it has not reaped.
 *
 * @param {number} parent its pid
 * @returns {number[]} pids
 */
export function findZombiesOf(parent) {
  return listPids().filter((pid) => {
    const status = readStatus(pid);
    return status?.parent === parent && status.state === 'Z';
  });
}

/**
 * Reads the pids that hooks have written, one a line.
 *
 * @param {string} file
 * @returns {number[]} empty while there is no file
 */
export function readPids(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number);
  } catch {
    return [];
  }
}

/** Kills processes, some of which may have ended meanwhile. */
export function killAll(pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}

/**
 * Waits for a condition, at most `boundMs`.
 *
 * @param {() => boolean} condition
 * @param {number} boundMs
 * @returns {Promise<number>} the ms that it took; those that have passed when it never came true
 */
export async function waitUntil(condition, boundMs) {
  const startedAt = performance.now();
  const passedMs = () => Math.round(performance.now() - startedAt);
  while (!condition() && passedMs() < boundMs) await setTimeout(POLL_INTERVAL_MS);
  return passedMs();
}

const POLL_INTERVAL_MS = 10;

/** Whether a process still does something. A zombie does not. */
function isRunning(pid) {
  const status = readStatus(pid);
  return status !== undefined && !'ZX'.includes(status.state);
}

function listPids() {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** From `/proc/[pid]/stat`: `pid (name) state parent …`, where the name may hold anything. */
function readStatus(pid) {
  const line = readProcessFile(pid, 'stat')?.toString('latin1');
  if (line === undefined) return undefined;
  const [state, parent] = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return { state, parent: Number(parent) };
}

/** `undefined` for a process that has ended meanwhile, or belongs to somebody else. */
function readProcessFile(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
