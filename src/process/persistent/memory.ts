import { readdirSync, readFileSync } from 'node:fs';

/**
 * The resident memory of a process and of all that it has started and that still hangs on it, in MB. 0 where the system
 * does not say.
 */
export function residentMemory(pid: number): number {
  let kilobytes = 0;
  const family = [pid];
  // Grows while it is walked through; a process that has ended meanwhile has neither memory nor children.
  for (const each of family) {
    const [, resident = 0] = /^VmRSS:\s+(\d+) kB/m.exec(readProcess(`${each}/status`)) ?? [];
    kilobytes += Number(resident);
    family.push(...childrenOf(each));
  }
  return kilobytes / 1024;
}

/** Each thread of a process has its own. */
function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.flatMap((thread) =>
      readProcess(`${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function readProcess(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'latin1');
  } catch {
    return '';
  }
}
