import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { CallSession } from '../../../protocol/types.js';
import { headerOf } from '../../shared/http/respond.js';
import type { McpSession } from '../call.js';
import { canElicit } from '../questions.js';
import type { Id } from '../rpc.js';

/** What a client says of its session. */
export const SESSION = 'mcp-session-id';
/** Sessions that are known at a time; of an older one nothing is known but that hooks look at its calls, and deny where they ask. */
const MAX_SESSIONS = 10_000;
/** Answers that a client may come back for, in number and bytes. */
const MAX_KEPT = 1000;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** A client of the door, as it says itself. */
export interface DoorSession extends McpSession {
  /** A part of the keys of its requests. */
  readonly scope: string;
}

/** The sessions of a server, as the server counts them; for hooks, each is one of its own. */
export class Sessions {
  readonly #known = new Map<string, DoorSession>();
  /** By ids that no server gave here: anybody can make up any number of them. */
  readonly #strangers = new Map<string, DoorSession>();
  /** Clients without a session: whoever has the same login, and without one whoever has the same connection. */
  readonly #logins = new Map<string, DoorSession>();
  readonly #connections = new WeakMap<Socket, DoorSession>();
  #count = 0;

  /** @param end hears of each that nobody comes back to */
  constructor(
    private readonly make: (forHooks: CallSession) => McpSession,
    private readonly end: (session: McpSession) => void,
  ) {}

  of(request: IncomingMessage): DoorSession {
    const id = headerOf(request, SESSION);
    if (id !== undefined)
      return this.#known.has(id) ? this.#find(this.#known, id) : this.#find(this.#strangers, id);
    // Two of them may use the same ids.
    return { ...this.#clientOf(request), scope: this.#nextScope() };
  }

  /** A first request has no session yet: its own begins with the answer. */
  begin(): DoorSession {
    return { ...this.make({ sessionId: randomUUID() }), scope: this.#nextScope() };
  }

  /** A session that has begun, by the id that its client is given. */
  register(id: string, session: DoorSession): void {
    const earlier = this.#known.get(id);
    // Where a server gives two clients one id, the question of the one must not be lost for the other.
    if (earlier && canElicit(earlier.capabilities)) session.capabilities = earlier.capabilities;
    this.delete(id);
    this.#find(this.#known, id, session);
  }

  delete(id: string): void {
    for (const sessions of [this.#known, this.#strangers]) this.#forget(sessions, id);
  }

  #forget(sessions: Map<string, DoorSession>, key: string): void {
    const session = sessions.get(key);
    if (session && sessions.delete(key)) this.end(session);
  }

  #nextScope(): string {
    this.#count += 1;
    return String(this.#count);
  }

  #clientOf({ headers: { authorization }, socket }: IncomingMessage): DoorSession {
    if (authorization !== undefined) {
      const login = createHash('sha256').update(authorization).digest('base64');
      return this.#find(this.#logins, login);
    }
    const client = this.#connections.get(socket) ?? this.begin();
    this.#connections.set(socket, client);
    return client;
  }

  /** What is known by a key, and else a new one. Who was seen last is forgotten last. */
  #find(known: Map<string, DoorSession>, key: string, first?: DoorSession): DoorSession {
    const session = known.get(key) ?? first ?? this.begin();
    known.delete(key);
    known.set(key, session);
    const [oldest] = known.keys();
    if (known.size > MAX_SESSIONS && oldest !== undefined) this.#forget(known, oldest);
    return session;
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
