import { randomBytes, timingSafeEqual } from 'node:crypto';
import { ShownQuestions } from './shownQuestions.js';

/** Somebody who is signed in. */
export interface ApproverSession {
  readonly id: string;
  /** Who it is, as the file of approvers says. */
  readonly name: string;
  /** A cross-site request cannot know it. */
  readonly csrf: string;
  /** What the pages of this session have shown. */
  readonly shown: ShownQuestions;
  /** Aborts at the end of the session. */
  readonly over: AbortController;
}

const LIFETIME_MS = 12 * 3_600_000;
const MAX_SESSIONS = 1000;

/** Who is signed in, in memory: a server that starts anew asks for the token again. */
export class ApproverSessions {
  readonly #sessions = new Map<string, ApproverSession & { readonly until: number }>();

  constructor(private readonly lifetimeMs = LIFETIME_MS) {}

  get lifetimeS(): number {
    return Math.floor(this.lifetimeMs / 1000);
  }

  begin(name: string): ApproverSession {
    this.#removeOver();
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= MAX_SESSIONS && oldest !== undefined) this.end(oldest);
    const id = randomBytes(32).toString('base64url');
    const csrf = randomBytes(32).toString('base64url');
    const until = performance.now() + this.lifetimeMs;
    const shown = new ShownQuestions();
    const session = { id, name, csrf, shown, over: new AbortController(), until };
    this.#sessions.set(id, session);
    return session;
  }

  find(id: string | undefined): ApproverSession | undefined {
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (!session || session.until > performance.now()) return session;
    this.end(session.id);
    return undefined;
  }

  end(id: string): void {
    this.#sessions.get(id)?.over.abort();
    this.#sessions.delete(id);
  }

  #removeOver(): void {
    const now = performance.now();
    for (const { id, until } of this.#sessions.values()) if (until <= now) this.end(id);
  }
}

/** Whether two texts are the same, in a time that says nothing of where they differ. */
export function isSameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const WINDOW_MS = 60_000;
const MAX_FAILURES_OF_ONE = 5;
/** So many that nobody guesses a token with them, and that somebody with ten machines keeps nobody else out. */
const MAX_FAILURES = 1000;

/** Counts wrong tokens of the last minute. */
export class FailedSignIns {
  /** Where it came from, and when. */
  #failures: { readonly from: string; readonly at: number }[] = [];

  add(from: string): void {
    this.#failures.push({ from, at: performance.now() });
  }

  /** @returns seconds to wait before a further token is looked at; `undefined` where it may be now */
  waitS(from: string): number | undefined {
    const since = performance.now() - WINDOW_MS;
    this.#failures = this.#failures.filter(({ at }) => at > since);
    const own = this.#failures.filter((failure) => failure.from === from);
    const [first] = own.length >= MAX_FAILURES_OF_ONE ? own : this.#failures;
    const isOver = own.length >= MAX_FAILURES_OF_ONE || this.#failures.length >= MAX_FAILURES;
    return isOver && first ? Math.max(1, Math.ceil((first.at - since) / 1000)) : undefined;
  }
}
