// Notes with each test whether HOOKSTACK_WARM_SHELLS can have made a difference for it: whether its file had started
// the process that starts hooks by then, or a host as a process of its own, with the environment of the tests.
// test/withoutWarmShells.mjs reads it in the report.
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { afterEach } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    keepsShells?: true;
  }
}

declare global {
  /** Of this process, in which files may run one after the other: one that comes later may use what is there. */
  var keepsShells: boolean | undefined;
}

if (globalThis.keepsShells === undefined) {
  globalThis.keepsShells = false;
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess };
    child.once('spawn', () => {
      globalThis.keepsShells ||= isSpawner(child) || isHost(child);
    });
  });
}

afterEach(({ task }) => {
  if (globalThis.keepsShells) task.meta.keepsShells = true;
});

/** The process in which commands are held. */
function isSpawner({ spawnargs }: ChildProcess): boolean {
  return spawnargs.some((each) => each.endsWith('spawner.cjs'));
}

/** Whether it is a program of Node that was given this process's environment. */
function isHost({ pid, spawnargs }: ChildProcess): boolean {
  return /\bnode\b/.test(spawnargs.join(' ')) && environmentOf(pid).includes('VITEST_WORKER_ID=');
}

/** Empty for a process that has ended meanwhile. */
function environmentOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
