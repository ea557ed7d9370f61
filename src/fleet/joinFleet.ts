import type { FleetSettings } from './fleetSettings.js';
import type { HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import { DebugLogger } from '../util/debugLogger.js';
import { errorMessage } from '../util/errorMessage.js';
import { notify } from '../util/notify.js';
import { parseFleetAddress } from './address.js';
import { withFiles } from './files.js';
import { RECORD_NEEDS_NATS } from './recordSubject.js';
import { readSecret, withoutSecret } from './secret.js';
import { SpanSender } from './spanSender.js';

/** How a host belongs to a fleet. */
export interface JoinOptions {
  /** Whose values are masked in the record. Default: variables with the names of secrets. */
  readonly environment?: HookEnvironmentPolicy;
  /** Called with what goes wrong, which never keeps the host from its work. Default: the logger is told. */
  readonly onProblem?: (message: string) => void;
  readonly logger?: DebugLogger;
  /** Ms that `close` may take, besides the time to end the connection. Default 2000. */
  readonly flushMs?: number;
  /** Whether it is a policy server. Default: it is an agent, which is of no team `policy`. */
  readonly isServer?: boolean;
}

/** What belongs to a fleet, until it is closed. */
export interface Membership {
  /** Sends what is left, for a while, and ends the connection, which keeps the process alive until then. Idempotent. */
  close(): Promise<void>;
}

/**
 * Makes this process one of a fleet, as the key `fleet` of the settings says: with `record`, its spans are sent to the
 * record, and kept on disk while they cannot be.
 *
 * @param settings `settings.fleet`; `undefined` does nothing
 * @returns never rejects: what is wrong in the settings is a problem, and the work goes on without a fleet
 */
export async function joinFleet(
  settings: FleetSettings | undefined,
  options: JoinOptions = {},
): Promise<Membership> {
  const logger = options.logger ?? new DebugLogger('llxprt:core:hooks');
  const tell = (message: string) => {
    if (options.onProblem) notify(logger, options.onProblem, message);
    else DebugLogger.safe(logger).warn(message);
  };
  try {
    if (settings?.record === true) return await openRecord(settings, options, tell);
  } catch (error) {
    tell(`"record" has no effect in "fleet" of the settings: ${errorMessage(error)}`);
  }
  return { close: async () => undefined };
}

async function openRecord(
  settings: FleetSettings,
  { environment, flushMs, isServer }: JoinOptions,
  tell: (message: string) => void,
): Promise<Membership> {
  const { url, caFile, certFile, keyFile, ...source } = withFiles(settings);
  if (url === undefined) throw new Error('it has no url: write nats://HOST:PORT/TEAM/AGENT');
  const address = parseFleetAddress(url, undefined, isServer);
  if (address.kind !== 'nats') throw new Error(RECORD_NEEDS_NATS);
  const { tokenVariable } = source;
  const tls = { caFile, certFile, keyFile };
  let secret = await readSecret(source);
  return new SpanSender({
    address,
    ...tls,
    environment: {
      host: environment?.host,
      // What a host masks may become more.
      get redact() {
        const said = environment?.redact?.length ? environment.redact : ['@secrets'];
        return tokenVariable ? [...said, tokenVariable] : said;
      },
      get tokenVariables() {
        return environment?.tokenVariables;
      },
    },
    flushMs,
    readSecret: async () => (secret = await readSecret(source)),
    onProblem: (message) => tell(withoutSecret(message, secret)),
  });
}
