import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Notices } from './notices.js';

/** Ms that a client has, so that one that sends nothing costs nothing. */
export interface DoorTimeouts {
  /** For the headers of a request, from when it has connected. */
  readonly headersMs: number;
  /** For all of a request. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly idleMs: number;
}

const DOOR_TIMEOUTS: DoorTimeouts = { headersMs: 5000, requestMs: 30_000, idleMs: 60_000 };

/** What TLS needs, as PEM. With `ca`, clients need a certificate of it. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

export interface ServerSettings {
  readonly tls?: ServerTls | undefined;
  readonly notices: Notices;
  readonly timeouts?: DoorTimeouts;
}

const MAX_CONNECTIONS = 4096;

/** A server that nobody can hold up: what takes too long is ended. */
export async function makeServer(
  { tls, notices, timeouts = DOOR_TIMEOUTS }: ServerSettings,
  listener: RequestListener,
): Promise<Server> {
  const { headersMs, requestMs, idleMs } = timeouts;
  const limits: ServerOptions = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1000, headersMs),
  };
  if (!tls) return limited(createServer(limits, listener));
  const https = await import('node:https');
  const { cert, key, ca } = tls;
  const asked = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true };
  const settings = { ...limits, cert, key, ...asked, handshakeTimeout: headersMs };
  const server = https.createServer(settings, listener);
  server.on('tlsClientError', ({ message }) =>
    notices.tell('warning', 'tls', `a connection was refused, as TLS has failed: ${message}`),
  );
  return limited(server);
}

function limited(server: Server): Server {
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** For answers on their way, in ms. */
const LAST_WORDS_MS = 1000;

/** Takes no more connections, and ends those that are there. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), LAST_WORDS_MS);
  await closed;
  clearTimeout(timer);
}
