import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MIN_READ_MS } from '../../../protocol/approval.js';
import { errorMessage } from '../../../util/errorMessage.js';
import { toOneLine } from '../../shared/terminal.js';
import { LastMinute, Quota } from '../../shared/http/quota.js';
import { BodyReader } from '../../shared/http/readBody.js';
import { readSaid, send, wrongMethod } from '../../shared/http/respond.js';
import { show } from './approvalView.js';
import type { Objection } from './kvBoard.js';
import { sealOf, type ApproverSession, type KvSessions } from './kvSessions.js';
import { CALLBACK, type OidcPeople } from '../../shared/people/oidc.js';
import type { People, Person } from '../../shared/people/people.js';
import type { Roles } from '../../shared/people/roles.js';
import { senderOf, type Sender } from '../../shared/people/senders.js';

/** Where the page of questions is. */
export const PAGE = '/approvals';

const MAX_SIGN_IN_BYTES = 4 * 1024;

const CSRF_HEADER = 'hookstack-csrf';

export interface SignInOptions {
  /** Whether the server speaks TLS. */
  readonly isTls: boolean;
  /** Where the page is, as browsers see it, where `Host` does not say so: `https://approvals.example`. */
  readonly origin?: string | undefined;
  /** Where a request comes from. Default: from who has connected. */
  readonly senderOf?: typeof senderOf;
  /** Gets a line for each sign-in, and each wrong token. */
  readonly log: (line: string) => void;
  /** Gets a line for all else that did not let somebody in: as many as anybody sends. */
  readonly onRefused: (line: string) => void;
}

/** Who may answer. */
export interface Approvers {
  readonly sessions: KvSessions;
  people: People;
  /** Default: everybody may answer everything. */
  roles?: Roles | undefined;
}

/** Has others count from now on. Who was one of them, and is none any more, is signed out at all servers. */
export function replaceApprovers(approvers: Approvers, now: Omit<Approvers, 'sessions'>): void {
  const { people: before, sessions } = approvers;
  const { people, roles } = now;
  Object.assign(approvers, { people, roles });
  const isOver = (who: Person) => before.refresh(who) !== undefined && !people.refresh(who);
  // This server refuses them in any case.
  sessions.endWhere(isOver).catch(() => undefined);
}

/** Lets people in, and knows which requests are theirs. */
export class SignIn {
  readonly #failed = new LastMinute();
  readonly #begun = new LastMinute();
  readonly #visits = new Quota(MAX_VISITS);
  readonly #bodies = new BodyReader(MAX_SIGN_IN_BYTES, 256);

  constructor(
    private readonly options: SignInOptions,
    private readonly approvers: Approvers,
  ) {}

  /** What a page has to know of its session. */
  pageOf(session: ApproverSession) {
    const csrf = sealOf(session, 'csrf');
    const { kind } = this.approvers.people;
    return { name: show(session.name), csrf, readMs: MIN_READ_MS, signIn: kind };
  }

  async begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = this.#whyForeign(request);
    if (refusal) return send(response, 403, { error: refusal });
    const sender = (this.options.senderOf ?? senderOf)(request);
    if (this.#hasToWait(response, sender.network)) return;
    // Not with the room of answers: whoever sends this is not known yet.
    const body = await readSaid(request, response, this.#bodies, sender.network);
    // Others of the same address may have tried meanwhile.
    if (!body || this.#hasToWait(response, sender.network)) return;
    const person = this.approvers.people.identify(request, body);
    if (!person) return this.#refuse(response, sender);
    const session = await this.#start(response, person, sender.address);
    if (!session) return;
    const own = { 'Set-Cookie': this.#sessionCookie(session.secret) };
    return send(response, 200, this.pageOf(session), own);
  }

  /** Sends a browser to the provider, or takes it back from there. */
  async visit(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    people: OidcPeople,
  ): Promise<void> {
    if (request.method !== 'GET') return wrongMethod(response, 'GET');
    const { address, network } = (this.options.senderOf ?? senderOf)(request);
    if (this.#hasToWait(response, network) || this.#hasToWait(response)) return;
    if (!this.#visits.take(network)) {
      return send(response, 503, { error: 'Too many sign in: try again' }, { 'Retry-After': '1' });
    }
    const seed = path === CALLBACK ? this.#valueOf(request, SEED) : '';
    const go = (to: string, ...cookies: string[]) =>
      response.writeHead(303, { ...GO, Location: to, 'Set-Cookie': cookies }).end();
    try {
      if (path !== CALLBACK) {
        const begun = await people.begin();
        return void go(begun.url, this.#cookie(SEED, begun.seed, SEED_S));
      }
      if (seed === undefined) throw new Error('it has not begun in this browser');
      const query = (request.url ?? '').split('?').slice(1).join('?');
      const person = await people.finish(query, seed);
      const session = await this.#start(response, person, address);
      if (session) go(PAGE, this.#sessionCookie(session.secret), this.#cookie(SEED, '', 0));
    } catch (error) {
      // The page of anybody can have a browser come without one, and the provider is not asked then.
      if (seed !== undefined) this.#failed.add(network);
      const { cause } = error as Error;
      const why = [error, cause].filter(Boolean).map(errorMessage).join(': ');
      this.options.onRefused(`somebody could not sign in to ${PAGE} from ${address}: ${why}`);
      const back = 'The provider has not said who you are; the log of the server says why';
      send(response, 401, { error: back }, { 'Set-Cookie': this.#cookie(SEED, '', 0) });
    } finally {
      this.#visits.give(network);
    }
  }

  async #start(
    response: ServerResponse,
    person: Person,
    from: string,
  ): Promise<ApproverSession | undefined> {
    const { sessions, roles } = this.approvers;
    if (this.#begun.count(person.id).times >= MAX_BEGUN_OF_ONE) {
      send(response, 429, { error: 'You have signed in too often: try again in a minute' });
      return undefined;
    }
    this.#begun.add(person.id);
    const { name, groups } = person;
    const of = groups.length > 0 ? `the groups ${groups.join(', ')}` : 'no group';
    const hasRole = roles?.knows(person) ?? true;
    const role = hasRole ? '' : `, and has no role (--roles), in ${of}`;
    this.options.log(toOneLine(`${name} has signed in to ${PAGE} from ${from}${role}`));
    if (!hasRole) {
      send(response, 403, { error: `${show(name)} has no role here: ask whoever runs the server` });
      return undefined;
    }
    // The other groups would take room in what holds the sessions of all.
    return sessions.start({ ...person, groups: roles?.groupsOf(person) ?? groups });
  }

  #refuse(response: ServerResponse, { address, network }: Sender): void {
    const { kind } = this.approvers.people;
    // Only who is wrong waits for what others do.
    if (kind === 'token' && this.#hasToWait(response)) return;
    if (kind === 'token') this.#failed.add(network);
    const tell = kind === 'token' ? this.options.log : this.options.onRefused;
    tell(`a wrong ${kind} was sent to ${PAGE} from ${address}`);
    send(response, 401, { error: REFUSALS[kind] });
  }

  /** @param network default: all */
  #hasToWait(response: ServerResponse, network?: string): boolean {
    const { times, lessInS } = this.#failed.count(network);
    const most = network === undefined ? MAX_FAILURES : MAX_FAILURES_OF_ONE;
    if (network === '' || times < most) return false;
    const error = `Too many sign-ins have failed: try again in ${lessInS} s`;
    send(response, 429, { error }, { 'Retry-After': String(lessInS) });
    return true;
  }

  /** Whose request it is; nobody's without a role. Rejects where NATS cannot be reached. */
  async find(request: IncomingMessage): Promise<ApproverSession | undefined> {
    const { sessions, people, roles } = this.approvers;
    const session = await sessions.find(this.#valueOf(request, sessions.cookieName));
    const now = session && people.refresh(session, request);
    return now && (roles?.knows(now) ?? true) ? { ...now, secret: session.secret } : undefined;
  }

  async end(response: ServerResponse, session: ApproverSession): Promise<void> {
    await this.approvers.sessions.end(session);
    send(response, 200, {}, { 'Set-Cookie': this.#sessionCookie('', 0) });
  }

  /** A page of somebody else sends neither the origin of this one, nor what only this one was told. */
  whyForged(request: IncomingMessage, session: ApproverSession): string | undefined {
    const sent = request.headers[CSRF_HEADER];
    const isOwn = typeof sent === 'string' && isSameText(sent, sealOf(session, 'csrf'));
    const lacking = isOwn ? undefined : 'The request lacks what only this page knows';
    return this.#whyForeign(request) ?? lacking;
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

  #sessionCookie(secret: string, maxAgeS = this.approvers.sessions.lifetimeS): string {
    return this.#cookie(this.approvers.sessions.cookieName, secret, maxAgeS);
  }

  /** Where there is TLS, a host beside this one can set no cookie of this name. */
  #cookie(name: string, value: string, maxAgeS: number): string {
    const [prefix, secure] = this.#isSecure ? [HOST, '; Secure'] : ['', ''];
    // The seed has to come along when the provider sends the browser back.
    const site = name === SEED ? 'Lax' : 'Strict';
    return `${prefix}${name}=${value}; Path=/; HttpOnly; SameSite=${site}; Max-Age=${maxAgeS}${secure}`;
  }

  #valueOf({ headers }: IncomingMessage, name: string): string | undefined {
    const begin = `${this.#isSecure ? HOST : ''}${name}=`;
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    return pairs.find((pair) => pair.startsWith(begin))?.slice(begin.length);
  }
}

const HOST = '__Host-';
const SEED = 'hookstack_oidc';
/** Time to sign in at the provider. */
const SEED_S = 600;
const GO = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

const REFUSALS = {
  token: 'This token is not known',
  proxy: 'The proxy has not said who you are',
  oidc: 'Sign in at the provider',
};

/** Whether two texts are the same, in a time that says nothing of where they differ. */
function isSameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Of those who wait for the provider. */
const MAX_VISITS = 64;
/** Wrong tokens, and what else has failed, in a minute. */
const MAX_FAILURES_OF_ONE = 5;
/** So many that somebody with ten machines keeps nobody from an OpenID provider. More wrong tokens are not logged. */
const MAX_FAILURES = 1000;
/** So few that in 12 hours nobody fills what holds the sessions of all. */
const MAX_BEGUN_OF_ONE = 10;

/** A question as a page was told it: its entry, everything that stood there, and when, for the page to say again. */
export interface ShownAs {
  readonly revision: number;
  readonly digest: string;
  /** Ms since 1970 by the clock of NATS, and a seal: any server sees that it was told to this session. */
  readonly shown: string;
}

/** Where an answer was given to something else than what is asked now. */
export const OTHER_QUESTION: Objection = {
  status: 409,
  error: 'it is not the question that your page has shown',
};

type Told = Omit<ShownAs, 'shown'> & { readonly key: string };

/** Says that a page has been told a question. */
export function shownAt(
  session: ApproverSession,
  { key, revision, digest }: Told,
  now: number,
): string {
  const at = Math.round(now);
  return `${at}.${sealOf(session, JSON.stringify(['shown', key, revision, digest, at]))}`;
}

/** Why an answer to a question does not count. It may still be no, where the page knows that it was not in sight. */
export function whyNotShown(
  session: ApproverSession,
  told: Told & ShownAs,
  now: number,
): Objection | undefined {
  const at = Number(told.shown.split('.', 1)[0]);
  if (!isSameText(told.shown, shownAt(session, told, at))) return OTHER_QUESTION;
  if (now - at >= MIN_READ_MS) return undefined;
  return { status: 425, error: 'it came too soon after the question: read it, and answer again' };
}
