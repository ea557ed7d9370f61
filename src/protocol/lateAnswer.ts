/** What async hooks of a session have to say. */
export interface LookedForLate {
  /** Whether there is something to take. */
  readonly isThere: boolean;
  /** Whether it sends an agent back to work that has finished. */
  readonly wakes: boolean;
  /** Whether some of the hooks run, or wait for their turn. */
  readonly mayCome: boolean;
}

export const NOTHING_LATE: LookedForLate = { isThere: false, wakes: false, mayCome: false };

/** What a hook said after nobody waited for it any more. */
export interface LateAnswer {
  readonly context?: string | undefined;
  /** Why it blocks, or stops; both come too late. */
  readonly reason?: string | undefined;
  readonly systemMessage?: string | undefined;
  /** Whether an agent that has finished is to go back to work with it. */
  readonly wakes: boolean;
}
