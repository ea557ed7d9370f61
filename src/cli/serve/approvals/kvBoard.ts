import { randomUUID } from 'node:crypto';
import { EventEmitter, once, setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KV, KvEntry, KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { MAX_QUESTION_BYTES } from '../../../fleet/approvalEnvelope.js';
import { loadPackage } from '../../../fleet/natsConnection.js';
import { every, retry } from '../../../fleet/retry.js';
import type { Approval } from '../../../protocol/approval.js';
import { errorMessage } from '../../../util/errorMessage.js';
import { whyUnreadable } from './approvalView.js';
import { Quota } from '../quota.js';
import { MAX_OPEN_OF_ONE, OpenQuestions, type OpenQuestion } from './openQuestions.js';
import {
  approvalOf,
  digestOf,
  isKey,
  keyOf,
  lineOf,
  overOf,
  readStored,
  type KeptRequest,
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

/** A question on its way to the board. */
export interface Posed {
  /** Who asks, as his credentials say. */
  readonly from: string;
  readonly request: KeptRequest;
  /** Ms that a person has, from now. */
  readonly timeoutMs: number;
  /** Ms after which who asks wants to hear that it is still open. */
  readonly waitMs: number;
}

/** What came of a question, for now. */
export type Outcome =
  | { readonly kind: 'approval'; readonly approval: Approval }
  | { readonly kind: 'open' }
  | { readonly kind: 'full' | 'taken' }
  /** Nobody could read it. `why` ends a sentence about it. */
  | { readonly kind: 'unreadable'; readonly why: string };

/** What came of an answer. `by` says who was first. */
export type Counted =
  | { readonly kind: 'counts' }
  | { readonly kind: 'unknown' | 'late' | 'withdrawn' }
  | { readonly kind: 'answered'; readonly by: string };

/** Tells of a question that appears, and of one that is over. */
export type BoardListener = (
  key: string,
  question: OpenQuestion | undefined,
  over?: StoredOver,
) => void;

/** What stands on the board under a key. */
interface Placed {
  readonly stored: Stored;
  readonly created: Date;
}

const DEFAULT_LONGEST_MS = 24 * 3_600_000;
/** Requests of one who asks that wait at a time: each of its questions, and once more where a connection was lost. */
const MAX_WAITING_OF_ONE = 2 * MAX_OPEN_OF_ONE;
const RETRY_MS = 500;
/** Ms that it takes to end a question whose time is over. */
const LAPSE_MS = 500;
/** The error of JetStream for a revision that is not the last one. */
const WRONG_REVISION = new Set<unknown>([10071, 10164]);

/** Questions in a key-value bucket of NATS, which all servers read, live. */
export class KvBoard {
  readonly #open: OpenQuestions;
  /** Emits the key of a question that is over, with how it has ended; with nothing where its entry is gone. */
  readonly #ends = new EventEmitter().setMaxListeners(0);
  readonly #waiting = new Quota(Infinity, MAX_WAITING_OF_ONE);
  readonly #listeners = new Set<BoardListener>();
  readonly #closing = new AbortController();
  readonly #clock = new NatsClock();
  readonly #longestMs: number;
  readonly #log: (line: string) => void;
  #bucket: KV | undefined;
  #hasNoPlace = false;
  #stopWatch: (() => void) | undefined;

  constructor({ longestMs, log, newInMinute }: KvBoardOptions = {}) {
    this.#longestMs = longestMs ?? DEFAULT_LONGEST_MS;
    this.#log = log ?? (() => undefined);
    // One for each that waits.
    setMaxListeners(0, this.#closing.signal);
    const onLapse = (key: string) => void this.#expire(key).catch(() => undefined);
    this.#open = new OpenQuestions(onLapse, newInMinute);
  }

  /**
   * Opens the bucket. Until then nothing can be asked or answered. Idempotent.
   *
   * @throws Error where it cannot be used
   */
  async begin(nc: NatsConnection): Promise<void> {
    if (this.#stopWatch) return;
    this.#bucket = await openBucket(nc, this.#longestMs).catch((error: unknown) => {
      this.#hasNoPlace = true;
      throw error;
    });
    this.#hasNoPlace = false;
    const bucket = this.#bucket;
    // Where another server has just made it, NATS says for a moment that nobody is there who keeps anything.
    await retry(() => this.#clock.set(bucket), { pauses: PAUSES_MS });
    await this.#watch();
    void this.#watchAnewAfterLoss(nc);
  }

  /** What NATS began to tell before it was lost may never come: so all is read anew. */
  async #watchAnewAfterLoss(nc: NatsConnection): Promise<void> {
    for await (const { type } of nc.status()) if (type === 'reconnect') this.#stopWatch?.();
  }

  /** Whether NATS was there, and had no place for it. */
  get hasNoPlace(): boolean {
    return this.#hasNoPlace;
  }

  get #kv(): KV {
    if (this.#bucket) return this.#bucket;
    throw new Error('NATS, or its JetStream, is not there yet');
  }

  /** Puts a question, or asks how the same one stands. Rejects where the board cannot be reached. */
  async ask({ from, request, timeoutMs, waitMs }: Posed): Promise<Outcome> {
    // Before anything is counted: who asks while it is not there has used up nothing.
    const kv = this.#kv;
    const key = keyOf(from, request.id);
    const digest = digestOf(request);
    const expiresInMs = Math.round(Math.min(timeoutMs, this.#longestMs));
    if (!this.#waiting.take(from)) return { kind: 'full' };
    const enough = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, enough.signal]);
    // Before it is put, so that no answer is missed.
    const end = once(this.#ends, key, { signal }).catch(() => []);
    let timer: NodeJS.Timeout | undefined;
    try {
      const put = await this.#put(kv, key, { state: 'open', from, digest, expiresInMs, request });
      if ('kind' in put) return put;
      if (put.stored.digest !== digest) return { kind: 'taken' };
      if (put.stored.state !== 'open') return outcomeOf(put.stored);
      const left = this.#clock.leftOf(put.created, put.stored.expiresInMs);
      if (left <= 0) return outcomeOf(await this.#expire(key));
      timer = setTimeout(() => enough.abort(), Math.min(waitMs, left + LAPSE_MS));
      const [over] = (await end) as [over?: StoredOver];
      return outcomeOf(over);
    } finally {
      clearTimeout(timer);
      enough.abort();
      this.#waiting.give(from);
    }
  }

  /** Takes a question of one's own back. */
  async takeBack(from: string, id: string): Promise<void> {
    await this.#end(keyOf(from, id), (stored) => overOf(stored, 'withdrawn'));
  }

  /**
   * Counts once, over all servers.
   *
   * @param revision of the question that the person has seen
   */
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

  /** @returns ends it */
  listen(listener: BoardListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whoever waits here is told to ask another server. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopWatch?.();
    this.#open.clear();
    this.#listeners.clear();
  }

  /** @returns what stands there: this question, or what was there before; or why it is not put */
  async #put(kv: KV, key: string, question: StoredOpen): Promise<Placed | Outcome> {
    const release = this.#open.reserve(key, question.from);
    if (!release) return { kind: 'full' };
    try {
      const why = whyUnreadable(question);
      if (why !== undefined) return { kind: 'unreadable', why };
      await kv.create(key, JSON.stringify(question));
      // The time counts from here.
      return { stored: question, created: new Date(this.#clock.now()) };
    } catch (error) {
      if (!isConflict(error)) throw error;
    } finally {
      release();
    }
    const entry = await kv.get(key);
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
    const entry = await this.#kv.get(key);
    const stored = entry && readStored(entry.string());
    if (!entry || !stored) return undefined;
    if (stored.state !== 'open') return { over: stored, isOwn: false };
    const over = how(stored, entry);
    if (!over) return undefined;
    try {
      await this.#kv.update(key, JSON.stringify(over), entry.revision);
    } catch (error) {
      if (!isConflict(error)) throw error;
      const first = await this.#kv.get(key);
      const said = first && readStored(first.string());
      if (!said || said.state === 'open') return undefined;
      // Where the word that it was stored got lost, it is one's own.
      if (said.writer !== over.writer) return { over: said, isOwn: false };
    }
    this.#log(lineOf(over));
    return { over, isOwn: true };
  }

  async #watch(): Promise<void> {
    const entries = await this.#kv.watch();
    this.#stopWatch = () => entries.stop();
    const read = async () => {
      try {
        for await (const entry of entries) this.#take(entry);
      } catch (error) {
        this.#log(`the board of questions is read anew: ${errorMessage(error)}`);
      }
      const { signal } = this.#closing;
      await sleep(RETRY_MS, undefined, { signal, ref: false });
      await retry(() => this.#watchAgain(), { pauses: every(RETRY_MS), signal, ref: false });
    };
    read().catch(() => undefined);
  }

  /** While there is no connection, who asks or answers is told. */
  async #watchAgain(): Promise<void> {
    await this.#clock.set(this.#kv);
    await this.#watch();
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
      this.#open.remove(key);
      this.#ends.emit(key, stored);
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

function outcomeOf(over: StoredOver | undefined): Outcome {
  return over ? { kind: 'approval', approval: approvalOf(over) } : { kind: 'open' };
}

const BUCKET = 'hookstack_approvals';
/** Ms that an entry is kept beyond the longest wait. */
const MARGIN_MS = 60_000;
/** Questions that are over are small, and questions that are open few: see openQuestions.ts. */
const MAX_BUCKET_BYTES = 64 * 1024 * 1024;
/** Of several servers that make the bucket in one instant, all but one are refused. */
const PAUSES_MS = [100, 100, 100, 100];

/**
 * Opens the bucket of questions, or makes it.
 *
 * @param longestMs what it has to keep an entry for, in ms
 * @throws Error where there is no room for it, or it keeps entries for less
 */
async function openBucket(nc: NatsConnection, longestMs: number): Promise<KV> {
  const { Kvm } = await loadPackage('@nats-io/kv');
  const make = () =>
    new Kvm(nc).create(BUCKET, {
      ttl: longestMs + MARGIN_MS,
      history: 1,
      max_bytes: MAX_BUCKET_BYTES,
      maxValueSize: 2 * MAX_QUESTION_BYTES,
      // Reads must see what was written.
      allow_direct: false,
    });
  const kv = await retry(make, { pauses: PAUSES_MS });
  const { ttl } = await kv.status();
  if (ttl === 0 || ttl >= longestMs) return kv;
  throw new Error(
    `the bucket ${BUCKET} keeps entries for ${ttl} ms only, and questions wait up to ${longestMs} ms: remove it (nats kv del ${BUCKET})`,
  );
}

/** The clock of NATS. Those of machines may be an hour apart: all servers go by this one. */
class NatsClock {
  /** Ms between it and the clock of this process, which no one sets. */
  #offsetMs = 0;

  /** Reads it, from what a bucket says of an entry that is made for it. */
  async set(kv: KV): Promise<void> {
    const key = `clock.${randomUUID()}`;
    await kv.put(key, '');
    const entry = await kv.get(key);
    if (entry) this.#offsetMs = entry.created.getTime() - performance.now();
    await kv.purge(key);
  }

  /** Takes note of what happens just now, which is no later than now. */
  see(created: Date): void {
    this.#offsetMs = Math.max(this.#offsetMs, created.getTime() - performance.now());
  }

  /** Ms since 1970. */
  now(): number {
    return performance.now() + this.#offsetMs;
  }

  /** Ms that are left of a length that began then. */
  leftOf(created: Date, ms: number): number {
    return created.getTime() + ms - this.now();
  }
}
