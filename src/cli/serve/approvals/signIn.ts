import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MIN_READ_MS } from '../../../protocol/approval.js';
import { toOneLine } from '../../shared/terminal.js';
import { LastMinute } from '../quota.js';
import { BodyReader } from '../readBody.js';
import { readSaid, send } from '../respond.js';
import { show } from './approvalView.js';

/** Where the page of questions is. */
export const PAGE = '/approvals';

const MAX_SIGN_IN_BYTES = 4 * 1024;

const CSRF_HEADER = 'hookstack-csrf';

/** People who may answer. */
export interface Approvers {
  /** Whose token it is, in a time that says nothing of others. */
  nameOf(token: string): string | undefined;
  /** Emits `replaced` when other tokens count. */
  readonly changes?: EventEmitter;
}

export interface SignInOptions {
  /** Whether the server speaks TLS. */
  readonly isTls: boolean;
  /** Where the page is, as browsers see it, where `Host` does not say so: `https://approvals.example`. */
  readonly origin?: string | undefined;
  /** Gets a line for each sign-in, and each wrong token. */
  readonly log: (line: string) => void;
}

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
  /** Whether the token with which it began is still that of this person. */
  readonly isKnown: () => boolean;
}

/** What a page has to know of its session. */
export function pageSession({ name, csrf }: ApproverSession) {
  return { name: show(name), csrf, readMs: MIN_READ_MS };
}

/** Lets people in who have a token, and knows which requests are theirs. */
export class SignIn {
  readonly #sessions = new ApproverSessions();
  readonly #failed = new LastMinute();
  readonly #bodies = new BodyReader(MAX_SIGN_IN_BYTES, 256);

  constructor(
    private readonly options: SignInOptions,
    approvers?: Approvers,
  ) {
    approvers?.changes?.on('replaced', () => this.#sessions.endRevoked());
  }

  async begin(
    request: IncomingMessage,
    response: ServerResponse,
    approvers: Approvers,
  ): Promise<void> {
    const refusal = this.#whyForeign(request);
    if (refusal) return send(response, 403, { error: refusal });
    const from = request.socket.remoteAddress ?? '';
    if (this.#hasToWait(response, from)) return;
    // Not with the room of answers: whoever sends this is not known yet.
    const body = await readSaid(request, response, this.#bodies, from);
    // Others of the same address may have tried meanwhile.
    if (!body || this.#hasToWait(response, from)) return;
    const token = body['token'];
    // Whatever it was, it is a try.
    const name = typeof token === 'string' && token !== '' ? approvers.nameOf(token) : undefined;
    if (name === undefined) {
      this.#failed.add(from);
      this.options.log(`a wrong token was sent to ${PAGE} from ${toOneLine(from)}`);
      return send(response, 401, { error: 'This token is not known' });
    }
    const session = this.#sessions.begin(name, () => approvers.nameOf(String(token)) === name);
    this.options.log(`${toOneLine(name)} has signed in to ${PAGE} from ${toOneLine(from)}`);
    const cookie = this.#cookie(request, session.id, this.#sessions.lifetimeS);
    return send(response, 200, pageSession(session), { 'Set-Cookie': cookie });
  }

  #hasToWait(response: ServerResponse, from: string): boolean {
    const own = this.#failed.count(from);
    const all = this.#failed.count();
    const isOwn = own.times >= MAX_FAILURES_OF_ONE;
    if (!isOwn && all.times < MAX_FAILURES) return false;
    const waitS = isOwn ? own.lessInS : all.lessInS;
    const error = `Too many wrong tokens: try again in ${waitS} s`;
    send(response, 429, { error }, { 'Retry-After': String(waitS) });
    return true;
  }

  find(request: IncomingMessage): ApproverSession | undefined {
    return this.#sessions.find(this.#cookieOf(request));
  }

  end(request: IncomingMessage, response: ServerResponse, { id }: ApproverSession): void {
    this.#sessions.end(id);
    send(response, 200, {}, { 'Set-Cookie': this.#cookie(request, '', 0) });
  }

  /** A page of somebody else sends neither the origin of this one, nor what only this one was told. */
  whyForged(request: IncomingMessage, { csrf }: ApproverSession): string | undefined {
    const sent = request.headers[CSRF_HEADER];
    const isOwn = typeof sent === 'string' && isSameText(sent, csrf);
    return (
      this.#whyForeign(request) ??
      (isOwn ? undefined : 'The request lacks what only this page knows')
    );
  }

  #whyForeign(request: IncomingMessage): string | undefined {
    if (request.method !== 'POST') return 'Only POST changes something here';
    const { host, origin } = request.headers;
    const { isTls, origin: own = `${isTls ? 'https' : 'http'}://${host ?? ''}` } = this.options;
    return origin === own ? undefined : 'The request comes from a page of another origin';
  }

  /** Cookies are those of a host, whatever the port: two servers of one host must not end each other's sessions. */
  #cookieName({ socket }: IncomingMessage): string {
    return `hookstack_${socket.localPort ?? 0}`;
  }

  #cookieOf(request: IncomingMessage): string | undefined {
    const start = `${this.#cookieName(request)}=`;
    const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
    return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
  }

  #cookie(request: IncomingMessage, value: string, maxAgeS: number): string {
    const secure =
      this.options.isTls || this.options.origin?.startsWith('https:') ? '; Secure' : '';
    return `${this.#cookieName(request)}=${value}; Path=${PAGE}; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secure}`;
  }
}

const LIFETIME_MS = 12 * 3_600_000;
const MAX_SESSIONS = 1000;

/** Who is signed in, in memory: a server that starts anew asks for the token again. */
class ApproverSessions {
  readonly #sessions = new Map<string, ApproverSession & { readonly until: number }>();

  constructor(private readonly lifetimeMs = LIFETIME_MS) {}

  get lifetimeS(): number {
    return Math.floor(this.lifetimeMs / 1000);
  }

  begin(name: string, isKnown: () => boolean): ApproverSession {
    this.#removeOver();
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= MAX_SESSIONS && oldest !== undefined) this.end(oldest);
    const id = randomBytes(32).toString('base64url');
    const csrf = randomBytes(32).toString('base64url');
    const until = performance.now() + this.lifetimeMs;
    const shown = new ShownQuestions();
    const session = { id, name, csrf, shown, over: new AbortController(), isKnown, until };
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

  endRevoked(): void {
    for (const { id, isKnown } of this.#sessions.values()) if (!isKnown()) this.end(id);
  }

  #removeOver(): void {
    const now = performance.now();
    for (const { id, until } of this.#sessions.values()) if (until <= now) this.end(id);
  }
}

/** Whether two texts are the same, in a time that says nothing of where they differ. */
function isSameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Wrong tokens in a minute. */
const MAX_FAILURES_OF_ONE = 5;
/** So many that nobody guesses a token with them, and that somebody with ten machines keeps nobody else out. */
const MAX_FAILURES = 1000;

/** A question as a page was told it: its entry, and everything that stood there. */
export interface ShownAs {
  readonly revision: number;
  readonly digest: string;
}

/** Why an answer does not count. */
interface NotShown {
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
