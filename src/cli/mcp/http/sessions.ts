import type { McpSession } from '../call.js';
import type { Id } from '../rpc.js';

/** Sessions that are known at a time; of an older one nothing is known but that hooks look at its calls. */
const MAX_SESSIONS = 10_000;
/** Answers that a client may come back for, in number and bytes. */
const MAX_KEPT = 1000;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** A client of the door, by the id that the server gave it. */
export interface DoorSession extends McpSession {
  /** A part of the keys of its requests. */
  readonly scope: string;
}

/** The sessions of a server, as the server counts them. */
export class Sessions {
  readonly #known = new Map<string, DoorSession>();
  #count = 0;
  /** For clients without a session: all of them are offered the same tools. */
  readonly #shared: McpSession;

  constructor(private readonly make: () => McpSession) {
    this.#shared = make();
  }

  /** @param id what the client says; `undefined` where it has none */
  of(id: string | undefined): DoorSession {
    const known = id === undefined ? undefined : this.#known.get(id);
    if (known) return known;
    this.#count += 1;
    const scope = String(this.#count);
    if (id === undefined) return { capabilities: {}, offer: this.#shared.offer, scope };
    return this.register(id, { ...this.make(), scope });
  }

  /** A first request has no session yet: its own begins with the answer. */
  begin(): DoorSession {
    this.#count += 1;
    return { ...this.make(), scope: String(this.#count) };
  }

  register(id: string, session: DoorSession): DoorSession {
    const known = this.#known.get(id);
    if (known) return known;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MAX_SESSIONS && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(id, session);
    return session;
  }

  delete(id: string): void {
    this.#known.delete(id);
  }
}

/** What clients were answered, for those who have lost the answer: hooks run once for a call. */
export class KeptAnswers {
  readonly #kept = new Map<Id, Buffer>();
  #size = 0;

  get(key: Id): Buffer | undefined {
    return this.#kept.get(key);
  }

  keep(key: Id, answer: Buffer): void {
    if (answer.length > MAX_KEPT_BYTES) return;
    this.#forget(key);
    this.#kept.set(key, answer);
    this.#size += answer.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT && this.#size <= MAX_KEPT_BYTES) return;
      this.#forget(oldest);
    }
  }

  #forget(key: Id): void {
    this.#size -= this.#kept.get(key)?.length ?? 0;
    this.#kept.delete(key);
  }
}
