import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { parseNatsServer } from '../../fleet/address.js';
import {
  connectNats,
  isAbsence,
  lastWords,
  watchConnection,
  whyNotConnected,
  type NatsOptions,
} from '../../fleet/natsConnection.js';
import type { TlsFiles } from '../../fleet/question.js';
import { every, retry } from '../../util/retry.js';
import { withoutSecret } from '../../fleet/secret.js';

export interface SteadyNatsOptions extends TlsFiles {
  /** `nats://HOST:PORT`. */
  readonly url: string;
  /** Asked for again and again, as it may have been replaced. */
  readonly readSecret?: () => Promise<string | undefined>;
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
  /** The library looks at it for each connection. */
  readonly #login: NatsOptions & { secret?: string | undefined };
  #connection: NatsConnection | undefined;
  isUp = false;

  private constructor(private readonly options: SteadyNatsOptions) {
    const address = parseNatsServer(options.url);
    this.#server = address.server;
    this.#login = { ...options, address, isSteady: true };
  }

  /**
   * @returns after the first attempt; where nobody was there, it goes on trying
   * @throws Error for an address, a file, or credentials with which there cannot be a connection
   */
  static async open(options: SteadyNatsOptions): Promise<SteadyNats> {
    const steady = new SteadyNats(options);
    try {
      await steady.#attempt();
    } catch (error) {
      if (!isAbsence(error)) throw steady.#explained(error);
      void steady.#keepTrying(error);
    }
    return steady;
  }

  /** Sends what is waiting to be sent, and ends the connection. */
  async close(): Promise<void> {
    this.#closing.abort();
    const connection = this.#connection;
    if (connection && this.isUp) await lastWords(connection.flush());
    this.isUp = false;
    await connection?.close();
  }

  async #attempt(): Promise<void> {
    await this.#readSecret();
    const connection = await connectNats(this.#login);
    try {
      this.#closing.signal.throwIfAborted();
      this.#connection = connection;
      this.isUp = true;
      void this.#watch(connection);
      await this.options.onOpen(connection);
    } catch (error) {
      this.isUp = false;
      this.#connection = undefined;
      await connection.close();
      throw error;
    }
  }

  async #keepTrying(first: unknown): Promise<void> {
    const { onWarn } = this.options;
    const { signal } = this.#closing;
    let said: string | undefined;
    const onFailure = (error: unknown) => {
      const { message } = this.#explained(error);
      if (message !== said) onWarn(`${message}; it is tried again and again`);
      said = message;
    };
    onFailure(first);
    try {
      await sleep(RETRY_MS, undefined, { signal });
      await retry(() => this.#attempt(), { pauses: every(RETRY_MS), signal, onFailure });
      onWarn(`NATS at ${this.#server} is there now`);
    } catch {
      // It was closed meanwhile.
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    const { onWarn } = this.options;
    await watchConnection(connection, {
      onLost: () => {
        if (this.isUp) onWarn(`NATS at ${this.#server} is lost; it is tried again and again`);
        this.isUp = false;
      },
      // Where it is another one by now, the attempt after this has it.
      onAttempt: () => void this.#readSecret().catch(({ message }: Error) => onWarn(message)),
      onBack: () => {
        this.isUp = true;
        onWarn(`NATS at ${this.#server} is back`);
      },
      onError: (error) => onWarn(this.#explained(error).message),
    });
    this.isUp = false;
  }

  async #readSecret(): Promise<void> {
    this.#login.secret = await this.options.readSecret?.();
  }

  #explained(error: unknown): Error {
    const why = withoutSecret(whyNotConnected(error, this.#server), this.#login.secret);
    return new Error(why, { cause: error });
  }
}
