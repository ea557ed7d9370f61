import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { endGroup } from '../../process/command/processGroup.js';
import {
  trackGroup,
  untrackGroup,
  watchHost,
  isDetached,
} from '../../process/command/runningCommand.js';
import { errorMessage } from '../../util/errorMessage.js';

/** A server of MCP that runs. */
export interface ServerProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** How it has ended, such as `exit code 1`. */
  readonly exited: Promise<string>;
  /** Ends it and what it has started, with SIGTERM, and SIGKILL after `graceMs`. */
  readonly end: (graceMs: number) => Promise<void>;
}

/**
 * Starts a server as its client would: without a shell, with the same environment and directory. Its stderr is ours.
 *
 * @throws Error that says why it cannot be started
 */
export async function startServer(
  command: string,
  args: readonly string[],
): Promise<ServerProcess> {
  const { execa } = await import('execa');
  watchHost();
  const child = execa(command, args, {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    buffer: false,
    reject: false,
    // A group of its own, to be ended as a whole.
    detached: isDetached,
  });
  const { pid, stdin, stdout } = child;
  if (pid === undefined) {
    const { cause, shortMessage } = await child;
    throw new Error(cause === undefined ? shortMessage : errorMessage(cause));
  }
  // No mark in its environment, which is to be as without the proxy; its stderr is held by others too.
  const marks = { mark: `HOOKSTACK_MCP=${randomUUID()}`, pipes: [] };
  const group = { id: pid, startedAt: process.uptime(), ...marks };
  trackGroup(group);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  // Who writes to a server that is gone learns it from its end.
  stdin.on('error', () => undefined);
  stdout.on('error', () => undefined);
  const end = async (graceMs: number) => {
    await endGroup(group, graceMs);
    untrackGroup(group);
    stdin.destroy();
    stdout.destroy();
  };
  return { stdin, stdout, exited, end };
}

/** Whether something comes in time. */
export async function comesWithin(ms: number, awaited: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([awaited.then(() => true), late]);
  } finally {
    timer.abort();
  }
}
