import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startFloor } from './startFloor.mjs';
import { startHost } from './startHost.mjs';

/**
 * Starts hosts for as long as `use` needs them.
 *
 * @template T
 * @param {(hosts: import('./contests.mjs').Hosts) => Promise<T>} use
 * @returns {Promise<T>} what `use` made of them
 */
export function withHosts(use) {
  const starts = {
    warm: (directory) => startHost('hookstack', directory),
    cold: (directory) => startHost('hookstack', directory),
    peer: (directory) => startHost('geminiCliCore', directory),
    floor: startFloor,
  };
  return withProcesses(starts, use);
}

/**
 * @template T
 * @param {Record<string, (directory: string) => Promise<import('./startHost.mjs').Host>>} starts each in the same new
 *   directory, which is removed in the end
 * @param {(hosts: Record<string, import('./startHost.mjs').Host>) => Promise<T>} use
 * @returns {Promise<T>} what `use` made of them
 */
export async function withProcesses(starts, use) {
  const directory = await mkdtemp(path.join(tmpdir(), 'hookstack-bench-'));
  const started = await Promise.allSettled(Object.values(starts).map((start) => start(directory)));
  try {
    const hosts = started.map(({ value, reason }) => {
      if (reason) throw reason;
      return value;
    });
    return await use(Object.fromEntries(Object.keys(starts).map((name, at) => [name, hosts[at]])));
  } finally {
    for (const { value } of started) await value?.close();
    await rm(directory, { recursive: true, force: true });
  }
}
