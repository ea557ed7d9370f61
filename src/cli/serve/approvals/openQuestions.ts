import { Quota } from '../quota.js';
import type { KeptRequest } from './readApprovalRequest.js';
import type { StoredOver } from './storedQuestion.js';

/** A question that waits for a person. */
export interface OpenQuestion {
  readonly key: string;
  /** Of its entry. An answer says which one it is to. */
  readonly revision: number;
  /** Who asks, as his credentials say. */
  readonly from: string;
  readonly request: KeptRequest;
  /** A time of `performance.now()`. */
  readonly until: number;
}

/** How many questions may be open: of all, and of one who asks. */
const MAX_OPEN = 200;
const MAX_OPEN_OF_ONE = 20;
/** Requests of one who asks that wait at a time: each of its questions, and once more where a connection was lost. */
const MAX_WAITING_OF_ONE = 2 * MAX_OPEN_OF_ONE;

/** Each leaves an entry for as long as the longest question may wait: nobody answers more in a minute. */
const MAX_NEW_OF_ONE = 20;
const MINUTE_MS = 60_000;

/** The questions that this server knows to be open, and who waits for their end. */
export class OpenQuestions {
  readonly #open = new Map<string, OpenQuestion>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #waiting = new Map<string, Set<(over: StoredOver | undefined) => void>>();
  /** Keys of those that are being put, and who asks. */
  readonly #reserved = new Map<string, string>();
  /** When new ones came within the last minute, by who asks. */
  readonly #newOf = new Map<string, readonly number[]>();
  readonly #places = new Quota(Infinity, MAX_WAITING_OF_ONE);

  /**
   * @param onLapse called with the key of a question whose time is over
   * @param newInMinute of one who asks
   */
  constructor(
    private readonly onLapse: (key: string) => void,
    private readonly newInMinute = MAX_NEW_OF_ONE,
  ) {}

  list(): readonly OpenQuestion[] {
    return [...this.#open.values()];
  }

  add(question: OpenQuestion): void {
    const { key, until } = question;
    this.#open.set(key, question);
    clearTimeout(this.#timers.get(key));
    // A little later, so that it is over by then.
    const timer = setTimeout(() => this.onLapse(key), Math.max(0, until - performance.now()) + 5);
    this.#timers.set(key, timer.unref());
  }

  /** @param over how it has ended; `undefined` where its entry is gone */
  remove(key: string, over: StoredOver | undefined): void {
    this.#open.delete(key);
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    for (const settle of this.#waiting.get(key) ?? []) settle(over);
  }

  /**
   * Takes room for a question.
   *
   * @returns gives it back; `undefined` where there is none
   */
  reserve(key: string, from: string): (() => void) | undefined {
    if (!this.#open.has(key) && !this.#reserved.has(key)) {
      const askers = [...this.#open.values()].map((question) => question.from);
      askers.push(...this.#reserved.values());
      const ofOne = askers.filter((each) => each === from).length;
      if (askers.length >= MAX_OPEN || ofOne >= MAX_OPEN_OF_ONE) return undefined;
      if (!this.#takeNew(from)) return undefined;
    }
    this.#reserved.set(key, from);
    return () => this.#reserved.delete(key);
  }

  #takeNew(from: string): boolean {
    const since = performance.now() - MINUTE_MS;
    for (const [asker, times] of this.#newOf) {
      if ((times.at(-1) ?? 0) <= since) this.#newOf.delete(asker);
    }
    const recent = (this.#newOf.get(from) ?? []).filter((time) => time > since);
    if (recent.length >= this.newInMinute) return false;
    this.#newOf.set(from, [...recent, performance.now()]);
    return true;
  }

  /**
   * Waits for the end of a question, from now on.
   *
   * @returns `over` gives how it has ended; `undefined` where it has not within some ms, or the signal aborts. There is
   *   nothing to wait with where too many requests of this asker wait already
   */
  wait(key: string, from: string, signal: AbortSignal) {
    if (!this.#places.take(from)) return undefined;
    let settle!: (over: StoredOver | undefined) => void;
    const ended = new Promise<StoredOver | undefined>((resolve) => (settle = resolve));
    const same = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, same.add(settle));
    const abort = () => settle(undefined);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    let timer: NodeJS.Timeout | undefined;
    return {
      over: (ms: number) => {
        timer = setTimeout(abort, ms);
        return ended;
      },
      end: () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        same.delete(settle);
        if (same.size === 0) this.#waiting.delete(key);
        this.#places.give(from);
      },
    };
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#open.clear();
  }
}
