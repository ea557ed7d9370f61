import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { parseNatsServer } from '../../fleet/address.js';
import {
  connectNats,
  isAbsence,
  LAST_WORDS_MS,
  watchConnection,
  whyNotConnected,
  withinMs,
  type TlsFiles,
} from '../../fleet/natsConnection.js';
import { withoutSecret } from '../../fleet/secret.js';

export interface SteadyNatsOptions extends TlsFiles {
  /** `nats://HOST:PORT`. */
  readonly url: string;
  readonly secret?: string | undefined;
  /** What the server shows for this connection. */
  readonly name: string;
  /** Called with each loss, with its return, and with what the server refuses. */
  readonly onWarn: (message: string) => void;
  /**
   * Called with the connection once there is one; the library keeps up its subscriptions afterwards.
   *
   * @throws Error where nothing can be done with it
   */
  readonly onOpen: (connection: NatsConnection) => Promise<void>;
}

/** Ms between attempts to connect for the first time. */
const RETRY_MS = 500;

/** A connection of a server: made again for ever, also where there is nobody yet, until it is closed. */
export class SteadyNats {
  readonly #closing = new AbortController();
  readonly #server: string;
  #connection: NatsConnection | undefined;
  #isUp = false;

  private constructor(private readonly options: SteadyNatsOptions) {
    this.#server = parseNatsServer(options.url).server;
  }

  /**
   * @returns after the first attempt; where nobody was there, it goes on trying
   * @throws Error for an address, a file, or credentials with which there cannot be a connection
   */
  static async open(options: SteadyNatsOptions): Promise<SteadyNats> {
    const steady = new SteadyNats(options);
    const failure = await steady.#attempt();
    if (failure !== undefined && !isAbsence(failure)) throw steady.#explained(failure);
    if (failure !== undefined) void steady.#keepTrying(failure);
    return steady;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** What there is, also while it is lost; none before the first. */
  get connection(): NatsConnection | undefined {
    return this.#connection;
  }

  /** Sends what is waiting to be sent, and ends the connection. */
  async close(): Promise<void> {
    this.#closing.abort();
    const connection = this.#connection;
    if (connection && this.#isUp) {
      await withinMs(connection.flush(), LAST_WORDS_MS).catch(() => undefined);
    }
    this.#isUp = false;
    await connection?.close();
  }

  /** @returns why there is no connection */
  async #attempt(): Promise<unknown> {
    const { url, secret, name, onOpen, caFile, certFile, keyFile } = this.options;
    let connection: NatsConnection | undefined;
    try {
      const address = parseNatsServer(url);
      const tls = { caFile, certFile, keyFile };
      connection = await connectNats({ address, secret, name, isSteady: true, ...tls });
      if (this.#closing.signal.aborted) {
        await connection.close();
        return undefined;
      }
      this.#connection = connection;
      this.#isUp = true;
      void this.#watch(connection);
      await onOpen(connection);
      return undefined;
    } catch (error) {
      this.#isUp = false;
      this.#connection = undefined;
      await connection?.close();
      return error;
    }
  }

  async #keepTrying(first: unknown): Promise<void> {
    let said: string | undefined;
    for (let failure = first; failure !== undefined; failure = await this.#attempt()) {
      const { message } = this.#explained(failure);
      if (message !== said) this.options.onWarn(`${message}; it is tried again and again`);
      said = message;
      const { signal } = this.#closing;
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
    if (this.#isUp) this.options.onWarn(`NATS at ${this.#server} is there now`);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    const { onWarn } = this.options;
    await watchConnection(connection, {
      onLost: () => {
        if (this.#isUp) onWarn(`NATS at ${this.#server} is lost; it is tried again and again`);
        this.#isUp = false;
      },
      onBack: () => {
        this.#isUp = true;
        onWarn(`NATS at ${this.#server} is back`);
      },
      onError: (error) => onWarn(this.#explained(error).message),
    });
    this.#isUp = false;
  }

  #explained(error: unknown): Error {
    const { secret } = this.options;
    const why = withoutSecret(whyNotConnected(error, this.#server), secret);
    return new Error(why, { cause: error });
  }
}
