import { isUtf8 } from 'node:buffer';
import type { Msg, MsgHdrs, NatsConnection, Subscription } from '@nats-io/transport-node';
import { isAskerName } from '../../fleet/address.js';
import { forbids, withMarkOf } from '../../fleet/answerMark.js';
import { lastWords, loadPackage, withAdvice } from '../../fleet/natsConnection.js';
import { directSubject, HEADERS, newQuestionId, readQuestion } from '../../fleet/question.js';
import { every, retry } from '../../util/retry.js';
import { MAX_HOOK_TEXT } from '../../protocol/sanitizeText.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import { toOneLine } from '../shared/terminal.js';
import type { PolicyAnswers, Reply } from './answers.js';
import { answerQuestion, type PutReply } from './approvals/approvalQuestions.js';
import type { KvBoard } from './approvals/kvBoard.js';
import { Quota } from '../shared/http/quota.js';
import { SteadyNats, type SteadyNatsOptions } from './steadyNats.js';

export interface NatsDoorOptions extends Omit<SteadyNatsOptions, 'onOpen'> {
  readonly answers: Pick<PolicyAnswers, 'answer'>;
  /** Where questions to people wait; without one none are taken. It is begun once there is a connection. */
  readonly board?: KvBoard;
  /** Whether it does not open where the board cannot be used. Default: that is told, and tried again and again. */
  readonly needsBoard?: boolean;
  /** Questions of each kind that may be worked on at a time, and their bytes; one agent gets half. Default 1000, and 128 MiB. */
  readonly maxPending?: number;
  readonly maxPendingBytes?: number;
}

/** What is asked with a subject, and how it is answered. */
interface Way {
  readonly subject: string;
  readonly count: Quota;
  readonly bytes: Quota;
  readonly answer: (question: Put) => Promise<PutReply>;
}

interface Put {
  readonly message: Msg;
  readonly header: (name: string) => string | undefined;
  /** `team/agent`. */
  readonly from: string;
}

const QUEUE = 'policy';
/** Ms between attempts to open a board that could not be used. */
const BOARD_RETRY_MS = 2000;
/** What the headers of an answer may take, in bytes. */
const HEADER_ROOM = 512;

/**
 * Answers the questions of `hooks.ask.<team>.<agent>`, to hooks, and of `hooks.approve.<team>.<agent>`, to people, beside
 * all servers of the same queue group. Who asks is what the subject says, on which `nats-server` lets nobody else publish.
 */
export class NatsDoor {
  readonly #pending = new Set<Promise<void>>();
  /** What it works on, by who asks and the id of the question. */
  readonly #held = new Set<string>();
  /** Its own, also where two have the same name. */
  readonly #id = newQuestionId();
  readonly #warned = new Set<string>();
  readonly #subscriptions: Subscription[] = [];
  readonly #ending = new AbortController();
  readonly #hooks: Way;
  readonly #people: Way;
  #newHeaders!: () => MsgHdrs;
  #connection: NatsConnection | undefined;
  #nats: SteadyNats | undefined;
  #closed: Promise<void> | undefined;

  /**
   * @returns after the first attempt to connect; where nobody was there, it goes on trying
   * @throws Error for credentials or files with which there cannot be a connection
   */
  static async open(options: NatsDoorOptions): Promise<NatsDoor> {
    const door = new NatsDoor(options);
    door.#nats = await SteadyNats.open({
      ...options,
      name: `hookstack serve ${options.name}`,
      onOpen: (connection) => door.#open(connection),
    });
    return door;
  }

  private constructor(private readonly options: NatsDoorOptions) {
    this.#hooks = this.#wayOf('hooks.ask.*.*', (put) => this.#askHooks(put));
    this.#people = this.#wayOf('hooks.approve.*.*', (put) => this.#askPeople(put));
  }

  isConnected(): boolean {
    return this.#nats?.isUp ?? this.#connection?.isClosed() === false;
  }

  /**
   * Takes no more questions, answers those that are there, and ends the connection. Whoever waits for a person is told to
   * ask another server. Idempotent.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#ending.abort();
    await this.options.board?.close();
    await lastWords(Promise.all(this.#subscriptions.map((each) => each.drain())));
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    await this.#nats?.close();
  }

  #wayOf(subject: string, answer: Way['answer']): Way {
    const { maxPending = 1000, maxPendingBytes = 128 * 1024 * 1024 } = this.options;
    const [count, bytes] = [new Quota(maxPending), new Quota(maxPendingBytes)];
    return { subject, count, bytes, answer };
  }

  async #open(connection: NatsConnection): Promise<void> {
    const { headers } = await loadPackage('@nats-io/transport-node');
    this.#newHeaders = headers;
    this.#connection = connection;
    const { board, needsBoard, onWarn } = this.options;
    const openBoard = async () => {
      await board?.begin(connection);
      if (board) await this.#join(connection, this.#people, QUEUE);
    };
    // No question is taken by a server that does not start.
    const isFirst = !this.#nats;
    if (needsBoard && isFirst) {
      await openBoard().catch((error: unknown) => {
        throw new Error(`there is no room for questions: ${withAdvice(error)}`, { cause: error });
      });
    }
    await this.#join(connection, this.#hooks, QUEUE);
    await this.#openDirect(connection).catch(({ message }: Error) =>
      onWarn(`agents wait for servers that hang, as ${message}`),
    );
    if (!needsBoard || !isFirst) {
      await openBoard().catch((error: unknown) => {
        onWarn(`no person can be asked, as there is no board of questions: ${withAdvice(error)}`);
        void this.#keepOpening(openBoard);
      });
    }
  }

  async #keepOpening(openBoard: () => Promise<void>): Promise<void> {
    const { signal } = this.#ending;
    const options = { pauses: every(BOARD_RETRY_MS), signal, ref: false };
    try {
      await retry(openBoard, options);
      this.options.onWarn('people can be asked now, as there is a board of questions');
    } catch {
      // It was closed meanwhile.
    }
  }

  async #join(connection: NatsConnection, way: Way, queue?: string): Promise<void> {
    const take = (message: Msg) => this.#take(message, way);
    this.#subscriptions.push(await this.#subscribe(connection, way.subject, take, queue));
  }

  /** For agents that have met a server that hangs. Until its end it says what it has. */
  async #openDirect(connection: NatsConnection): Promise<void> {
    const own = { ...this.#hooks, subject: directSubject(this.#id, '*.*') };
    await this.#join(connection, own);
    const tell = (message: Msg) => this.#tellHeld(message);
    await this.#subscribe(connection, directSubject(undefined, '*.*'), tell);
  }

  async #subscribe(
    connection: NatsConnection,
    subject: string,
    take: (message: Msg) => void,
    queue?: string,
  ): Promise<Subscription> {
    const subscription = connection.subscribe(subject, {
      ...(queue !== undefined && { queue }),
      callback: (error, message) => {
        if (!error) this.#takeSafely(message, take);
      },
    });
    // What the server refuses has come before the answer to this.
    await connection.flush().catch((error: unknown) => {
      subscription.unsubscribe();
      throw error;
    });
    if (subscription.isClosed()) {
      const group = queue === undefined ? '' : ` with the queue group ${queue}`;
      throw new Error(`its user may not subscribe to ${subject}${group}`);
    }
    return subscription;
  }

  /** The library would read no further message after an error. It throws one where headers are read that are none. */
  #takeSafely(message: Msg, take: (message: Msg) => void): void {
    try {
      take(message);
    } catch (error) {
      this.#warnOnce(
        'unreadable',
        `A question on ${toOneLine(message.subject)} cannot be read, and gets no answer: ${errorMessage(error)}`,
      );
    }
  }

  /** @returns `team/agent`; `undefined` for what gets no answer */
  #senderOf(message: Msg): string | undefined {
    const [team = '', agent = ''] = message.subject.split('.').slice(-2);
    if (!isAskerName(`${team}/${agent}`)) return undefined;
    // A server may publish anywhere: an agent could write through it where it may not, such as a command to JetStream.
    if (message.reply?.startsWith(`_INBOX.${team}.${agent}.`)) return `${team}/${agent}`;
    this.#warnOnce(
      'elsewhere',
      `A question of ${team}/${agent} wants its answer elsewhere than in its _INBOX.${team}.${agent}: it gets none`,
    );
    return undefined;
  }

  #tellHeld(message: Msg): void {
    const from = this.#senderOf(message);
    const has = this.#held.has(`${from} ${message.string()}`);
    const isOpen = has || !this.#ending.signal.aborted;
    if (from !== undefined && isOpen) message.respond(JSON.stringify({ server: this.#id, has }));
  }

  #take(message: Msg, { count, bytes, answer }: Way): void {
    const from = this.#senderOf(message);
    if (from === undefined) return;
    const header = headersOf(message);
    const { length } = message.data;
    const isCounted = count.take(from);
    if (!isCounted || !bytes.take(from, length)) {
      if (isCounted) count.give(from);
      const had = `${count.taken} questions, ${count.takenBy(from)} questions of ${from}`;
      const error = `The server has as many as it can hold (${had}): ask again, or start another`;
      return this.#respond(message, { status: 503, body: JSON.stringify({ error }) });
    }
    const held = `${from} ${header(HEADERS.question)}`;
    this.#held.add(held);
    const work = answer({ message, header, from })
      .then((reply) => this.#respond(message, reply))
      .catch((error: unknown) =>
        this.options.onWarn(`A question of ${from} got no answer: ${errorMessage(error)}`),
      )
      .finally(() => {
        count.give(from);
        bytes.give(from, length);
        this.#held.delete(held);
        this.#pending.delete(work);
      });
    this.#pending.add(work);
  }

  async #askHooks({ message, header, from }: Put): Promise<Reply> {
    const question = readQuestion(header);
    if (!isUtf8(message.data)) return { status: 400, body: '{"error":"The question is no UTF-8"}' };
    const format = header(HEADERS.format) === 'claude' ? 'claude' : 'own';
    return this.options.answers.answer({ format, text: message.string(), question, asker: from });
  }

  async #askPeople({ message, header, from }: Put): Promise<PutReply> {
    const { board } = this.options;
    if (!board) throw new Error('there is no board of questions');
    return answerQuestion(board, { from, body: message.string(), header });
  }

  #warnOnce(why: 'elsewhere' | 'unreadable', message: string): void {
    if (!this.#warned.has(why)) this.options.onWarn(message);
    this.#warned.add(why);
  }

  /** What cannot be sent now is no answer: its asker has lost the connection, too. */
  #respond(message: Msg, reply: PutReply): void {
    if (!this.isConnected()) return;
    const max = this.#connection?.info?.max_payload ?? 1024 * 1024;
    const { status, body } = fitAnswer(reply, max - HEADER_ROOM);
    if (status === 200) return void message.respond(body);
    const headers = this.#newHeaders();
    headers.set(HEADERS.status, String(status));
    message.respond(body, { headers });
  }
}

/** @throws Error where what it has as headers are none */
function headersOf({ headers }: Msg) {
  return (name: string) => headers?.get(name) || undefined;
}

/**
 * Makes an answer fit into a message. Of one that does not fit a block or a stop is kept, with its reason, as with
 * these the rest has no effect.
 *
 * @returns the answer itself where it fits; status 500 for one that needs all that it says
 */
function fitAnswer(answer: PutReply, maxBytes: number): PutReply {
  const bytes = Buffer.byteLength(answer.body);
  if (bytes <= maxBytes) return answer;
  const kept = answer.status === 200 ? coreOf(answer.body) : undefined;
  const body = kept && JSON.stringify(kept);
  if (body !== undefined && Buffer.byteLength(body) <= maxBytes) return { status: 200, body };
  const error = `The answer has ${bytes} bytes, and NATS takes ${maxBytes}: raise max_payload of nats-server, or have hooks say less`;
  return { status: 500, body: JSON.stringify({ error }) };
}

function coreOf(body: string): object | undefined {
  const said: unknown = JSON.parse(body);
  if (!isRecord(said) || !forbids(said)) return undefined;
  const { hookSpecificOutput: specific } = said;
  const permission = isRecord(specific) ? specific['decision'] : undefined;
  const isDenied = isRecord(permission) && permission['behavior'] === 'deny';
  return withMarkOf(said, {
    ...pick(said, ['decision', 'continue', 'reason', 'stopReason']),
    ...(isRecord(specific) && {
      hookSpecificOutput: {
        ...pick(specific, ['hookEventName', 'permissionDecision', 'permissionDecisionReason']),
        ...(isDenied && { decision: pick(permission, ['behavior', 'message', 'interrupt']) }),
      },
    }),
  });
}

function pick(from: Readonly<Record<string, unknown>>, keys: readonly string[]): object {
  const given = keys.filter((key) => from[key] !== undefined);
  return Object.fromEntries(given.map((key) => [key, cut(from[key])]));
}

function cut(value: unknown): unknown {
  return typeof value === 'string' ? value.slice(0, MAX_HOOK_TEXT) : value;
}
