import { readdirSync, readFileSync } from 'node:fs';
import { isRunning } from '../../process/helpers.js';

/**
 * The pids of all processes but this one that run with a `HOOKSTACK_RUN_ID` that begins like this, wherever they went.
 */
export function findProcesses(runId: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => readEnvironment(pid).includes(`HOOKSTACK_RUN_ID=${runId}`))
    .filter(isRunning);
}

/** Empty for a process that has ended meanwhile. */
function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

/** Kills processes that may have ended meanwhile. */
export function kill(pids: readonly number[]): void {
  for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL');
}
