import { createSecureContext } from 'node:tls';
import { readSecretFile } from '../../fleet/secret.js';
import { readText } from '../../util/guardedRead.js';
import { isLoopback } from '../../util/loopback.js';
import { parseListen, type Address } from '../shared/http/listen.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { toVisible } from '../shared/terminal.js';
import { readTokens, type AccessOptions } from './access.js';
import type { ServerTls } from './httpDoor.js';

/** Where a server listens, and whom it answers. */
export interface Listening extends Address {
  readonly tls?: ServerTls;
  readonly access: AccessOptions;
  /** Where browsers find the server, where that is not where it listens. */
  readonly origin?: string;
}

export interface ListeningOptions {
  /** `HOST:PORT`. */
  readonly listen: string;
  readonly tokens?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly clientCa?: string;
  /** `https://HOST` of a proxy. */
  readonly origin?: string;
}

/**
 * Reads where to listen, and the files that this needs.
 *
 * @throws UsageError for what would let everybody ask, or read along
 */
export async function readListening(options: ListeningOptions): Promise<Listening> {
  const { host, port } = parseListen(options.listen);
  checkSafety(host, options);
  const { tokens: file, cert, key, clientCa, origin } = options;
  const tokens =
    file === undefined ? undefined : await orUsageError(readTokens(file), said('--tokens'));
  const tls = cert !== undefined && key !== undefined && (await readTls(cert, key, clientCa));
  return {
    host,
    port,
    ...(tls && { tls }),
    ...(origin !== undefined && { origin: originOf(origin) }),
    access: { ...(tokens && { tokens }), hasClientCertificates: clientCa !== undefined },
  };
}

/** As browsers write it, without a path. */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url && /^https?:$/u.test(url.protocol) && url.href === `${url.origin}/`;
  if (isOrigin) return url.origin;
  throw new UsageError(
    `--origin ${toVisible(text)} is no origin: write https://HOST or https://HOST:PORT, without a path`,
  );
}

function checkSafety(host: string, options: ListeningOptions): void {
  const { tokens, cert, key, clientCa, origin } = options;
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('TLS needs both: --cert FILE and --key FILE');
  }
  if (clientCa !== undefined && cert === undefined) {
    throw new UsageError(
      '--client-ca asks for certificates, which needs TLS: add --cert and --key',
    );
  }
  const isAnybody = tokens === undefined && clientCa === undefined;
  if (origin !== undefined && isAnybody) {
    throw new UsageError(
      `--origin stands for a proxy, behind which other machines look like this one: add ${CREDENTIALS}`,
    );
  }
  if (isLoopback(host)) return;
  const missing = [
    cert === undefined && 'TLS (--cert FILE --key FILE)',
    isAnybody && CREDENTIALS,
  ].filter(Boolean);
  if (missing.length === 0) return;
  throw new UsageError(
    `--listen ${toVisible(host)} can be reached from other machines: add ${missing.join(', and ')}; or listen on 127.0.0.1`,
  );
}

const CREDENTIALS =
  'a token for each agent (--tokens FILE) or client certificates (--client-ca FILE)';

async function readTls(
  cert: string,
  key: string,
  clientCa: string | undefined,
): Promise<ServerTls> {
  const tls = {
    cert: await orUsageError(readText(cert), said('--cert')),
    key: await orUsageError(readSecretFile(key), said('--key')),
    ...(clientCa !== undefined && {
      ca: await orUsageError(readText(clientCa), said('--client-ca')),
    }),
  };
  await orUsageError(
    (async () => createSecureContext(tls))(),
    (detail) => `--cert and --key cannot be used (${detail}): both are PEM, and belong together`,
  );
  return tls;
}

/** Says which option cannot be used. */
export function said(option: string) {
  return (detail: string) => `${option} cannot be used: ${detail}`;
}
