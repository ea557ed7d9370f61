import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isRunning } from '../../process/helpers.js';

/**
 * The pids of all processes but this one that run with a `HOOKSTACK_RUN_ID` that begins like this, wherever they went.
 */
export function findProcesses(runId: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => readFile(pid, 'environ').includes(`HOOKSTACK_RUN_ID=${runId}`))
    .filter(isRunning);
}

/** The words that a process was started with; empty for one that has ended meanwhile. */
export function commandOf(pid: number): string {
  return readFile(pid, 'cmdline').replaceAll('\0', ' ');
}

/** Whether it is a hook's command that is held, and has not been told to go. */
export function isExpecting(pid: number): boolean {
  return readFile(pid, 'environ').includes('BASH_ENV=/dev/fd/4') && existsSync(`/proc/${pid}/fd/3`);
}

/** `undefined` for one that has ended meanwhile. */
export function parentOf(pid: number): number | undefined {
  const [, parent] = /^PPid:\s+(\d+)/m.exec(readFile(pid, 'status')) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

function readFile(pid: number, file: 'environ' | 'cmdline' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** Kills processes that may have ended meanwhile. */
export function kill(pids: readonly number[]): void {
  for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL');
}
