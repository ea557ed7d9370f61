import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readySpawner } from '../../src/process/spawner/spawner.js';

/** The process that starts hooks, and how many commands are held in it; `undefined` where none is up. */
export function spawnerStatus() {
  const spawner = readySpawner();
  const { pid = 0, runId = '' } = spawner ?? {};
  return spawner && { pid, runId, held: childrenOf(pid).filter(isHeld).length };
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) =>
      readFile(name, 'stat')
        .replace(/^.*\) . /s, '')
        .startsWith(`${parent} `),
    )
    .map(Number);
}

/** Whether it waits at the gate, and not only to show that it would. */
function isHeld(pid: number): boolean {
  const environment = readFile(pid, 'environ');
  const isAtGate = environment.includes('BASH_ENV=/dev/fd/4') && existsSync(`/proc/${pid}/fd/3`);
  return isAtGate && !environment.includes('__hookstack_probe=');
}

function readFile(pid: number | string, name: 'stat' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
