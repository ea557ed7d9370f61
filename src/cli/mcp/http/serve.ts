import { EventEmitter } from 'node:events';
import { watchInterruption } from '../../shared/interruption.js';
import { printNotice } from '../../shared/terminal.js';
import { comesWithin, LAST_ANSWERS_MS, type Ends } from '../serve.js';
import { openDoor } from './door.js';
import type { Place } from './place.js';
import { RemoteServer } from './remote.js';
import { Upstream } from './upstream.js';

/**
 * Passes messages between a client that has started this process, and a server over HTTP.
 *
 * @returns the exit code
 */
export async function serveRemote(
  { url, headers }: Place,
  { name, proxy, client }: Ends,
  warn: (what: string) => void,
): Promise<number> {
  const { signal, dispose } = watchInterruption();
  const { gone, lost } = watchLoss();
  const drained = () => client.drained();
  const upstream = new Upstream(url);
  const server = new RemoteServer({ name, upstream, headers, proxy, warn, lost, drained });
  try {
    const left = proxy.readClient(process.stdin, server).catch(() => undefined);
    const hasLeft = left.then(() => comesWithin(LAST_ANSWERS_MS, proxy.settled()));
    const why = await Promise.race([gone, untilAborted(signal), hasLeft.then(() => undefined)]);
    if (why === undefined) return 0;
    const message = `the MCP server "${name}" ${why}`;
    printNotice('error', `${message}; all requests that wait for it have failed`);
    proxy.fail(message);
    return 1;
  } finally {
    proxy.fail('the session is over');
    await server.end();
    await client.flushed();
    dispose();
  }
}

/**
 * Lets clients in over HTTP, until a signal comes.
 *
 * @returns the exit code
 */
export async function serveDoor(
  { url }: Place,
  listen: { readonly host: string; readonly port: number },
  { name, proxy }: Ends,
  warn: (what: string) => void,
): Promise<number> {
  const { signal, dispose } = watchInterruption();
  try {
    const door = await openDoor({ name, url, ...listen, proxy, warn }).catch((error: unknown) =>
      String(error),
    );
    if (typeof door === 'string') {
      printNotice('error', `clients of "${name}" cannot be let in: ${door}`);
      return 1;
    }
    printNotice('note', `"${name}" is at ${door.url}: write that as the url of the server`);
    await untilAborted(signal);
    proxy.fail('hookstack mcp was ended');
    await door.close();
    return 0;
  } finally {
    dispose();
  }
}

/** Why nothing can be asked any more, once somebody says so. */
function watchLoss(): { readonly gone: Promise<string>; readonly lost: (why: string) => void } {
  const said = new EventEmitter<{ lost: [string] }>();
  const gone = new Promise<string>((resolve) => said.once('lost', resolve));
  return { gone, lost: (why) => void said.emit('lost', why) };
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
