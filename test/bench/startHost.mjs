import { fileURLToPath } from 'node:url';
import { startProcess } from './startProcess.mjs';

/** @typedef {import('./startProcess.mjs').Host} Host */

/**
 * @param {'hookstack' | 'geminiCliCore'} subject
 * @param {string} cwd an empty directory, which is its home too
 * @param {string} [checkout] whose build is measured, instead of that of this one
 * @returns {Promise<Host>} see the requests of `host.mjs`
 */
export function startHost(subject, cwd, checkout) {
  const host = fileURLToPath(new URL('host.mjs', import.meta.url));
  return startProcess(host, checkout ? [subject, checkout] : [subject], cwd);
}
