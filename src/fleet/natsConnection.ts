import type * as Nats from '@nats-io/transport-node';
import { readFile } from 'node:fs/promises';
import type { Authenticator, ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import type { FleetAddress } from './address.js';
import type { TlsFiles } from './question.js';

export interface NatsOptions extends TlsFiles {
  readonly address: Pick<FleetAddress & { kind: 'nats' }, 'server' | 'tls'>;
  readonly secret?: string | undefined;
  /** What the server shows for this connection. */
  readonly name: string;
  /** Where answers come, such as `_INBOX.acme.agent1`, which no other agent may read. */
  readonly inboxPrefix?: string;
  /** Ms to wait for the connection. */
  readonly timeoutMs?: number;
}

/**
 * Connects to a NATS server. A connection that is lost is made again, for as long as it takes, until it is closed.
 *
 * @throws Error where the package is missing, or there is no connection in time
 */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const { address, secret, name, inboxPrefix, timeoutMs = 5000 } = options;
  const nats = await loadPackage(
    () => import('@nats-io/transport-node'),
    '@nats-io/transport-node',
  );
  const tls = await readTls(options);
  const settings: ConnectionOptions = {
    servers: address.server,
    name,
    timeout: timeoutMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    ignoreClusterUpdates: true,
    ...(inboxPrefix !== undefined && { inboxPrefix }),
    ...((address.tls || tls) && { tls: tls ?? {} }),
    ...(secret !== undefined && { authenticator: authenticatorOf(nats, secret) }),
  };
  return nats.connect(settings);
}

/** @throws Error that says which package to install */
export async function loadPackage<T>(load: () => Promise<T>, name: string): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `NATS needs the package "${name}", which is not installed: npm install ${name}`,
      {
        cause: error,
      },
    );
  }
}

async function readTls({ caFile, certFile, keyFile }: TlsFiles) {
  if (caFile === undefined && certFile === undefined) return undefined;
  const [ca, cert, key] = await Promise.all([caFile, certFile, keyFile].map(readIfNamed));
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

async function readIfNamed(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : readFile(file, 'utf8');
}

function authenticatorOf(nats: typeof Nats, secret: string): Authenticator {
  const bytes = new TextEncoder().encode(secret);
  if (secret.includes('BEGIN NATS USER JWT')) return nats.credsAuthenticator(bytes);
  if (/^SU[A-Z2-7]{56}$/u.test(secret)) return nats.nkeyAuthenticator(bytes);
  const colon = secret.indexOf(':');
  if (colon < 0) return nats.tokenAuthenticator(secret);
  return nats.usernamePasswordAuthenticator(secret.slice(0, colon), secret.slice(colon + 1));
}
