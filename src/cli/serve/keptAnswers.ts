import { Quota } from '../shared/http/quota.js';

/** What is answered: a status of HTTP, and JSON. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  /** When to ask again, in seconds. */
  readonly retryAfterS?: number;
}

interface Kept {
  readonly reply: Promise<Reply>;
  /** By `performance.now()`. */
  readonly until: number;
  /** `undefined` until it is answered. */
  size: number | undefined;
  /** Until then. */
  waiting: number;
  readonly from: string | undefined;
}

const LIMITS = {
  maxCount: 10_000,
  /** Characters of all bodies together. */
  maxSize: 64 * 1024 * 1024,
};

/** How many may wait for one answer beside who has asked first: each holds what it has sent, and takes no place. */
const MAX_WAITING = 16;
/** How long an answer may take memory that is not kept any more, in ms. */
const SWEEP_MS = 1000;

/**
 * Answers for who asks the same again, in the memory of a server. Where there are too many, the oldest are forgotten; of one
 * who asks, no more than half of all are kept.
 */
export class KeptAnswers {
  /** Those that are answered, in the order in which they were; those that are not stand anywhere between them. */
  readonly #kept = new Map<string, Kept>();
  /** Stands where all before was forgotten: another one would pass by what was deleted, each time. */
  #oldest = this.#kept.entries();
  #size = 0;
  #sweep: NodeJS.Timeout | undefined;
  readonly #shares: Quota;

  constructor(private readonly limits = LIMITS) {
    this.#shares = new Quota(Infinity, limits.maxCount / 2);
  }

  get count(): number {
    return this.#kept.size;
  }

  /** The answer to a question that was asked before, though it may not be there yet. `full`: too many wait for it. */
  get(key: string): Promise<Reply> | 'full' | undefined {
    const kept = this.#find(key);
    const isOpen = kept && kept.size === undefined;
    return isOpen && kept.waiting++ >= MAX_WAITING ? 'full' : kept?.reply;
  }

  #find(key: string): Kept | undefined {
    const kept = this.#kept.get(key);
    return kept && kept.until > performance.now() ? kept : undefined;
  }

  /**
   * @param timeoutMs how long the answer is kept
   * @param work answers it, for the first who asks
   * @param from who asks, where that is known
   */
  once(key: string, timeoutMs: number, work: () => Promise<Reply>, from?: string): Promise<Reply> {
    const known = this.#find(key);
    if (known) return known.reply;
    this.#forget(key);
    const reply = work();
    const until = performance.now() + timeoutMs;
    const kept: Kept = { reply, until, size: undefined, waiting: 0, from };
    this.#kept.set(key, kept);
    this.#sweep ??= setInterval(() => this.#forgetOver(), SWEEP_MS).unref();
    reply.then(
      ({ body }) => this.#weigh(key, kept, body.length),
      () => this.#forget(key),
    );
    return reply;
  }

  clear(): void {
    for (const key of this.#kept.keys()) this.#forget(key);
    this.#forgetOver();
  }

  #forgetOver(): void {
    const now = performance.now();
    for (const [key, { until }] of this.#kept) if (until <= now) this.#forget(key);
    // One that stands still keeps all that was ever deleted behind it.
    this.#oldest = this.#kept.entries();
    if (this.#kept.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #weigh(key: string, kept: Kept, size: number): void {
    if (this.#kept.get(key) !== kept) return;
    if (!this.#shares.take(kept.from)) return this.#forget(key);
    kept.size = size;
    this.#size += size;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const { maxCount, maxSize } = this.limits;
    while (this.#kept.size > maxCount || this.#size > maxSize) {
      const next = this.#oldest.next();
      if (next.done) return void (this.#oldest = this.#kept.entries());
      const [oldest, { size: weight }] = next.value;
      // Whoever still waits is among those that are limited elsewhere.
      if (weight !== undefined) this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (!kept) return;
    this.#kept.delete(key);
    if (kept.size === undefined) return;
    this.#size -= kept.size;
    this.#shares.give(kept.from);
  }
}
