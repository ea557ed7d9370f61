import { readFileSync } from 'node:fs';
import { orUndefined } from './paths.js';

/** The unit in which Linux counts the processor time of a thread. */
const TICK_MS = 10;

/**
 * Starts to count the processor time of this thread.
 *
 * @returns a function that returns the ms since then; those of the process, where the system does not count per thread
 */
export function startStopwatch(): () => number {
  const ofThread = orUndefined(threadTicks);
  const ofProcess = process.cpuUsage();
  return () => {
    const ticks = orUndefined(threadTicks);
    if (ofThread !== undefined && ticks !== undefined) return (ticks - ofThread) * TICK_MS;
    const { user, system } = process.cpuUsage(ofProcess);
    return (user + system) / 1000;
  };
}

function threadTicks(): number {
  const line = readFileSync('/proc/thread-self/stat', 'latin1');
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
