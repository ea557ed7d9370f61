import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execaNode } from 'execa';
import { findMarked, killAll } from './processes.mjs';

/** Where a host's hooks write the pids of what they start: the value of `PIDS` in their environment. */
const PID_FILE = 'pids';

/** A host that takes longer than this hangs. */
const HOST_TIMEOUT_MS = 30 * 60_000;

/**
 * Runs a program of this directory as a host of hooks for as long as `watch` needs it. Afterwards the host, and
 * whatever its hooks have left behind, is gone.
 *
 * @template T
 * @param {string} program name of the file
 * @param {readonly string[]} programArguments
 * @param {(host: { subprocess: import('execa').ResultPromise, runId: string, pidFile: string }) => Promise<T>} watch
 *   `runId` and `pidFile` find the processes of the host's hooks (see `listRunning`); `subprocess` never rejects
 * @returns {Promise<T>} what `watch` made of it
 */
export async function launchHost(program, programArguments, watch) {
  const directory = await mkdtemp(path.join(tmpdir(), 'hookstack-soak-'));
  const runId = `soak-${randomUUID()}`;
  const pidFile = path.join(directory, PID_FILE);
  const subprocess = execaNode(fileURLToPath(new URL(program, import.meta.url)), programArguments, {
    nodeOptions: ['--expose-gc'],
    env: { HOOKSTACK_RUN_ID: runId, PIDS: pidFile },
    timeout: HOST_TIMEOUT_MS,
    reject: false,
  });
  try {
    return await watch({ subprocess, runId, pidFile });
  } finally {
    subprocess.kill('SIGKILL');
    await subprocess;
    killAll(findMarked(runId));
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Runs a program that measures itself and prints its figures as JSON.
 *
 * @param {string} program name of the file
 * @param {readonly number[]} sizes its arguments
 * @returns {Promise<import('./figures.mjs').Figure[]>}
 * @throws Error when it does not get to its end
 */
export function collectFigures(program, ...sizes) {
  return launchHost(program, sizes.map(String), async ({ subprocess }) => {
    const { failed, message, stdout } = await subprocess;
    if (failed) throw new Error(message);
    return JSON.parse(stdout);
  });
}
