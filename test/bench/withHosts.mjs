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
export async function withHosts(use) {
  const directory = await mkdtemp(path.join(tmpdir(), 'hookstack-bench-'));
  const started = await Promise.allSettled([
    startHost('hookstack', directory),
    startHost('hookstack', directory),
    startHost('geminiCliCore', directory),
    startFloor(directory),
  ]);
  try {
    const [warm, cold, peer, floor] = started.map(({ value, reason }) => {
      if (reason) throw reason;
      return value;
    });
    return await use({ warm, cold, peer, floor });
  } finally {
    for (const { value } of started) await value?.close();
    await rm(directory, { recursive: true, force: true });
  }
}
