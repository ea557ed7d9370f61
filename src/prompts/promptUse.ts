/** What models were asked in a session, and have answered. */
export interface SessionUse {
  /** Those of calls under way among them. */
  tokens: number;
  /** What is remembered of them, by the question's hash. */
  readonly answers: Map<string, string>;
}

/** What adds to it. Fewer tokens than were taken before are a number below 0. */
export type UseEntry =
  | { readonly tokens: number }
  | { readonly key: string; readonly said: string };

/** Keeps what each session has used. */
export interface PromptUse {
  /** @throws Error where it cannot be found out */
  read(session: string): Readonly<SessionUse>;
  /** @throws Error where it cannot be kept */
  note(session: string, entry: UseEntry): void;
  forget(session: string): void;
}

/** What several hosts of one process keep together, once one of them has asked a model. */
export interface SharedUse {
  kept?: PromptUse;
}

/** Answers that are remembered of a session: the oldest is forgotten. */
const MAX_ANSWERS = 500;

/** Characters of an answer that is remembered. */
export const MAX_REMEMBERED = 16 * 1024;

/** Sessions that are kept at a time: the oldest is forgotten. */
const MAX_SESSIONS = 1_000;

export function newUse(): SessionUse {
  return { tokens: 0, answers: new Map() };
}

export function addTo(use: SessionUse, entry: UseEntry): void {
  if ('tokens' in entry) {
    use.tokens = Math.max(0, use.tokens + entry.tokens);
    return;
  }
  use.answers.set(entry.key, entry.said);
  const [oldest] = use.answers.keys();
  if (use.answers.size > MAX_ANSWERS && oldest !== undefined) use.answers.delete(oldest);
}

/** For as long as this process runs. */
export class UseInMemory implements PromptUse {
  readonly #sessions = new Map<string, SessionUse>();

  read(session: string): SessionUse {
    return this.#sessions.get(session) ?? newUse();
  }

  note(session: string, entry: UseEntry): void {
    const use = this.read(session);
    addTo(use, entry);
    this.#sessions.set(session, use);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
  }

  forget(session: string): void {
    this.#sessions.delete(session);
  }
}

/** Characters that make a token, about. */
const CHARACTERS_OF_TOKEN = 4;

/**
 * Takes the tokens that a call may need. Where several take some at once, they may get fewer than are left, and never more.
 *
 * @param most tokens of a session
 * @param characters of the question
 * @param answer tokens that the answer may have
 * @returns how many tokens that is
 * @throws Error where the session has not as many left
 */
export function reserveTokens(
  use: PromptUse,
  session: string,
  most: number,
  { characters, answer }: { readonly characters: number; readonly answer: number },
): number {
  const needed = Math.ceil(characters / CHARACTERS_OF_TOKEN) + answer;
  const requireLeft = (tokens: number) => {
    if (tokens + needed <= most) return;
    throw new Error(
      `it may need ${needed} tokens, and ${Math.max(0, most - tokens)} of ${most} are left for this session: raise "promptBudget", or shorten what it reads`,
    );
  };
  requireLeft(use.read(session).tokens);
  use.note(session, { tokens: needed });
  try {
    requireLeft(use.read(session).tokens - needed);
  } catch (error) {
    use.note(session, { tokens: -needed });
    throw error;
  }
  return needed;
}
