import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PEER = '@google/gemini-cli-core';

/**
 * Installs what the package is measured against, in this directory, unless it is there.
 *
 * @param {string} [peer] one of these packages
 * @returns {string} its name and version
 * @throws Error when npm fails
 */
export function installPeer(peer = PEER) {
  const wanted = readJson('package.json').dependencies[peer];
  if (installedVersion(peer) === wanted) return `${peer} ${wanted}`;
  console.error(`Installing ${peer} ${wanted} for the benchmark …`);
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 2, 2],
  });
  return `${peer} ${wanted}`;
}

function installedVersion(peer) {
  try {
    return readJson(`node_modules/${peer}/package.json`).version;
  } catch {
    return undefined;
  }
}

function readJson(file) {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}
