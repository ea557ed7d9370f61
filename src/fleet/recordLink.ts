import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { errorMessage } from '../util/errorMessage.js';
import type { FleetAddress } from './address.js';
import { connectNats, loadPackage, watchConnection, withAdvice } from './natsConnection.js';
import type { TlsFiles } from './question.js';
import { recordSubject } from './recordSubject.js';
import { retry } from '../util/retry.js';

export interface LinkOptions extends TlsFiles {
  readonly address: FleetAddress & { readonly kind: 'nats' };
  /** Asked for before each connection, as it may have been replaced. */
  readonly readSecret: () => Promise<string | undefined>;
  /** Called when spans can be sent, and when they cannot any more, with why. */
  readonly onChange: (problem?: string) => void;
}

/** Ms that a connection may take, and an acknowledgement. */
const CONNECT_MS = 2000;
const ACK_MS = 5000;
/** Ms until the next attempt: the first, and the longest. */
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/** The way to the record: a connection that is made again and again until it is closed. */
export class RecordLink {
  readonly #closing = new AbortController();
  readonly #subject: string;
  #nats: NatsConnection | undefined;
  #jetstream: JetStreamClient | undefined;
  #retryMs = FIRST_RETRY_MS;
  /** `connecting` until it is known whether there is a server. */
  state: 'connecting' | 'up' | 'down' = 'connecting';

  constructor(private readonly options: LinkOptions) {
    const { team, agent } = options.address;
    this.#subject = recordSubject(team, agent);
    const { signal } = this.#closing;
    const onFailure = (error: unknown) => this.#down(withAdvice(error));
    // The process need not stay for it.
    const again = { pauses: this.#pauses(), signal, ref: false, onFailure };
    void retry(() => this.#beConnected(), again).catch(() => undefined);
  }

  /** Of a message, in bytes. */
  get maxBytes(): number {
    return (this.#nats?.info?.max_payload ?? 1024 * 1024) - 1024;
  }

  /**
   * Sends a span, and waits until it is stored. The same one again is stored once.
   *
   * @throws Error where it is not known to be stored; then nothing is sent for a while
   */
  async publish(id: string, line: string): Promise<void> {
    try {
      if (!this.#jetstream) throw new Error('there is no connection');
      await this.#jetstream.publish(this.#subject, line, { msgID: id, timeout: ACK_MS });
      this.#retryMs = FIRST_RETRY_MS;
    } catch (error) {
      this.#pause(`it does not take what is sent (${errorMessage(error)})`);
      throw error;
    }
  }

  /** Ends the connection. What was not acknowledged may have arrived. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.state = 'down';
    await this.#nats?.close().catch(() => undefined);
  }

  /** @throws Error with the end of the connection, or why there is none */
  async #beConnected(): Promise<void> {
    const nats = await this.#connect();
    if (this.#closing.signal.aborted) return void nats.close();
    this.#up();
    void watchConnection(nats, {
      onLost: () => this.#down('the connection was lost'),
      onBack: () => this.#up(),
    });
    const reason = await nats.closed();
    throw new Error(`the connection was closed (${reason ? errorMessage(reason) : 'by it'})`);
  }

  async #connect(): Promise<NatsConnection> {
    const { address, readSecret, onChange: _, ...tls } = this.options;
    const { jetstream } = await loadPackage('@nats-io/jetstream');
    const nats = await connectNats({
      ...tls,
      address,
      secret: await readSecret(),
      name: `hookstack ${address.team}/${address.agent}`,
      inboxPrefix: `_INBOX.${address.team}.${address.agent}`,
      timeoutMs: CONNECT_MS,
    });
    this.#nats = nats;
    this.#jetstream = jetstream(nats);
    return nats;
  }

  #pause(problem: string): void {
    if (this.state !== 'up') return;
    this.#down(problem);
    void this.#tryAgain(this.#nats);
  }

  async #tryAgain(nats: NatsConnection | undefined): Promise<void> {
    const { signal } = this.#closing;
    const options = { ref: false, signal };
    await sleep(this.#nextPause(), undefined, options).catch(() => undefined);
    if (nats === this.#nats && nats?.isClosed() === false && this.state === 'down') this.#up();
  }

  #up(): void {
    if (this.#closing.signal.aborted) return;
    this.state = 'up';
    this.options.onChange();
  }

  #down(problem: string): void {
    this.state = 'down';
    if (!this.#closing.signal.aborted) this.options.onChange(problem);
  }

  *#pauses(): Generator<number, never> {
    for (;;) yield this.#nextPause();
  }

  #nextPause(): number {
    const ms = this.#retryMs;
    this.#retryMs = Math.min(2 * ms, LONGEST_RETRY_MS);
    return ms * (0.5 + Math.random());
  }
}
