import { MIN_READ_MS } from '../../../protocol/approval.js';

/** A question as a page was told it: its entry, and everything that stood there. */
export interface ShownAs {
  readonly revision: number;
  readonly digest: string;
}

/** Why an answer does not count. */
export interface NotShown {
  readonly status: number;
  readonly error: string;
}

/** More than can be open: who answers too late still hears who was first. */
const MAX_SHOWN = 1000;

/** What the pages of one person were told, and since when: a yes counts for that, and for nothing else. */
export class ShownQuestions {
  readonly #shown = new Map<string, ShownAs & { readonly since: number }>();

  /** @param now a clock in ms */
  constructor(private readonly now = () => performance.now()) {}

  /** A page has been told it. Another page, or the same after a lost connection, changes nothing. */
  add(key: string, { revision, digest }: ShownAs): void {
    const known = this.#shown.get(key);
    if (known?.revision === revision && known.digest === digest) return;
    this.#shown.delete(key);
    this.#shown.set(key, { revision, digest, since: this.now() });
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MAX_SHOWN && oldest !== undefined) this.#shown.delete(oldest);
  }

  /** Whether it may count is for the page to say as well, which knows when it was in sight, and where. */
  whyNot(key: string, { revision, digest }: ShownAs): NotShown | undefined {
    const known = this.#shown.get(key);
    if (!known) return { status: 404, error: 'no page of yours has shown this question' };
    if (known.revision !== revision || known.digest !== digest) {
      return { status: 409, error: 'it is not the question that your page has shown' };
    }
    if (this.now() - known.since >= MIN_READ_MS) return undefined;
    return { status: 425, error: 'it came too soon after the question: read it, and answer again' };
  }
}
