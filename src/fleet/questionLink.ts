import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { removeControls } from '../protocol/sanitizeText.js';
import { errorMessage } from '../util/errorMessage.js';
import { LiveServers } from './liveServers.js';
import { watchConnection } from './natsConnection.js';
import { HEADERS, QuestionFailed, type FleetAnswer, type Question } from './question.js';

/** Ms after a loss in which questions wait for the connection to come back; later they fail at once. */
const RETURN_MS = 2000;

/** What is sent: to whom, and what stands around the text and in it. */
export interface OutgoingQuestion {
  readonly to: 'ask' | 'approve';
  readonly question: Question;
  readonly headers: MsgHdrs;
  readonly text: Uint8Array;
}

interface Sent {
  subject: string;
  settle(answer: FleetAnswer): void;
  fail(error: Error): void;
  /** Puts it again, where it went to one server alone. */
  again?: (() => void) | undefined;
}

/** One connection, and the questions that wait for an answer over it. */
export class QuestionLink {
  /** By the last part of the subject where the answer comes, which is used once. */
  readonly #sent = new Map<string, Sent>();
  readonly #whenBack = new Set<() => void>();
  readonly #servers: LiveServers;
  #asked = 0;
  #closing: Promise<void> | undefined;
  #holders = 0;
  #idle: NodeJS.Timeout | undefined;
  #lostAt: number | undefined;

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
   * Waits where the connection was lost just now.
   *
   * @throws QuestionFailed where it does not come back soon
   */
  async whenUp(): Promise<void> {
    if (this.connection.isClosed()) throw unreachable('the connection was closed');
    if (this.#lostAt === undefined) return;
    const left = this.#lostAt + RETURN_MS - performance.now();
    if (left > 0) await this.#back(left);
    if (this.#lostAt !== undefined) throw unreachable('the connection is lost');
  }

  /**
   * Sends a question, at once or never, and waits for its answer until the signal aborts. Only while the connection is up,
   * as the library would send it later.
   */
  ask(outgoing: OutgoingQuestion, signal: AbortSignal): Promise<FleetAnswer> {
    const { to, question } = outgoing;
    const token = String((this.#asked += 1));
    const answer = new Promise<FleetAnswer>((settle, fail) => {
      this.#sent.set(token, { subject: '', settle, fail });
    });
    signal.addEventListener('abort', () => this.#sent.delete(token), { once: true });
    this.#send(outgoing, token);
    // A question to a person is put again and again anyway.
    if (to === 'ask') this.#servers.follow(question, signal, () => this.#send(outgoing, token));
    return answer;
  }

  #send(outgoing: OutgoingQuestion, token: string): void {
    const sent = this.#sent.get(token);
    if (!sent) return;
    const { to, headers, text } = outgoing;
    const direct = to === 'ask' ? this.#servers.next() : undefined;
    sent.subject = direct ?? `hooks.${to}.${this.who}`;
    sent.again = direct === undefined ? undefined : () => this.#send(outgoing, token);
    try {
      this.connection.publish(sent.subject, text, { headers, reply: `${this.inbox}.${token}` });
    } catch (error) {
      const max = this.connection.info?.max_payload ?? Infinity;
      const isTooLarge = text.length + HEADER_ROOM > max;
      const why = isTooLarge
        ? `its question has ${text.length} bytes, and NATS takes ${max} with its headers (max_payload)`
        : errorMessage(error);
      sent.fail(new QuestionFailed(`could not ask: ${why}`, true, { cause: error }));
    }
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
      if (sent.again) return sent.again();
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
    this.#failAll();
  }

  #failAll(): void {
    const failed = new QuestionFailed('lost its connection to NATS while it waited', false);
    for (const sent of this.#sent.values()) sent.fail(failed);
  }

  #return(): void {
    this.#lostAt = undefined;
    for (const wake of this.#whenBack) wake();
  }

  #back(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#whenBack.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#whenBack.add(done);
    });
  }

  #restWhenIdle(): void {
    clearTimeout(this.#idle);
    if (this.#holders > 0 || this.connection.isClosed()) return;
    this.#idle = setTimeout(() => void this.close(), this.idleMs);
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#lostAt ??= 0;
    this.onEnd();
    for (const wake of this.#whenBack) wake();
    this.#failAll();
  }
}

/** What headers of ours may take, in bytes. */
const HEADER_ROOM = 1024;

function unreachable(why: string): QuestionFailed {
  return new QuestionFailed(`could not ask: ${why}, and NATS cannot be reached`, true);
}
