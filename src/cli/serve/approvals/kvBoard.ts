import { randomUUID } from 'node:crypto';
import { EventEmitter, once, setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KV, KvEntry, KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { MAX_QUESTION_BYTES } from '../../../fleet/approvalEnvelope.js';
import { absent, loadPackage } from '../../../fleet/natsConnection.js';
import { every, retry } from '../../../util/retry.js';
import type { Approval } from '../../../protocol/approval.js';
import { errorCode, errorMessage } from '../../../util/errorMessage.js';
import { show, whyUnreadable } from './approvalView.js';
import type { KvSessions } from './kvSessions.js';
import type { Person } from '../../shared/people/people.js';
import { openBucket, PAUSES_MS } from './kvBucket.js';
import { Quota } from '../../shared/http/quota.js';
import { MAX_OPEN_OF_ONE, OpenQuestions, type OpenQuestion } from './openQuestions.js';
import {
  approvalOf,
  digestOf,
  isFinal,
  isKey,
  keyOf,
  lineOf,
  overOf,
  readStored,
  type KeptRequest,
  type Stored,
  type StoredOpen,
  type StoredOver,
  type Yes,
} from './storedQuestion.js';

export interface KvBoardOptions {
  /** How many new questions one agent may put in a minute. Default 20. */
  readonly newInMinute?: number;
  /**
   * Ms after which a question that nobody asks again is taken back: its agent is gone. Default 50 seconds. What is over
   * stays in the bucket for six times as long.
   */
  readonly goneMs?: number;
  /** Who has signed in to answer. Begun with it. */
  readonly sessions?: KvSessions | undefined;
  /** Whether two people have to allow it. Default: one. */
  readonly needsTwo?: ((request: KeptRequest) => boolean) | undefined;
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
  /** Whether he asks again once there is an answer, and takes it then. Others are believed to get what is sent. */
  readonly asksAgain?: boolean;
}

/** What came of a question, for now. */
export type Outcome =
  /** `isAgain`: one who asked had it before. */
  | { readonly kind: 'approval'; readonly approval: Approval; readonly isAgain?: true }
  | { readonly kind: 'open' }
  | Objection;

/** What came of an answer: `given` counts once the agent has it, and `first` once a second person says the same. */
export type Counted = { readonly state: 'counts' | 'given' | 'first' } | Objection;

/** Why a question is not put, or an answer does not count: a status of HTTP, and words. */
export interface Objection {
  readonly status: number;
  readonly error: string;
}

/** Who answers, and what speaks against it. */
export interface AnswerOptions {
  readonly person?: Person;
  readonly objectTo?: (question: OpenQuestion, first?: Person) => Objection | undefined;
}

/** Tells of a question that appears, and of one that is over. */
export type BoardListener = (
  key: string,
  question: OpenQuestion | undefined,
  over?: StoredOver,
) => void;

/** No question waits longer, in ms. */
export const LONGEST_QUESTION_MS = 24 * 3_600_000;
/** Twice as long as a server keeps who asks waiting. */
const DEFAULT_GONE_MS = 50_000;
/** Requests of one who asks that wait at a time: each of its questions, and once more where a connection was lost. */
const MAX_WAITING_OF_ONE = 2 * MAX_OPEN_OF_ONE;
const RETRY_MS = 500;
/** How many that are over are told to a page that comes back. */
const MAX_RECENT = 200;
/** Ms that it takes to end a question whose time is over. */
const LAPSE_MS = 500;
/** The error of JetStream for a revision that is not the last one. */
const WRONG_REVISION = new Set<unknown>([10071, 10164]);

const FULL = {
  status: 429,
  error: 'too many questions wait for a person, or are asked too often: ask again in a while',
};
const TAKEN = { status: 409, error: 'another question has this id: take a new one for each' };
const AGAIN = { status: 409, error: 'you have allowed it already: a second person has to' };
const LATE = { status: 410, error: 'too late: its time is over, and the answer was no' };
const WITHDRAWN = { status: 410, error: 'the agent has taken its question back' };
const UNKNOWN = { status: 404, error: 'there is no such question' };

/** Questions in a key-value bucket of NATS, which all servers read, live. */
export class KvBoard {
  readonly #open: OpenQuestions;
  /** Emits the key of a question that is over, with how it has ended; with nothing where its entry is gone. */
  readonly #ends = new EventEmitter().setMaxListeners(0);
  readonly #waiting = new Quota(Infinity, MAX_WAITING_OF_ONE);
  readonly #listeners = new Set<BoardListener>();
  readonly #closing = new AbortController();
  readonly #clock = new NatsClock();
  readonly #lapses = new Map<string, NodeJS.Timeout>();
  readonly #recent = new Map<string, StoredOver>();
  /** What is to be removed from the bucket, in the order in which it was written. */
  readonly #old = new Map<string, Pick<KvEntry, 'revision' | 'created'>>();
  readonly #goneMs: number;
  #bucket: KV | undefined;
  /** Whether NATS was there, and had no place for it. */
  hasNoPlace = false;
  #stopWatch: (() => void) | undefined;

  constructor(private readonly options: KvBoardOptions = {}) {
    this.#goneMs = options.goneMs ?? DEFAULT_GONE_MS;
    // One for each that waits.
    setMaxListeners(0, this.#closing.signal);
    this.#open = new OpenQuestions(options.newInMinute);
  }

  /**
   * Opens the bucket. Until then nothing can be asked or answered. Idempotent.
   *
   * @throws Error where it cannot be used
   */
  async begin(nc: NatsConnection): Promise<void> {
    if (this.#stopWatch) return;
    const limits = { max_bytes: MAX_BUCKET_BYTES, maxValueSize: 2 * MAX_QUESTION_BYTES };
    const ttl = LONGEST_QUESTION_MS + MARGIN_MS;
    this.#bucket = await openBucket(nc, BUCKET, { ttl, ...limits }).catch((error: unknown) => {
      this.hasNoPlace = true;
      throw error;
    });
    this.hasNoPlace = false;
    await this.options.sessions?.begin(nc);
    const bucket = this.#bucket;
    // Where another server has just made it, NATS says for a moment that nobody is there who keeps anything.
    await retry(() => this.#clock.set(bucket), { pauses: PAUSES_MS });
    await this.#watch();
    void this.#watchAnewAfterLoss(nc);
    void this.#eraseOld(nc).catch(() => undefined);
  }

  /** What stays although it should not, since NATS was lost just then, goes by the time of the bucket. */
  async #eraseOld(nc: NatsConnection): Promise<void> {
    const { jetstreamManager } = await loadPackage('@nats-io/jetstream');
    const { streams } = await jetstreamManager(nc, { checkAPI: false });
    // Agents ask again within seconds.
    const keptMs = 6 * this.#goneMs;
    const idle = { signal: this.#closing.signal, ref: false };
    for (; ; await sleep(keptMs / 10, undefined, idle)) {
      for (const [key, { revision, created }] of this.#old) {
        if (this.#clock.leftOf(created, keptMs) > 0) break;
        this.#old.delete(key);
        await streams.deleteMessage(`KV_${BUCKET}`, revision, false).catch(() => undefined);
      }
    }
  }

  /** What NATS began to tell before it was lost may never come: so all is read anew. */
  async #watchAnewAfterLoss(nc: NatsConnection): Promise<void> {
    for await (const { type } of nc.status()) if (type === 'reconnect') this.#stopWatch?.();
  }

  get #kv(): KV {
    if (this.#bucket) return this.#bucket;
    throw absent('ECONNRESET', 'NATS, or its JetStream, is not there yet');
  }

  /** Puts a question, or asks how the same one stands. Rejects where the board cannot be reached. */
  async ask({ from, request, timeoutMs, waitMs, asksAgain }: Posed): Promise<Outcome> {
    // Before anything is counted: who asks while it is not there has used up nothing.
    const kv = this.#kv;
    const key = keyOf(from, request.id);
    const digest = digestOf(request);
    const expiresInMs = Math.round(Math.min(timeoutMs, LONGEST_QUESTION_MS));
    if (!this.#waiting.take(from)) return FULL;
    const enough = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, enough.signal]);
    // Before it is put, so that no answer is missed.
    const end = once(this.#ends, key, { signal }).catch(() => []);
    let timer: NodeJS.Timeout | undefined;
    try {
      const needsTwo = this.options.needsTwo?.(request) ?? false;
      const asked = { from, digest, expiresInMs, request, needsTwo, isHandedOver: true } as const;
      const put = await this.#put(kv, key, { state: 'open', ...asked });
      if ('error' in put) return put;
      if (put.stored.digest !== digest) return TAKEN;
      if (put.stored.state !== 'open') return await this.#hand(key, put.stored, true);
      const left = this.#clock.leftOf(put.created, put.stored.expiresInMs);
      if (left <= 0) return await this.#hand(key, await this.#lapse(key));
      timer = setTimeout(() => enough.abort(), Math.min(waitMs, left + LAPSE_MS));
      const [over] = (await end) as [over?: StoredOver];
      return asksAgain && over && !isFinal(over) ? { kind: 'open' } : await this.#hand(key, over);
    } finally {
      clearTimeout(timer);
      enough.abort();
      this.#waiting.give(from);
    }
  }

  /** Takes a question of one's own back. @returns why not */
  async takeBack(from: string, id: string): Promise<Objection | undefined> {
    if (!this.#open.mayAgain(from)) return FULL;
    await this.#change(keyOf(from, id), (stored) => overOf(stored, 'withdrawn'));
    return undefined;
  }

  /**
   * Counts once, over all servers.
   *
   * @param revision of the question that the person has seen
   * @param options.person default: one of that name
   * @param options.objectTo says of the question as it is stored why it is not for this person to answer, or no more for the first of two
   */
  async answer(
    key: string,
    revision: number,
    approval: Omit<Yes, 'person'>,
    { person = unproved(approval.by), objectTo }: AnswerOptions = {},
  ): Promise<Counted> {
    if (!isKey(key)) return UNKNOWN;
    let objection: Objection | undefined;
    const changed = await this.#change(key, (stored, entry) => {
      if (entry.revision !== revision || stored.state !== 'open') return undefined;
      const left = this.#clock.leftOf(entry.created, stored.expiresInMs);
      if (left <= 0) return overOf(stored, 'expired');
      const question = questionOf(key, entry, stored, left);
      objection = objectTo?.(question);
      if (objection) return undefined;
      const { request, allowed } = stored;
      // Two are needed if the server that took the question wants that, or this one.
      const needsTwo = stored.needsTwo || this.options.needsTwo?.(request);
      if (approval.decision === 'deny' || !needsTwo) return overOf(stored, 'answered', approval);
      if (!allowed?.person || objectTo?.(question, allowed.person)) {
        const first = { ...approval, person };
        return { ...stored, allowed: first, expiresInMs: left, writer: randomUUID() };
      }
      return allowed.person.id === person.id
        ? undefined
        : overOf(stored, 'answered', bothOf(allowed, approval));
    });
    if (objection) return objection;
    if (!changed) return UNKNOWN;
    const { stored, isOwn } = changed;
    if (stored.state === 'open') {
      const isAgain = stored.allowed?.person?.id === person.id;
      return isOwn ? { state: 'first' } : isAgain ? AGAIN : UNKNOWN;
    }
    if (stored.state === 'expired') return LATE;
    if (stored.state === 'withdrawn') return WITHDRAWN;
    if (isOwn) return { state: isFinal(stored) ? 'counts' : 'given' };
    return { status: 409, error: `already answered by ${show(stored.approval?.by ?? 'somebody')}` };
  }

  /** Ms since 1970, by the clock that all servers share. */
  now(): number {
    return this.#clock.now();
  }

  /** What was over of late, or waits for its agent. */
  recent(): Iterable<readonly [key: string, over: StoredOver]> {
    return this.#recent;
  }

  list(): readonly OpenQuestion[] {
    return [...this.#open.values()];
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
    for (const timer of this.#lapses.values()) clearTimeout(timer);
    this.#listeners.clear();
  }

  /** @returns what stands there: this question, or what was there before; or why it is not put */
  async #put(kv: KV, key: string, question: StoredOpen) {
    const release = this.#open.reserve(key, question.from);
    if (!release) return FULL;
    try {
      // What is open was looked through, which takes long.
      if (!this.#open.has(key)) {
        const why = whyUnreadable(question);
        if (why !== undefined) return { status: 413, error: `the question ${why}` };
        await kv.create(key, JSON.stringify(question));
        // The time counts from here.
        return { stored: question, created: new Date(this.#clock.now()) };
      }
    } catch (error) {
      if (!WRONG_REVISION.has(errorCode(error))) throw error;
    } finally {
      release();
    }
    const found = await this.#read(key);
    if (!found) this.#open.delete(key);
    if (!found) throw new Error('the entry of the question cannot be read');
    // Who asks again is there.
    if (!isFinal(found.stored)) await kv.put(`${ALIVE}${key}`, '');
    return { stored: found.stored, created: found.entry.created };
  }

  /** What whoever asked gets. Before he gets an answer, all are told that he has it. `wasOver`: when he asked. */
  async #hand(key: string, over: Stored | undefined, wasOver = false): Promise<Outcome> {
    if (!over || isFinal(over)) return outcomeOf(over, wasOver || over?.state === 'taken');
    const taken = await this.#change(key, (stored) =>
      stored.state === 'answered' ? overOf(stored, 'taken') : undefined,
    );
    return outcomeOf(taken?.stored, !taken?.isOwn);
  }

  /** Ends a question whose time is over, or that nobody asks any more. */
  async #lapse(key: string): Promise<Stored | undefined> {
    const beat = await this.#kv.get(`${ALIVE}${key}`);
    let againInMs = RETRY_MS;
    const changed = await this.#change(key, (stored, { created }) => {
      const asked = beat && beat.created > created ? beat.created : created;
      const goneInMs = stored.isHandedOver ? this.#clock.leftOf(asked, this.#goneMs) : Infinity;
      const lateInMs =
        stored.state === 'open' ? this.#clock.leftOf(created, stored.expiresInMs) : Infinity;
      againInMs = Math.min(goneInMs, lateInMs);
      if (lateInMs <= 0) return overOf(stored, 'expired');
      return goneInMs <= 0 ? overOf(stored, 'withdrawn') : undefined;
    });
    if (changed && !isFinal(changed.stored)) this.#lapseIn(key, againInMs);
    return changed?.stored;
  }

  /** A little later, so that it is over by then. */
  #lapseIn(key: string, ms: number): void {
    clearTimeout(this.#lapses.get(key));
    if (this.#closing.signal.aborted) return;
    const lapse = () => void this.#lapse(key).catch(() => this.#lapseIn(key, RETRY_MS));
    this.#lapses.set(key, setTimeout(lapse, Math.max(0, ms) + 5).unref());
  }

  /**
   * Changes what stands there, unless that is final: of all who try, on all servers, one does.
   *
   * @param how `undefined` leaves it as it is
   * @returns what stands there then; `undefined` where it is unknown
   */
  async #change(key: string, how: (stored: Stored, entry: KvEntry) => Stored | undefined) {
    const found = await this.#read(key);
    if (!found) return undefined;
    const { stored, entry } = found;
    const next = isFinal(stored) ? undefined : how(stored, entry);
    if (!next) return { stored, isOwn: false };
    try {
      await this.#kv.update(key, JSON.stringify(next), entry.revision);
    } catch (error) {
      if (!WRONG_REVISION.has(errorCode(error))) throw error;
      const said = (await this.#read(key))?.stored;
      if (!said) return undefined;
      // Where the word that it was stored got lost, it is one's own.
      if (said.writer !== next.writer) return { stored: said, isOwn: false };
    }
    this.options.log?.(lineOf(next));
    return { stored: next, isOwn: true };
  }

  async #read(key: string) {
    const entry = await this.#kv.get(key);
    const stored = entry && readStored(entry.string());
    return stored && { stored, entry };
  }

  async #watch(): Promise<void> {
    const entries = await this.#kv.watch();
    this.#stopWatch = () => entries.stop();
    const read = async () => {
      try {
        for await (const entry of entries) this.#take(entry);
      } catch (error) {
        this.options.log?.(`the board of questions is read anew: ${errorMessage(error)}`);
      }
      const { signal } = this.#closing;
      await sleep(RETRY_MS, undefined, { signal, ref: false });
      const again = () => this.#clock.set(this.#kv).then(() => this.#watch());
      // While there is no connection, who asks or answers is told.
      await retry(again, { pauses: every(RETRY_MS), signal, ref: false });
    };
    read().catch(() => undefined);
  }

  #take(entry: KvWatchEntry): void {
    const { created, revision } = entry;
    if (entry.isUpdate) this.#clock.see(created);
    const key = entry.key.replace(ALIVE, '');
    if (!isKey(key)) return;
    const isBeat = key !== entry.key;
    const stored = !isBeat && entry.operation === 'PUT' ? readStored(entry.string()) : undefined;
    const known = this.#open.get(key);
    this.#old.delete(entry.key);
    if (isBeat || (stored && isFinal(stored))) this.#old.set(entry.key, { revision, created });
    const leftMs = stored?.state === 'open' ? this.#clock.leftOf(created, stored.expiresInMs) : 0;
    const goneMs = this.#clock.leftOf(created, this.#goneMs);
    if (isBeat) {
      if (known) this.#lapseIn(key, Math.min(goneMs, known.until - performance.now()));
    } else if (stored?.state === 'open') {
      this.#lapseIn(key, stored.isHandedOver ? Math.min(goneMs, leftMs) : leftMs);
      const question = questionOf(key, entry, stored, leftMs);
      this.#open.set(key, question);
      this.#tell(key, question);
    } else {
      this.#open.delete(key);
      clearTimeout(this.#lapses.get(key));
      this.#lapses.delete(key);
      if (stored && !isFinal(stored)) this.#lapseIn(key, goneMs);
      if (stored) this.#remember(key, stored);
      this.#ends.emit(key, stored);
      this.#tell(key, undefined, stored);
    }
  }

  #remember(key: string, over: StoredOver): void {
    this.#recent.delete(key);
    this.#recent.set(key, over);
    const [oldest = ''] = this.#recent.keys();
    if (this.#recent.size > MAX_RECENT) this.#recent.delete(oldest);
  }

  #tell(key: string, question: OpenQuestion | undefined, over?: StoredOver): void {
    for (const listener of this.#listeners) listener(key, question, over);
  }
}

function questionOf(
  key: string,
  { revision }: KvEntry,
  { from, request, allowed }: StoredOpen,
  leftMs: number,
): OpenQuestion {
  const until = performance.now() + leftMs;
  return { key, revision, from, request, until, ...(allowed && { allowedBy: allowed.by }) };
}

function outcomeOf(stored: Stored | undefined, isAgain: boolean): Outcome {
  if (!stored || stored.state === 'open') return { kind: 'open' };
  return { kind: 'approval', approval: approvalOf(stored), ...(isAgain && { isAgain }) };
}

const unproved = (name: string): Person => ({ id: name, name, groups: [], proof: '' });

/** Kept in mind for the session where both want that. */
function bothOf({ by, remember, reason }: Approval, second: Approval): Approval {
  const { remember: also, ...said } = second;
  const reasons = [reason, second.reason].filter(Boolean).join('; ');
  return {
    ...said,
    ...(reasons && { reason: reasons }),
    ...(remember && also && { remember }),
    by: `${by}, ${second.by}`,
  };
}

const BUCKET = 'hookstack_approvals';
/** Begins the key of what is written each time that a question is asked again. */
const ALIVE = 'alive.';
/** Ms that an entry is kept beyond the longest wait. */
const MARGIN_MS = 60_000;
/** Questions that are over are small and soon removed, and those that are open few: see openQuestions.ts. */
const MAX_BUCKET_BYTES = 64 * 1024 * 1024;

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
