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
import { watchInterruption } from '../shared/interruption.js';
import { printNotice } from '../shared/terminal.js';
import { Outlet } from './lines.js';
import type { McpProxy } from './proxy.js';

/** Between whom messages pass. */
export interface Ends {
  /** Of the server. */
  readonly name: string;
  readonly proxy: McpProxy;
  readonly client: Outlet;
}

interface Session extends Ends {
  /** What starts the server, and its arguments. */
  readonly command: readonly string[];
}

/** For the answers to calls that are on their way when the client has said all. */
export const LAST_ANSWERS_MS = 30_000;
/** For a server that has nothing more to read: clients end what they have started after two seconds. */
const OWN_END_MS = 1200;
/** From SIGTERM to SIGKILL. */
const GRACE_MS = 500;
/** For the rest of what a server has written before its end, and for its end after its output. */
const LAST_WORDS_MS = 500;
/** For the first request of a client whose server could not be started. */
const FIRST_REQUEST_MS = 1000;

/**
 * Starts a server and passes messages until client or server is gone.
 *
 * @returns the exit code
 */
export async function serve(session: Session): Promise<number> {
  const { name, proxy, client, command } = session;
  const [program = '', ...args] = command;
  // Else the first signal would end the proxy, and leave the server's group to SIGKILL.
  const { signal, dispose } = watchInterruption();
  try {
    const server = await startServer(program, args).catch((error: unknown) => errorMessage(error));
    if (typeof server !== 'string') return await serveWith(session, server, signal);
    const message = `the MCP server "${name}" cannot be started: ${server}`;
    printNotice('error', `${message}; check the command behind --`);
    proxy.fail(message);
    // The client reads why in the answer to its first request.
    await comesWithin(FIRST_REQUEST_MS, proxy.readClient(process.stdin, undefined));
    return 1;
  } finally {
    await client.flushed();
    dispose();
  }
}

async function serveWith(
  session: Session,
  server: ServerProcess,
  signal: AbortSignal,
): Promise<number> {
  const { name, proxy } = session;
  try {
    const why = await pass(session, server, signal);
    if (why === undefined) return 0;
    const message = `the MCP server "${name}" ${why}`;
    printNotice('error', `${message}; all requests that wait for it have failed`);
    proxy.fail(message);
    return 1;
  } finally {
    // Ends the hooks of calls that nobody waits for any more.
    proxy.fail('the session is over');
    await server.end(GRACE_MS);
  }
}

/** @returns why the server is gone; `undefined` where the client, or a signal, has ended the session */
async function pass(
  { proxy }: Session,
  server: ServerProcess,
  interruption: AbortSignal,
): Promise<string | undefined> {
  const said = proxy.readServer(server.stdout).catch(() => undefined);
  const gone = watchEnd(server, said);
  const interrupted = new Promise<undefined>((resolve) => {
    interruption.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const outlet = new Outlet(server.stdin);
  const left = proxy.readClient(process.stdin, outlet).catch(() => undefined);
  const hasLeft = left.then(() => comesWithin(LAST_ANSWERS_MS, proxy.settled()));
  const why = await Promise.race([gone, interrupted, hasLeft.then(() => undefined)]);
  if (why !== undefined || interruption.aborted) return why;
  outlet.end();
  await Promise.race([interrupted, comesWithin(OWN_END_MS, gone)]);
  return undefined;
}

/** @returns why it is gone, once everything that it has written has been read */
async function watchEnd(
  { exited }: ServerProcess,
  said: Promise<string | undefined>,
): Promise<string> {
  const broken = await Promise.race([said, exited.then(() => undefined)]);
  if (broken !== undefined) return broken;
  await comesWithin(LAST_WORDS_MS, said);
  const hasExited = await comesWithin(LAST_WORDS_MS, exited);
  return hasExited ? `has ended (${await exited})` : 'has closed its output';
}

/** A server of MCP that runs. */
interface ServerProcess {
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
async function startServer(command: string, args: readonly string[]): Promise<ServerProcess> {
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
