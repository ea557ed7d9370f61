import type { IncomingMessage, ServerResponse } from 'node:http';
import { MIN_READ_MS } from '../../../protocol/approval.js';
import { toOneLine } from '../../shared/terminal.js';
import { BodyReader } from '../readBody.js';
import { readSaid, send } from '../respond.js';
import { show } from './approvalView.js';
import {
  ApproverSessions,
  FailedSignIns,
  isSameText,
  type ApproverSession,
} from './approverSessions.js';

/** Where the page of questions is. */
export const PAGE = '/approvals';

const MAX_SIGN_IN_BYTES = 4 * 1024;

const CSRF_HEADER = 'hookstack-csrf';

/** People who may answer. */
export interface Approvers {
  /** Whose token it is, in a time that says nothing of others. */
  nameOf(token: string): string | undefined;
}

export interface SignInOptions {
  /** Whether the server speaks TLS. */
  readonly isTls: boolean;
  /** Where the page is, as browsers see it, where `Host` does not say so: `https://approvals.example`. */
  readonly origin?: string | undefined;
  /** Gets a line for each sign-in, and each wrong token. */
  readonly log: (line: string) => void;
}

/** What a page has to know of its session. */
export function pageSession({ name, csrf }: ApproverSession) {
  return { name: show(name), csrf, readMs: MIN_READ_MS };
}

/** Lets people in who have a token, and knows which requests are theirs. */
export class SignIn {
  readonly #sessions = new ApproverSessions();
  readonly #failed = new FailedSignIns();
  readonly #bodies = new BodyReader(MAX_SIGN_IN_BYTES, 256);

  constructor(private readonly options: SignInOptions) {}

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
    const session = this.#sessions.begin(name);
    this.options.log(`${toOneLine(name)} has signed in to ${PAGE} from ${toOneLine(from)}`);
    const cookie = this.#cookie(request, session.id, this.#sessions.lifetimeS);
    return send(response, 200, pageSession(session), { 'Set-Cookie': cookie });
  }

  #hasToWait(response: ServerResponse, from: string): boolean {
    const waitS = this.#failed.waitS(from);
    if (waitS === undefined) return false;
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
