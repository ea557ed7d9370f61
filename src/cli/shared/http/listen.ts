import type { Server } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { toVisible } from '../terminal.js';
import { UsageError } from '../usageError.js';

/** Where a server listens. Port 0 is a free one. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** @throws UsageError for what is no `HOST:PORT` */
export function parseListen(text: string): Address {
  const [, host = '', digits = ''] = /^(\[[\da-f:.]+\]|[^\s:[\]/]+):(\d{1,5})$/iu.exec(text) ?? [];
  const port = Number(digits);
  if (host === '' || port > 65_535) {
    throw new UsageError(
      `--listen ${toVisible(text)} is no address: write HOST:PORT, such as 127.0.0.1:8787`,
    );
  }
  // What name servers and files say of it is another matter.
  return { host: host === 'localhost' ? '127.0.0.1' : host.replaceAll(/[[\]]/gu, ''), port };
}

/**
 * Has a server listen.
 *
 * @returns what a URL says of where it does: `HOST:PORT`
 * @throws Error where the address cannot be listened to
 */
export async function listen(
  server: Server | HttpsServer,
  { host, port }: Address,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    // Later it says that a connection could not be taken, and must not end the server.
    server.on('error', ({ message }) =>
      reject(new Error(`${message}: say another address with --listen HOST:PORT`)),
    );
    server.listen({ host, port }, resolve);
  });
  const { address, port: bound, family } = server.address() as AddressInfo;
  return `${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
}

/** @param lastWordsMs for answers on their way */
export async function closeServer(
  server: Server | HttpsServer,
  lastWordsMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), lastWordsMs);
  await closed;
  clearTimeout(timer);
}
