import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MIN_READ_MS } from '../../../protocol/approval.js';
import { errorMessage } from '../../../util/errorMessage.js';
import { toOneLine } from '../../shared/terminal.js';
import { LastMinute } from '../quota.js';
import { BodyReader } from '../readBody.js';
import { readSaid, send, wrongMethod } from '../respond.js';
import { show } from './approvalView.js';
import type { Objection } from './kvBoard.js';
import { sealOf, type ApproverSession, type KvSessions } from './kvSessions.js';
import { CALLBACK, type OidcPeople } from '../../shared/people/oidc.js';
import type { People, Person } from '../../shared/people/people.js';
import type { Roles } from '../../shared/people/roles.js';

/** Where the page of questions is. */
export const PAGE = '/approvals';

const MAX_SIGN_IN_BYTES = 4 * 1024;

const CSRF_HEADER = 'hookstack-csrf';

export interface SignInOptions {
  /** Whether the server speaks TLS. */
  readonly isTls: boolean;
  /** Where the page is, as browsers see it, where `Host` does not say so: `https://approvals.example`. */
  readonly origin?: string | undefined;
  /** Gets a line for each sign-in, and each wrong token. */
  readonly log: (line: string) => void;
}

/** Lets people in, and knows which requests are theirs. */
export class SignIn {
  readonly #failed = new LastMinute();
  readonly #begun = new LastMinute();
  readonly #bodies = new BodyReader(MAX_SIGN_IN_BYTES, 256);

  constructor(
    private readonly options: SignInOptions,
    private readonly people: People,
    private readonly sessions: KvSessions,
    private readonly roles?: Roles,
  ) {
    people.onRevoked?.((isRevoked) => {
      // This server refuses them in any case.
      sessions.endWhere(isRevoked).catch(() => undefined);
    });
  }

  get kind(): People['kind'] {
    return this.people.kind;
  }

  /** What a page has to know of its session. */
  pageOf(session: ApproverSession) {
    const csrf = sealOf(session, 'csrf');
    const hasRole = this.roles?.knows(session) ?? true;
    return { name: show(session.name), csrf, readMs: MIN_READ_MS, signIn: this.kind, hasRole };
  }

  async begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = this.#whyForeign(request);
    if (refusal) return send(response, 403, { error: refusal });
    const from = request.socket.remoteAddress ?? '';
    if (this.#hasToWait(response, from)) return;
    // Not with the room of answers: whoever sends this is not known yet.
    const body = await readSaid(request, response, this.#bodies, from);
    // Others of the same address may have tried meanwhile.
    if (!body || this.#hasToWait(response, from)) return;
    const person = this.people.identify(request, body);
    if (!person) return this.#refuse(response, from);
    const session = await this.#start(response, person, from);
    if (!session) return;
    const cookie = this.#cookie(session.secret, this.sessions.lifetimeS);
    return send(response, 200, this.pageOf(session), { 'Set-Cookie': cookie });
  }

  /** Sends a browser to the provider, or takes it back from there. */
  async visit(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    people: OidcPeople,
  ): Promise<void> {
    if (request.method !== 'GET') return wrongMethod(response, 'GET');
    const from = request.socket.remoteAddress ?? '';
    const go = (to: string, ...cookies: string[]) =>
      response.writeHead(303, { ...GO, Location: to, 'Set-Cookie': cookies }).end();
    try {
      if (path !== CALLBACK) {
        const { url, seed } = await people.begin();
        return void go(url, this.#seedCookie(seed, SEED_S));
      }
      const seed = valueOf(request, this.#seedName);
      const query = (request.url ?? '').split('?').slice(1).join('?');
      const person = await people.finish(query, seed ?? '');
      const session = await this.#start(response, person, from);
      if (!session) return;
      const own = this.#cookie(session.secret, this.sessions.lifetimeS);
      go(PAGE, own, this.#seedCookie('', 0));
    } catch (error) {
      const { cause } = error as Error;
      const why = [error, cause].filter(Boolean).map(errorMessage).join(': ');
      const what = toOneLine(why);
      this.options.log(`somebody could not sign in to ${PAGE} from ${toOneLine(from)}: ${what}`);
      const back = 'The provider has not said who you are; the log of the server says why';
      send(response, 401, { error: back }, { 'Set-Cookie': this.#seedCookie('', 0) });
    }
  }

  async #start(
    response: ServerResponse,
    person: Person,
    from: string,
  ): Promise<ApproverSession | undefined> {
    if (this.#begun.count(person.id).times >= MAX_BEGUN_OF_ONE) {
      send(response, 429, { error: 'You have signed in too often: try again in a minute' });
      return undefined;
    }
    this.#begun.add(person.id);
    const session = await this.sessions.start(person);
    const { name, groups } = person;
    const of = groups.length > 0 ? `the groups ${groups.join(', ')}` : 'no group';
    const role = this.roles?.knows(person) === false ? `, and has no role (--roles), in ${of}` : '';
    this.options.log(toOneLine(`${name} has signed in to ${PAGE} from ${from}${role}`));
    return session;
  }

  #refuse(response: ServerResponse, from: string): void {
    // Whatever it was, it is a try; but all that a proxy sends comes from there.
    if (this.kind === 'token') this.#failed.add(from);
    this.options.log(`a wrong ${this.kind} was sent to ${PAGE} from ${toOneLine(from)}`);
    send(response, 401, { error: REFUSALS[this.kind] });
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

  /** Whose request it is. Rejects where NATS cannot be reached. */
  async find(request: IncomingMessage): Promise<ApproverSession | undefined> {
    const session = await this.sessions.find(valueOf(request, this.sessions.cookieName));
    const now = session && this.people.refresh(session, request);
    return now && { ...now, secret: session.secret };
  }

  /** Calls once, when somebody is no longer signed in. @returns stops that */
  async watch(session: ApproverSession, onEnd: () => void): Promise<() => void> {
    return this.sessions.watch(session, onEnd);
  }

  async end(response: ServerResponse, session: ApproverSession): Promise<void> {
    await this.sessions.end(session);
    send(response, 200, {}, { 'Set-Cookie': this.#cookie('', 0) });
  }

  /** A page of somebody else sends neither the origin of this one, nor what only this one was told. */
  whyForged(request: IncomingMessage, session: ApproverSession): string | undefined {
    const sent = request.headers[CSRF_HEADER];
    const isOwn = typeof sent === 'string' && isSameText(sent, sealOf(session, 'csrf'));
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

  get #isSecure(): boolean {
    return this.options.isTls || this.options.origin?.startsWith('https:') === true;
  }

  #cookie(value: string, maxAgeS: number): string {
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.sessions.cookieName}=${value}; Path=${PAGE}; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secure}`;
  }

  /** A host beside this one cannot set a cookie of this name. */
  get #seedName(): string {
    return `${this.#isSecure ? '__Host-' : ''}hookstack_oidc`;
  }

  /** It has to come along when the provider sends the browser back. */
  #seedCookie(value: string, maxAgeS: number): string {
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.#seedName}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeS}${secure}`;
  }
}

/** Time to sign in at the provider. */
const SEED_S = 600;
const GO = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

const REFUSALS = {
  token: 'This token is not known',
  proxy: 'The proxy has not said who you are',
  oidc: 'Sign in at the provider',
};

function valueOf({ headers }: IncomingMessage, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
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
/** So few that in 12 hours nobody fills what holds the sessions of all. */
const MAX_BEGUN_OF_ONE = 20;

/** A question as a page was told it: its entry, everything that stood there, and when, for the page to say again. */
export interface ShownAs {
  readonly revision: number;
  readonly digest: string;
  /** Ms since 1970 by the clock of NATS, and a seal: any server sees that it was told to this session. */
  readonly shown: string;
}

export const OTHER_QUESTION: Objection = {
  status: 409,
  error: 'it is not the question that your page has shown',
};

type Told = Pick<ShownAs, 'revision' | 'digest'> & { readonly key: string };

/** Says that a page has been told a question. */
export function shownNow(session: ApproverSession, told: Told, now: number): string {
  return `${Math.round(now)}.${sealShown(session, told, Math.round(now))}`;
}

/** Why an answer to a question does not count. It may still be no, where the page knows that it was not in sight. */
export function whyNotShown(
  session: ApproverSession,
  told: Told & { readonly shown: string },
  now: number,
): Objection | undefined {
  const [at = '', seal = ''] = told.shown.split('.', 2);
  if (!isSameText(seal, sealShown(session, told, Number(at)))) {
    return OTHER_QUESTION;
  }
  if (now - Number(at) >= MIN_READ_MS) return undefined;
  return { status: 425, error: 'it came too soon after the question: read it, and answer again' };
}

function sealShown(session: ApproverSession, told: Told, at: number): string {
  const { key, revision, digest } = told;
  return sealOf(session, JSON.stringify(['shown', key, revision, digest, at]));
}
