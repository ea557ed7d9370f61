import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KV, KvEntry, KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Approval } from '../../../protocol/approval.js';
import { errorMessage } from '../../../util/errorMessage.js';
import type { ApprovalBoard, BoardListener, Counted, Outcome, Posed } from './approvalBoard.js';
import { whyUnreadable } from './approvalView.js';
import { openBucket } from './approvalBucket.js';
import { NatsClock } from './natsClock.js';
import { OpenQuestions, type OpenQuestion } from './openQuestions.js';
import {
  approvalOf,
  digestOf,
  isKey,
  keyOf,
  lineOf,
  overOf,
  readStored,
  type Stored,
  type StoredOpen,
  type StoredOver,
} from './storedQuestion.js';

export interface KvBoardOptions {
  /** No question waits longer, in ms. Default 24 hours. */
  readonly longestMs?: number;
  /** How many new questions one agent may put in a minute. Default 20. */
  readonly newInMinute?: number;
  /** Gets a line for each question that is over. */
  readonly log?: (line: string) => void;
}

/** What stands on the board under a key. */
interface Placed {
  readonly stored: Stored;
  readonly created: Date;
}

const DEFAULT_LONGEST_MS = 24 * 3_600_000;
const RETRY_MS = 500;
/** Ms that it takes to end a question whose time is over. */
const LAPSE_MS = 500;
/** The error of JetStream for a revision that is not the last one. */
const WRONG_REVISION = new Set<unknown>([10071, 10164]);

/** Questions in a key-value bucket of NATS, which all servers read, live. */
export class KvBoard implements ApprovalBoard {
  readonly #open: OpenQuestions;
  readonly #listeners = new Set<BoardListener>();
  readonly #closing = new AbortController();
  readonly #clock = new NatsClock();
  #stopWatch: (() => void) | undefined;

  /** @throws Error where the bucket cannot be used */
  static async open(nc: NatsConnection, options: KvBoardOptions = {}): Promise<KvBoard> {
    const longestMs = options.longestMs ?? DEFAULT_LONGEST_MS;
    const kv = await openBucket(nc, longestMs);
    const board = new KvBoard(kv, longestMs, options.log ?? (() => undefined), options.newInMinute);
    await board.#clock.set(kv);
    await board.#watch();
    return board;
  }

  private constructor(
    private readonly kv: KV,
    private readonly longestMs: number,
    private readonly log: (line: string) => void,
    newInMinute: number | undefined,
  ) {
    // One for each that waits.
    setMaxListeners(0, this.#closing.signal);
    const onLapse = (key: string) => void this.#expire(key).catch(() => undefined);
    this.#open = new OpenQuestions(onLapse, newInMinute);
  }

  async ask({ from, request, timeoutMs, waitMs }: Posed): Promise<Outcome> {
    const key = keyOf(from, request.id);
    const digest = digestOf(request);
    const expiresInMs = Math.round(Math.min(timeoutMs, this.longestMs));
    // Before it is put, so that no answer is missed.
    const waiting = this.#open.wait(key, from, this.#closing.signal);
    if (!waiting) return { kind: 'full' };
    try {
      const put = await this.#put(key, { state: 'open', from, digest, expiresInMs, request });
      if ('kind' in put) return put;
      if (put.stored.digest !== digest) return { kind: 'taken' };
      if (put.stored.state !== 'open') return outcomeOf(put.stored);
      const left = this.#clock.leftOf(put.created, put.stored.expiresInMs);
      const over =
        left > 0 ? await waiting.over(Math.min(waitMs, left + LAPSE_MS)) : await this.#expire(key);
      return over ? outcomeOf(over) : { kind: 'open' };
    } finally {
      waiting.end();
    }
  }

  async takeBack(from: string, id: string): Promise<void> {
    await this.#end(keyOf(from, id), (stored) => overOf(stored, 'withdrawn'));
  }

  async answer(
    key: string,
    revision: number,
    approval: Approval & { readonly by: string },
  ): Promise<Counted> {
    if (!isKey(key)) return { kind: 'unknown' };
    const ended = await this.#end(key, (stored, entry) => {
      if (entry.revision !== revision) return undefined;
      const isLate = this.#clock.leftOf(entry.created, stored.expiresInMs) <= 0;
      return isLate ? overOf(stored, 'expired') : { ...overOf(stored, 'answered'), approval };
    });
    if (!ended) return { kind: 'unknown' };
    const { over, isOwn } = ended;
    if (over.state === 'expired') return { kind: 'late' };
    if (over.state === 'withdrawn') return { kind: 'withdrawn' };
    return isOwn ? { kind: 'counts' } : { kind: 'answered', by: over.approval?.by ?? 'somebody' };
  }

  list(): readonly OpenQuestion[] {
    return this.#open.list();
  }

  listen(listener: BoardListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopWatch?.();
    this.#open.clear();
    this.#listeners.clear();
  }

  /** @returns what stands there: this question, or what was there before; or why it is not put */
  async #put(key: string, question: StoredOpen): Promise<Placed | Outcome> {
    const release = this.#open.reserve(key, question.from);
    if (!release) return { kind: 'full' };
    try {
      const why = whyUnreadable(question);
      if (why !== undefined) return { kind: 'unreadable', why };
      await this.kv.create(key, JSON.stringify(question));
      // The time counts from here.
      return { stored: question, created: new Date(this.#clock.now()) };
    } catch (error) {
      if (!isConflict(error)) throw error;
    } finally {
      release();
    }
    const entry = await this.kv.get(key);
    const stored = entry && readStored(entry.string());
    if (!stored) throw new Error('the entry of the question cannot be read');
    return { stored, created: entry.created };
  }

  async #expire(key: string): Promise<StoredOver | undefined> {
    const ended = await this.#end(key, (stored, { created }) =>
      this.#clock.leftOf(created, stored.expiresInMs) > 0 ? undefined : overOf(stored, 'expired'),
    );
    return ended?.over;
  }

  /**
   * Ends a question, unless it is over: of all who try, on all servers, one does.
   *
   * @param how `undefined` leaves it open
   * @returns how it has ended; `undefined` where it is unknown, or open
   */
  async #end(key: string, how: (stored: StoredOpen, entry: KvEntry) => StoredOver | undefined) {
    const entry = await this.kv.get(key);
    const stored = entry && readStored(entry.string());
    if (!entry || !stored) return undefined;
    if (stored.state !== 'open') return { over: stored, isOwn: false };
    const over = how(stored, entry);
    if (!over) return undefined;
    try {
      await this.kv.update(key, JSON.stringify(over), entry.revision);
    } catch (error) {
      if (!isConflict(error)) throw error;
      const first = await this.kv.get(key);
      const said = first && readStored(first.string());
      if (!said || said.state === 'open') return undefined;
      // Where the word that it was stored got lost, it is one's own.
      if (said.writer !== over.writer) return { over: said, isOwn: false };
    }
    this.log(lineOf(over));
    return { over, isOwn: true };
  }

  async #watch(): Promise<void> {
    const entries = await this.kv.watch();
    this.#stopWatch = () => entries.stop();
    const read = async () => {
      try {
        for await (const entry of entries) this.#take(entry);
      } catch (error) {
        this.log(`the board of questions is read anew: ${errorMessage(error)}`);
      }
      await this.#watchAgain();
    };
    void read();
  }

  async #watchAgain(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await sleep(RETRY_MS, undefined, { signal, ref: false });
        await this.#clock.set(this.kv);
        return await this.#watch();
      } catch {
        // There is no connection yet; who asks or answers meanwhile is told.
      }
    }
  }

  #take(entry: KvWatchEntry): void {
    if (!isKey(entry.key)) return;
    const { key, revision, created } = entry;
    if (entry.isUpdate) this.#clock.see(created);
    const stored = entry.operation === 'PUT' ? readStored(entry.string()) : undefined;
    if (stored?.state === 'open') {
      const leftMs = this.#clock.leftOf(created, stored.expiresInMs);
      const { from, request } = stored;
      const question = { key, revision, from, request, until: performance.now() + leftMs };
      this.#open.add(question);
      this.#tell(key, question);
    } else {
      this.#open.remove(key, stored);
      this.#tell(key, undefined, stored);
    }
  }

  #tell(key: string, question: OpenQuestion | undefined, over?: StoredOver): void {
    for (const listener of this.#listeners) listener(key, question, over);
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && WRONG_REVISION.has(error.code);
}

function outcomeOf(over: StoredOver): Outcome {
  return { kind: 'approval', approval: approvalOf(over) };
}
