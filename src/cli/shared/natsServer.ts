import type { NatsConnection } from '@nats-io/transport-node';
import { Option } from 'commander';
import { parseNatsServer } from '../../fleet/address.js';
import type { TlsFiles } from '../../fleet/question.js';
import { orUsageError, UsageError } from './usageError.js';

/** Where the NATS server of a fleet is, and what proves who asks. */
export interface NatsServerOptions {
  readonly nats?: string;
  readonly tokenFile?: string;
  readonly natsCa?: string;
  readonly natsCert?: string;
  readonly natsKey?: string;
}

/** What settings call them. */
export function tlsOf({ natsCa, natsCert, natsKey }: NatsServerOptions): TlsFiles {
  return { caFile: natsCa, certFile: natsCert, keyFile: natsKey };
}

/** Whom to believe at NATS, and who one is. */
export const natsTlsOptions = [
  new Option('--nats-ca <file>', 'whom to believe at NATS, in PEM; default whom Node.js believes'),
  new Option('--nats-cert <file>', 'a certificate of your own for NATS, in PEM'),
  new Option('--nats-key <file>', 'its key'),
];

export const natsServerOptions = [
  new Option('--nats <url>', 'the NATS server of the fleet: nats://HOST:PORT'),
  new Option('--token-file <file>', 'a file of mode 600 with what proves who asks'),
  ...natsTlsOptions,
];

/**
 * Connects to the NATS server that the options name.
 *
 * @throws UsageError where they are wrong, or there is no connection within 5 seconds
 */
export async function connectNatsServer(
  { nats = '', tokenFile, ...files }: NatsServerOptions,
  name: string,
): Promise<NatsConnection> {
  const address = await orUsageError(() => parseNatsServer(nats), tellAddress);
  const { connectNats, natsAdvice, whyNotConnected } =
    await import('../../fleet/natsConnection.js');
  const { readSecret, withoutSecret } = await import('../../fleet/secret.js');
  let secret: string | undefined;
  try {
    secret = await readSecret({ tokenFile });
    return await connectNats({ address, secret, name, ...tlsOf(files) });
  } catch (cause) {
    const why = withoutSecret(whyNotConnected(cause, address.server), secret);
    const advice = natsAdvice(cause) === undefined ? `; ${LOOK}` : '';
    throw new UsageError(`${why}${advice}`, { cause });
  }
}

const LOOK = 'see whether it runs, and whether --nats, --token-file and --nats-ca are right';

const tellAddress = (detail: string) => `--nats cannot be used: ${detail}`;
