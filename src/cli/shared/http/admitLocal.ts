import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../../util/loopback.js';
import { toOneLine } from '../terminal.js';

/** An answer of HTTP to who may not ask. */
export interface Rejection {
  readonly status: 401 | 403;
  readonly error: string;
}

/**
 * Without credentials only programs of this machine may ask. A page in a browser of it is none of them: it sends an
 * `Origin`, or a name in `Host` that somebody else has pointed to this machine.
 *
 * @param admitsPages whether pages of this machine may ask; others never may
 * @returns why this one may not
 */
export function admitLocal(
  { headers }: IncomingMessage,
  admitsPages: boolean,
): Rejection | undefined {
  // Some load balancers name none where they look whether it is ready; browsers always do.
  if (headers.host !== undefined && !isLoopback(headers.host.replace(/:\d{1,5}$/u, ''))) {
    const said = toOneLine(headers.host, 80);
    return { status: 403, error: `The host "${said}" is not this machine: ask 127.0.0.1` };
  }
  const { origin } = headers;
  if (origin === undefined) return undefined;
  const page = admitsPages && URL.canParse(origin) && new URL(origin);
  if (page && isLoopback(page.hostname)) return undefined;
  return { status: 403, error: 'Pages of a browser may not ask: the request has an Origin' };
}
