/** What is answered: a status of HTTP, and JSON. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  /** When to ask again, in seconds. */
  readonly retryAfterS?: number;
}

interface Kept {
  readonly reply: Promise<Reply>;
  readonly expiry: NodeJS.Timeout;
  /** `undefined` until it is answered. */
  size: number | undefined;
}

const LIMITS = {
  maxCount: 10_000,
  /** Characters of all bodies together. */
  maxSize: 64 * 1024 * 1024,
};

/** Answers for who asks the same again, in the memory of a server. Where there are too many, the oldest are forgotten. */
export class KeptAnswers {
  readonly #kept = new Map<string, Kept>();
  #size = 0;

  constructor(private readonly limits = LIMITS) {}

  /** The answer to a question that was asked before, though it may not be there yet. */
  get(key: string): Promise<Reply> | undefined {
    return this.#kept.get(key)?.reply;
  }

  /**
   * @param timeoutMs how long the answer is kept
   * @param work answers it, for the first who asks
   */
  once(key: string, timeoutMs: number, work: () => Promise<Reply>): Promise<Reply> {
    const known = this.#kept.get(key);
    if (known) return known.reply;
    const reply = work();
    const expiry = setTimeout(() => this.#forget(key), timeoutMs);
    expiry.unref();
    const kept: Kept = { reply, expiry, size: undefined };
    this.#kept.set(key, kept);
    reply.then(
      ({ body }) => this.#weigh(key, kept, body.length),
      () => this.#forget(key),
    );
    return reply;
  }

  clear(): void {
    for (const key of this.#kept.keys()) this.#forget(key);
  }

  #weigh(key: string, kept: Kept, size: number): void {
    if (this.#kept.get(key) !== kept) return;
    kept.size = size;
    this.#size += size;
    const { maxCount, maxSize } = this.limits;
    for (const [each, { size: weight }] of this.#kept) {
      if (this.#kept.size <= maxCount && this.#size <= maxSize) return;
      // Whoever still waits is among those that are limited elsewhere.
      if (weight !== undefined) this.#forget(each);
    }
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (!kept) return;
    clearTimeout(kept.expiry);
    this.#kept.delete(key);
    this.#size -= kept.size ?? 0;
  }
}
