import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { removeControls } from '../protocol/sanitizeText.js';
import { errorMessage } from '../util/errorMessage.js';
import { LiveServers } from './liveServers.js';
import { watchConnection } from './natsConnection.js';
import { HEADERS, QuestionFailed, type FleetAnswer, type Question } from './question.js';

/** Ms after a loss in which questions wait for the connection to come back; later they fail at once. Servers have as long. */
const RETURN_MS = 2000;
/** Ms after which one that comes back is looked for again. */
const LOOK_MS = 100;

/** What is sent: to whom, and what stands around the text and in it. */
export interface OutgoingQuestion {
  readonly to: 'ask' | 'approve';
  readonly question: Question;
  readonly headers: MsgHdrs;
  readonly text: Uint8Array;
}

interface Sent {
  /** Empty until it went out. */
  subject: string;
  /** Whether it went to one server alone. */
  isDirect: boolean;
  settle(answer: FleetAnswer): void;
  fail(error: Error): void;
  send(): void;
}

/** One connection, and the questions that wait for an answer over it. */
export class QuestionLink {
  /** By the last part of the subject where the answer comes, which is used once. */
  readonly #sent = new Map<string, Sent>();
  readonly #servers: LiveServers;
  #asked = 0;
  #closing: Promise<void> | undefined;
  #holders = 0;
  #idle: NodeJS.Timeout | undefined;
  #lostAt: number | undefined;
  #backAt = -RETURN_MS;
  #givingUp: NodeJS.Timeout | undefined;

  /**
   * @param who asks: `team.agent`
   * @param inbox where answers come, which nobody else knows
   * @param idleMs how long it stays open without a question
   * @param onEnd called once it is of no more use
   */
  constructor(
    private readonly connection: NatsConnection,
    private readonly who: string,
    private readonly inbox: string,
    private readonly idleMs: number,
    private readonly onEnd: () => void,
  ) {
    this.#servers = new LiveServers(connection, who);
    connection.subscribe(`${inbox}.*`, {
      callback: (error, message) => (error ? this.#refuse(error) : this.#receive(message)),
    });
    void connection.closed().then(() => this.#end());
    void watchConnection(connection, {
      onLost: () => this.#lose(),
      onBack: () => this.#return(),
      onError: (error) => this.#refuse(error),
    });
    this.#restWhenIdle();
  }

  /** Whether nobody waits for an answer. */
  get isIdle(): boolean {
    return this.#holders === 0;
  }

  /** What to do where a question has no answer in time. */
  get advice(): string | undefined {
    return this.#servers.advice;
  }

  /** Keeps the connection open until what it returns is called. */
  hold(): () => void {
    this.#holders += 1;
    clearTimeout(this.#idle);
    return () => {
      this.#holders -= 1;
      this.#restWhenIdle();
    };
  }

  /**
   * Sends a question, and waits for its answer until the signal aborts. Where the connection was lost just now, it goes out
   * once that is back, as do those that wait for an answer: servers answer the same question the same.
   *
   * @throws QuestionFailed where the connection is gone
   */
  ask(
    { to, question, headers, text }: OutgoingQuestion,
    signal: AbortSignal,
    onSent: () => void,
  ): Promise<FleetAnswer> {
    if (this.connection.isClosed()) throw unreachable('the connection was closed');
    if (performance.now() - (this.#lostAt ?? Infinity) > RETURN_MS)
      throw unreachable('the connection is lost');
    const token = String((this.#asked += 1));
    const reply = `${this.inbox}.${token}`;
    return new Promise<FleetAnswer>((settle, fail) => {
      const send = () => {
        if (!this.#sent.has(token)) return;
        const direct = to === 'ask' ? this.#servers.next() : undefined;
        sent.isDirect = direct !== undefined;
        sent.subject = direct ?? `hooks.${to}.${this.who}`;
        try {
          this.connection.publish(sent.subject, text, { headers, reply });
          onSent();
        } catch (error) {
          fail(this.#unsendable(error, text.length));
        }
      };
      const sent: Sent = { subject: '', isDirect: false, settle, fail, send };
      this.#sent.set(token, sent);
      signal.addEventListener('abort', () => this.#sent.delete(token), { once: true });
      if (this.#lostAt === undefined) send();
      // A question to a person is put again and again anyway.
      if (to === 'ask') this.#servers.follow(question, signal, send);
    });
  }

  #unsendable(error: unknown, length: number): QuestionFailed {
    const max = this.connection.info?.max_payload ?? Infinity;
    const isTooLarge = length + HEADER_ROOM > max;
    const why = isTooLarge
      ? `its question has ${length} bytes, and NATS takes ${max} with its headers (max_payload)`
      : errorMessage(error);
    return new QuestionFailed(`could not ask: ${why}`, true, { cause: error });
  }

  /** Ends the connection, and what waits for an answer. Idempotent. */
  close(): Promise<void> {
    this.#end();
    return (this.#closing ??= this.connection.close());
  }

  #receive(message: Msg): void {
    const token = message.subject.slice(this.inbox.length + 1);
    const sent = this.#sent.get(token);
    if (!sent) return;
    try {
      this.#read(message, sent);
    } catch {
      // The library would read no further message.
      sent.fail(new QuestionFailed('got an answer with headers that are none', false));
    }
  }

  #read(message: Msg, sent: Sent): void {
    const { headers, data } = message;
    if (data.length === 0 && headers?.code === 503) {
      this.#servers.forget();
      if (sent.isDirect) return sent.send();
      // Servers come back a little later.
      if (performance.now() - this.#backAt < RETURN_MS) {
        setTimeout(() => sent.send(), LOOK_MS);
        return;
      }
      sent.fail(
        new QuestionFailed('got no answer: no policy server is there (no responders)', true),
      );
      return;
    }
    const status = headers?.get(HEADERS.status) || '200';
    if (/^[1-5]\d\d$/u.test(status)) {
      sent.settle({ status: Number(status), text: message.string() });
    } else sent.fail(new QuestionFailed('got an answer with a status that is none', false));
  }

  /** The server says no: to questions on a subject, or to where answers would come. */
  #refuse(error: Error & { readonly operation?: unknown; readonly subject?: unknown }): void {
    if (error.name !== 'PermissionViolationError') return;
    const why = removeControls(error.message);
    const isInbox = error.operation === 'subscription';
    const what = isInbox ? 'read its answers' : `ask on ${String(error.subject)}`;
    const failed = new QuestionFailed(
      `has a secret with which it may not ${what}: ${why}; TEAM/AGENT in its url must be that of the user whose secret it is`,
      true,
    );
    for (const sent of this.#sent.values()) {
      if (isInbox || sent.subject === error.subject) sent.fail(failed);
    }
    if (isInbox) void this.close();
  }

  #lose(): void {
    this.#lostAt ??= performance.now();
    this.#givingUp ??= setTimeout(() => this.#failAll(), RETURN_MS).unref();
  }

  #return(): void {
    clearTimeout(this.#givingUp);
    this.#givingUp = this.#lostAt = undefined;
    this.#backAt = performance.now();
    for (const sent of this.#sent.values()) sent.send();
  }

  #failAll(): void {
    const unsent = unreachable('the connection is lost');
    const lost = new QuestionFailed('lost its connection to NATS while it waited', false);
    for (const sent of this.#sent.values()) sent.fail(sent.subject === '' ? unsent : lost);
  }

  #restWhenIdle(): void {
    clearTimeout(this.#idle);
    if (this.#holders > 0 || this.connection.isClosed()) return;
    this.#idle = setTimeout(() => void this.close(), this.idleMs);
  }

  #end(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#givingUp);
    this.#lostAt ??= 0;
    this.onEnd();
    this.#failAll();
  }
}

/** What headers of ours may take, in bytes. */
const HEADER_ROOM = 1024;

function unreachable(why: string): QuestionFailed {
  return new QuestionFailed(`could not ask: ${why}, and NATS cannot be reached`, true);
}
