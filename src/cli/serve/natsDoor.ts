import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { isFleetName } from '../../fleet/address.js';
import { LAST_WORDS_MS, loadPackage, withinMs, type TlsFiles } from '../../fleet/natsConnection.js';
import { HEADERS, readQuestion, type Question } from '../../fleet/question.js';
import { errorMessage } from '../../util/errorMessage.js';
import { toOneLine } from '../shared/terminal.js';
import type { PolicyAnswers, Reply } from './answers.js';
import { fitAnswer } from './fitAnswer.js';
import { mayReply } from './replyAddress.js';
import { SteadyNats } from './steadyNats.js';

export interface NatsDoorOptions extends TlsFiles {
  /** `nats://HOST:PORT`. */
  readonly url: string;
  readonly secret?: string | undefined;
  readonly answers: Pick<PolicyAnswers, 'answer'>;
  /** This server's name, which `nats-server` shows. */
  readonly name: string;
  /** No question waits longer, in ms, whatever it says. Default 10 minutes. */
  readonly longestMs?: number;
  /** Questions that may be worked on at a time, and their bytes. Default 1000, and 128 MiB. More get a 503. */
  readonly maxPending?: number;
  readonly maxPendingBytes?: number;
  /** Called with what an operator should know. */
  readonly onWarn?: (message: string) => void;
}

/** Questions come in over NATS until it is closed. */
export interface NatsDoor {
  /** Takes no more questions, answers those that are there, and ends the connection. */
  close(): Promise<void>;
  isConnected(): boolean;
}

/**
 * Answers the questions of `hooks.ask.<team>.<agent>`, beside all servers of the same queue group. Who asks is what the
 * subject says, on which `nats-server` lets nobody else publish.
 *
 * @returns after the first attempt to connect; where nobody was there, it goes on trying
 * @throws Error for credentials or files with which there cannot be a connection
 */
export async function openNatsDoor(options: NatsDoorOptions): Promise<NatsDoor> {
  const { name, onWarn = () => undefined } = options;
  const door = new Door(options);
  const nats = await SteadyNats.open({
    ...options,
    onWarn,
    name: `hookstack serve ${name}`,
    onOpen: (connection) => door.open(connection),
  });
  door.isUp = () => nats.isUp;
  return {
    isConnected: () => nats.isUp,
    close: async () => {
      await door.drain();
      await nats.close();
    },
  };
}

const SUBJECT = 'hooks.ask.*.*';
const QUEUE = 'policy';

class Door {
  readonly #pending = new Set<Promise<void>>();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #bytes = 0;
  readonly #warned = new Set<string>();
  #connection: NatsConnection | undefined;
  #newHeaders!: () => MsgHdrs;
  #drainSubscription: () => Promise<void> = () => Promise.resolve();
  isUp: () => boolean = () => true;

  constructor(private readonly options: NatsDoorOptions) {}

  async open(connection: NatsConnection): Promise<void> {
    const nats = await loadPackage('@nats-io/transport-node');
    this.#newHeaders = nats.headers;
    this.#connection = connection;
    const subscription = connection.subscribe(SUBJECT, {
      queue: QUEUE,
      callback: (error, message) => {
        if (!error) this.#takeSafely(message);
      },
    });
    this.#drainSubscription = () => subscription.drain();
    // What the server refuses has come before the answer to this.
    await connection.flush();
    if (subscription.isClosed()) {
      throw new Error(`its user may not subscribe to ${SUBJECT} with the queue group ${QUEUE}`);
    }
  }

  async drain(): Promise<void> {
    await withinMs(this.#drainSubscription(), LAST_WORDS_MS).catch(() => undefined);
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  /** The library would read no further message after an error. It throws one where headers are read that are none. */
  #takeSafely(message: Msg): void {
    try {
      this.#take(message);
    } catch (error) {
      this.#warnOnce(
        'unreadable',
        `A question on ${toOneLine(message.subject)} cannot be read, and gets no answer: ${errorMessage(error)}`,
      );
    }
  }

  #take(message: Msg): void {
    const { maxPending = 1000, maxPendingBytes = 128 * 1024 * 1024, longestMs } = this.options;
    const [, , team = '', agent = ''] = message.subject.split('.');
    if (!isFleetName(team) || !isFleetName(agent)) return;
    if (!mayReply(message.reply, team, agent)) {
      return this.#warnOnce(
        'elsewhere',
        `A question of ${team}/${agent} wants its answer elsewhere than in its _INBOX.${team}.${agent}: it gets none`,
      );
    }
    const question = readQuestion(
      (name) => message.headers?.get(name) || undefined,
      longestMs ?? LONGEST_MS,
    );
    const { length } = message.data;
    if (this.#pending.size >= maxPending || this.#bytes + length > maxPendingBytes) {
      const error = 'The server has as many questions as it can hold: ask again, or start another';
      return this.#respond(message, { status: 503, body: JSON.stringify({ error }) });
    }
    this.#bytes += length;
    const work = this.#answer(message, question, `${team}/${agent}`).finally(() => {
      this.#bytes -= length;
      this.#pending.delete(work);
    });
    this.#pending.add(work);
  }

  async #answer(message: Msg, question: Question, asker: string): Promise<void> {
    const text = this.#decode(message.data);
    if (text === undefined) {
      const body = JSON.stringify({ error: 'The question is no UTF-8' });
      return this.#respond(message, { status: 400, body });
    }
    const format = message.headers?.get(HEADERS.format) === 'claude' ? 'claude' : 'own';
    try {
      const reply = await this.options.answers.answer({ format, text, question, asker });
      this.#respond(message, reply);
    } catch (error) {
      this.options.onWarn?.(`A question of ${asker} got no answer: ${errorMessage(error)}`);
    }
  }

  #warnOnce(why: 'elsewhere' | 'unreadable', message: string): void {
    if (!this.#warned.has(why)) this.options.onWarn?.(message);
    this.#warned.add(why);
  }

  #decode(data: Uint8Array): string | undefined {
    try {
      return this.#decoder.decode(data);
    } catch {
      return undefined;
    }
  }

  /** What cannot be sent now is no answer: its asker has lost the connection, too. */
  #respond(message: Msg, reply: Reply): void {
    if (!this.isUp()) return;
    const max = this.#connection?.info?.max_payload ?? 1024 * 1024;
    const { status, body } = fitAnswer(reply, max - HEADER_ROOM);
    const headers = this.#newHeaders();
    if (status !== 200) headers.set(HEADERS.status, String(status));
    message.respond(body, { headers });
  }
}

/** Ms. */
const LONGEST_MS = 600_000;

/** What the headers of an answer may take, in bytes. */
const HEADER_ROOM = 512;
