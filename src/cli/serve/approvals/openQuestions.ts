import { LastMinute, MINUTE_MS, Quota } from '../../shared/http/quota.js';
import type { KeptRequest } from './storedQuestion.js';

/** A question that waits for a person. */
export interface OpenQuestion {
  readonly key: string;
  /** Of its entry. An answer says which one it is to. */
  readonly revision: number;
  /** Who asks, as his credentials say. */
  readonly from: string;
  readonly request: KeptRequest;
  /** Who has allowed it, where a second person has to. */
  readonly allowedBy?: string;
  /** A time of `performance.now()`. */
  readonly until: number;
}

/** How many questions may be open: of all, and of one who asks. */
const MAX_OPEN = 200;
export const MAX_OPEN_OF_ONE = 20;

/** Nobody answers more in a minute. Each is looked through once, and leaves an entry for some minutes. */
const MAX_NEW_OF_ONE = 20;

/** How often one who asks may ask the same again, or take it back, in a minute: five times what all its questions need. */
const MAX_AGAIN_OF_ONE = 600;

/** The questions that this server knows to be open, by key. */
export class OpenQuestions extends Map<string, OpenQuestion> {
  /** Keys of those that are being put, and who asks. */
  readonly #reserved = new Map<string, string>();
  readonly #new = new LastMinute();
  readonly #again = new Quota(Infinity, MAX_AGAIN_OF_ONE);

  /** @param newInMinute of one who asks */
  constructor(private readonly newInMinute = MAX_NEW_OF_ONE) {
    super();
  }

  /**
   * Takes room for a question.
   *
   * @returns gives it back; `undefined` where there is none
   */
  reserve(key: string, from: string): (() => void) | undefined {
    if (!this.has(key)) {
      // One that is just put is not looked through twice.
      if (this.#reserved.has(key)) return undefined;
      const askers = [...this.values()].map((question) => question.from);
      askers.push(...this.#reserved.values());
      const ofOne = askers.filter((each) => each === from).length;
      if (askers.length >= MAX_OPEN || ofOne >= MAX_OPEN_OF_ONE) return undefined;
      if (this.#new.count(from).times >= this.newInMinute) return undefined;
      this.#new.add(from);
    } else if (!this.mayAgain(from)) return undefined;
    this.#reserved.set(key, from);
    return () => this.#reserved.delete(key);
  }

  /** For what is about a question that may be there: each asks something of NATS. */
  mayAgain(from: string): boolean {
    const may = this.#again.take(from);
    if (may) setTimeout(() => this.#again.give(from), MINUTE_MS).unref();
    return may;
  }
}
