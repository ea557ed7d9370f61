/** Sessions whose tokens are counted at a time: the oldest is forgotten. */
const MAX_SESSIONS = 1_000;

/** Characters that make a token, about. */
const CHARACTERS_OF_TOKEN = 4;

/** Counts the tokens of each session, those of calls under way among them. */
export class TokenBudget {
  readonly #used = new Map<string, number>();

  /** @param mostNow of a session; it may become another number */
  constructor(private readonly mostNow: () => number) {}

  /**
   * Takes what a call may need.
   *
   * @param characters of the question
   * @param answer tokens that the answer may have
   * @returns how many tokens that is
   * @throws Error where the session has not as many left
   */
  reserve(session: string, characters: number, answer: number): number {
    const needed = Math.ceil(characters / CHARACTERS_OF_TOKEN) + answer;
    const used = this.#used.get(session) ?? 0;
    const most = this.mostNow();
    if (used + needed > most) {
      const left = Math.max(0, most - used);
      throw new Error(
        `it may need ${needed} tokens, and ${left} of ${most} are left for this session: raise "promptBudget", or shorten what it reads`,
      );
    }
    this.#used.set(session, used + needed);
    const [oldest] = this.#used.keys();
    if (this.#used.size > MAX_SESSIONS && oldest !== undefined) this.#used.delete(oldest);
    return needed;
  }

  /** Says how many tokens a call took in the end. */
  settle(session: string, reserved: number, used: number): void {
    const all = this.#used.get(session);
    if (all !== undefined) this.#used.set(session, Math.max(0, all - reserved + used));
  }
}
