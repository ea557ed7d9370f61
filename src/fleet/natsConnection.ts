import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions as TlsConnectionOptions } from 'node:tls';
import type * as JetStream from '@nats-io/jetstream';
import type * as Kv from '@nats-io/kv';
import type * as Nats from '@nats-io/transport-node';
import type { Authenticator, ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { removeControls } from '../protocol/sanitizeText.js';
import { errorMessage } from '../util/errorMessage.js';
import { loadOptional } from '../util/optionalPackage.js';
import { endpointOf, UNREACHABLE, type FleetAddress } from './address.js';
import { certificateAdvice, certificatesOf } from './certificates.js';
import type { TlsFiles } from './question.js';

export interface NatsOptions extends TlsFiles {
  readonly address: Pick<FleetAddress & { kind: 'nats' }, 'server' | 'tls'>;
  /** Looked at for each connection, as it may have been replaced. */
  readonly secret?: string | undefined;
  /** What the server shows for this connection. */
  readonly name: string;
  /** Where answers come, such as `_INBOX.acme.agent1`, which no other agent may read. */
  readonly inboxPrefix?: string;
  /** Ms to wait for the connection. */
  readonly timeoutMs?: number;
  /** Whether a lost connection is made again also where the server has turned it away, as it may learn better. */
  readonly isSteady?: boolean;
}

/**
 * Connects to a NATS server. A connection that is lost is made again, for as long as it takes, until it is closed.
 *
 * @throws Error where the package is missing, or there is no connection in time
 */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const { address, name, inboxPrefix, timeoutMs = 5000, isSteady = false } = options;
  const nats = await loadPackage('@nats-io/transport-node');
  const certificates = certificatesOf(options);
  // What cannot be read is told now.
  const isCertified = Object.values(certificates).some((each) => each !== undefined);
  const settings: ConnectionOptions = {
    servers: address.server,
    name,
    timeout: timeoutMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitterTLS: 250,
    // A network that swallows everything is noticed by answers that stay away.
    pingInterval: PING_MS,
    noAsyncTraces: true,
    ignoreClusterUpdates: true,
    ignoreAuthErrorAbort: isSteady,
    ...(inboxPrefix !== undefined && { inboxPrefix }),
    // The library looks into it at each connection.
    ...((address.tls || isCertified) && {
      tls: Object.assign(certificates, certifiedFor(address.server)),
    }),
    authenticator: loginOf(nats, options),
  };
  await awaitGreeting(address.server, timeoutMs);
  return nats.connect(settings);
}

/** Ms between signs of life; two that stay unanswered are a lost connection. */
const PING_MS = 10_000;

/** What happens to a connection. The first two alternate; none comes after the end. */
export interface ConnectionObserver {
  onLost(): void;
  onBack?(): void;
  /** Before each attempt to make it again. */
  onAttempt?(): void;
  /** A right that its user does not have, for instance. */
  onError?(error: Error): void;
}

/** Tells of a connection until it is closed. While it is lost the library takes messages, but throws them away. */
export async function watchConnection(
  connection: NatsConnection,
  observer: ConnectionObserver,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') observer.onLost();
    else if (status.type === 'reconnect') observer.onBack?.();
    else if (status.type === 'reconnecting') observer.onAttempt?.();
    else if (status.type === 'error') observer.onError?.(status.error);
  }
}

const LAST_WORDS_MS = 2000;

/** Waits for what is said before a connection is closed, though not for long: the server may be gone, or hang. */
export async function lastWords(work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = sleep(LAST_WORDS_MS, undefined, { signal: timer.signal });
  await Promise.race([work, late]).catch(() => undefined);
  timer.abort();
}

/** Why there is no connection, or it is of no use, in words that end a sentence. */
export function whyNotConnected(error: unknown, server: string): string {
  const why = removeControls(errorMessage(error)).replaceAll('\n', ' ');
  const what = isRefusedUser(error)
    ? `does not know this user, or the secret is another one (${why})`
    : `cannot be used: ${why}`;
  const advice = natsAdvice(error);
  return `NATS at ${server} ${what}${advice === undefined ? '' : `; ${advice}`}`;
}

/** What to do about an error of NATS that would be the same at the next attempt; `undefined` for others. */
export function natsAdvice(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const ofCertificate = certificateAdvice(error, 'as "caFile" in settings, or with --nats-ca');
  if (ofCertificate !== undefined) return ofCertificate;
  if (isRefusedUser(error))
    return 'compare the user and its secret with the configuration of nats-server';
  if (error.message.includes("does not support 'tls'")) {
    return 'give nats-server a "tls" block, as tls:// and other machines are asked with TLS only';
  }
  const { name } =
    error.cause instanceof Error && error.name === 'RequestError' ? error.cause : error;
  if (name === 'JetStreamNotEnabled') {
    return 'switch on "jetstream" in the configuration of nats-server, for the account of the policy servers';
  }
  return name === 'PermissionViolationError' ? 'use the user of the policy servers' : undefined;
}

/** What an error of NATS says, and what to do about it. */
export function withAdvice(error: unknown): string {
  const advice = natsAdvice(error);
  return `${errorMessage(error)}${advice === undefined ? '' : ` (${advice})`}`;
}

function isRefusedUser(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthorizationError';
}

/** Whether only nobody is there yet: everything else would be the same at the next attempt. */
export function isAbsence(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = (error.cause ?? error) as NodeJS.ErrnoException;
  return error.name === 'TimeoutError' || (typeof code === 'string' && ABSENCES.has(code));
}

/** Whether NATS did not do what it was asked for, as opposed to a fault of this program. */
export function isOfNats(error: unknown): boolean {
  return isAbsence(error) || (error instanceof Error && OF_NATS.test(error.name));
}

/** Names of errors, as its packages have them. */
const OF_NATS =
  /^(?:JetStream|Stream|Consumer|Request|NoResponders|Protocol|PermissionViolation|Authorization|UserAuthentication|\w*Connection)/u;

const ABSENCES = new Set([...UNREACHABLE, 'ECONNRESET', 'ETIMEDOUT', 'EPIPE']);

interface Packages {
  '@nats-io/transport-node': typeof Nats;
  '@nats-io/jetstream': typeof JetStream;
  '@nats-io/kv': typeof Kv;
}

/**
 * Loads a package of NATS.
 *
 * @throws Error that says which package to install
 */
export function loadPackage<N extends keyof Packages>(name: N): Promise<Packages[N]> {
  return loadOptional(name, 'NATS needs');
}

/** The library would look for `localhost` in the certificate of a server that an IP address names. */
function certifiedFor(server: string): Pick<TlsConnectionOptions, 'checkServerIdentity'> {
  const { host } = endpointOf(server);
  const { checkServerIdentity } = process.getBuiltinModule('node:tls');
  return { checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) };
}

/** With the secret as it is then. Half a file is told at the first connection; later, it is tried again. */
function loginOf(nats: typeof Nats, options: NatsOptions): Authenticator {
  let last: ReturnType<Authenticator>;
  return (nonce) => {
    try {
      return (last = authenticatorOf(nats, options.secret)?.(nonce));
    } catch (error) {
      // The library would close the connection for good.
      if (!last) throw error;
      return last;
    }
  };
}

function authenticatorOf(nats: typeof Nats, secret?: string): Authenticator | undefined {
  if (secret === undefined) return undefined;
  const bytes = new TextEncoder().encode(secret);
  if (secret.includes('BEGIN NATS USER JWT')) return nats.credsAuthenticator(bytes);
  if (/^SU[A-Z2-7]{56}$/u.test(secret)) return nats.nkeyAuthenticator(bytes);
  const colon = secret.indexOf(':');
  if (colon < 0) return nats.tokenAuthenticator(secret);
  return nats.usernamePasswordAuthenticator(secret.slice(0, colon), secret.slice(colon + 1));
}

/** What a server says first is one line that begins so, and no longer than this, in bytes. */
const GREETING = 'INFO ';
const MAX_GREETING = 64 * 1024;

/**
 * Waits until a NATS server has greeted, as it does first. The client of NATS never lets go of the socket to one that hangs,
 * or says something else, which would keep this process alive.
 *
 * @param server `host:port`
 * @throws Error where it does not in time, or is something else; or the system's error
 */
export function awaitGreeting(server: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(endpointOf(server));
    const timer = setTimeout(
      () => socket.destroy(absent('ETIMEDOUT', 'it does not answer; see whether it hangs')),
      timeoutMs,
    );
    socket.once('error', reject);
    let said = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      said += text;
      if (!said.startsWith(GREETING.slice(0, said.length)) || said.length > MAX_GREETING) {
        socket.destroy(new Error('it is no NATS server'));
      } else if (said.includes('\r\n')) {
        resolve();
        socket.destroy();
      }
    });
    socket.once('close', () => {
      clearTimeout(timer);
      reject(absent('ECONNRESET', 'it has closed the connection'));
    });
  });
}

/** What is the same as nobody who answers. */
export function absent(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
