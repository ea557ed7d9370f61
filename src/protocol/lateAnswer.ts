/** What a hook said after nobody waited for it any more. */
export interface LateAnswer {
  readonly context?: string | undefined;
  /** Why it blocks, or stops; both come too late. */
  readonly reason?: string | undefined;
  readonly systemMessage?: string | undefined;
  /** Whether an agent that has finished is to go back to work with it. */
  readonly wakes: boolean;
}
