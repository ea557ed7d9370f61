import type { IncomingMessage, ServerResponse } from 'node:http';
import { LOCAL } from '../../../fleet/address.js';
import { APPROVALS_PATH, MAX_QUESTION_BYTES } from '../../../fleet/approvalEnvelope.js';
import { isOfNats } from '../../../fleet/natsConnection.js';
import { expecting, objectOf, oneOf, positiveCount, text } from '../../../util/checks.js';
import { errorMessage } from '../../../util/errorMessage.js';
import { hashOf, styleOf } from '../../shared/page/pageParts.js';
import type { Stay } from '../access.js';
import { ApprovalEvents } from './approvalEvents.js';
import { viewOf } from './approvalView.js';
import type { OpenQuestion } from './openQuestions.js';
import { answerQuestion } from './approvalQuestions.js';
import type { KvBoard, Objection } from './kvBoard.js';
import { admitLocal } from '../../shared/http/admitLocal.js';
import { BodyReader } from '../../shared/http/readBody.js';
import {
  headerOf,
  readJson,
  readSaid,
  send,
  write,
  wrongMethod,
} from '../../shared/http/respond.js';
import behaviour from './page/page.js?raw';
import ownStyle from './page/page.css?raw';
import template from './page/page.html?raw';
import type { ApproverSession } from './kvSessions.js';
import { WAYS } from '../../shared/people/readPeople.js';
import { OidcPeople } from '../../shared/people/oidc.js';
import type { Person } from '../../shared/people/people.js';
import { subjectOf } from './storedQuestion.js';
import {
  PAGE,
  SignIn,
  OTHER_QUESTION,
  whyNotShown,
  type Approvers,
  type ShownAs,
  type SignInOptions,
} from './signIn.js';

export interface ApprovalRoutesOptions extends SignInOptions {
  /** Where questions wait; without one nobody can be asked. */
  readonly board: KvBoard | undefined;
  /** Who may sign in, and who has; without it nobody can. */
  readonly approvers: Approvers | undefined;
  readonly onFault: (text: string) => void;
}

const MAX_ANSWER_BYTES = 16 * 1024;
/** Of a reason, in characters. */
const MAX_REASON = 2000;

/** What a person answers. */
interface Said extends ShownAs {
  readonly decision: 'allow' | 'deny';
  readonly reason?: string;
  readonly remember?: 'session';
}

const said = objectOf<Said>(
  `{ "revision": number, "digest": text, "shown": text, "decision": "allow" | "deny", "reason": text of up to ${MAX_REASON} characters, "remember": "session" }`,
  {
    revision: positiveCount,
    digest: text,
    shown: text,
    decision: oneOf('allow', 'deny'),
    reason: expecting<string>('text', (value) => text.is(value) && value.length <= MAX_REASON),
    remember: oneOf('session'),
  },
  { isClosed: true },
);

/**
 * The page on which people answer questions, and the path on which agents put them.
 *
 * @returns handles a request to one of these paths; `false` for all others. Who puts a question may do so: `team/agent`
 */
export function approvalRoutes(
  options: ApprovalRoutesOptions,
): (...given: [IncomingMessage, ServerResponse, Stay, from?: string]) => Promise<boolean> {
  const { board, approvers } = options;
  const page = board && approvers && new PageRoutes(board, approvers, options);
  const questions = new BodyReader(MAX_QUESTION_BYTES, 16);
  const takeQuestion = async (
    to: KvBoard,
    request: IncomingMessage,
    response: ServerResponse,
    from = LOCAL,
  ): Promise<void> => {
    if (request.method !== 'POST') return wrongMethod(response, 'POST');
    const body = await readJson(request, response, questions, from);
    if (body === undefined) return;
    const header = (name: string) => headerOf(request, name);
    const reply = await answerQuestion(to, { from, body, header });
    write(response, reply.status, reply.body);
  };
  return async (request, response, stay, from) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const isPage = path === PAGE || path.startsWith(`${PAGE}/`);
    if (!isPage && path !== APPROVALS_PATH) return false;
    // Nobody waits for one that may never be there.
    if (!board || (board.hasNoPlace && !approvers)) {
      send(response, 404, { error: NO_BOARD });
    } else if (path === APPROVALS_PATH) await takeQuestion(board, request, response, from);
    else if (page) await page.take(request, response, stay);
    else {
      send(response, 404, {
        error: `Nobody can answer here: start the server with ${WAYS}`,
      });
    }
    return true;
  };
}

const NO_BOARD =
  'This server has no board of questions: start it with --nats URL --token-file FILE, and NATS with JetStream';

/** What people see and do. */
class PageRoutes {
  readonly #signIn: SignIn;
  readonly #events: ApprovalEvents;
  readonly #answers = new BodyReader(MAX_ANSWER_BYTES, 64);

  constructor(
    private readonly board: KvBoard,
    private readonly approvers: Approvers,
    private readonly options: ApprovalRoutesOptions,
  ) {
    this.#signIn = new SignIn(options, approvers);
    this.#events = new ApprovalEvents(board, this.#signIn, approvers);
  }

  async take(request: IncomingMessage, response: ServerResponse, stay: Stay): Promise<void> {
    try {
      await this.#route(request, response, stay);
    } catch (error) {
      const isBug = !isOfNats(error);
      const why = isBug && error instanceof Error ? error.stack : errorMessage(error);
      this.options.onFault(`what somebody did at ${PAGE} failed: ${why}`);
      if (response.headersSent) return void response.destroy();
      const away = `NATS cannot be asked (${errorMessage(error)}): try again`;
      send(response, isBug ? 500 : 503, {
        error: isBug ? 'A fault of the server: see its log' : away,
      });
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, stay: Stay): Promise<void> {
    const { method, url = '' } = request;
    const path = url.split('?', 1)[0]?.slice(PAGE.length) ?? '';
    const { people } = this.approvers;
    const { isTls, origin } = this.options;
    // Without these it listens to this machine alone, which a page may have had its own name point to.
    const refusal = isTls || origin !== undefined ? undefined : admitLocal(request, true);
    if (refusal) return send(response, refusal.status, { error: refusal.error });
    if (path === '' || path === '/') {
      if (method !== 'GET' && method !== 'HEAD') return wrongMethod(response, 'GET');
      return write(response, 200, DOCUMENT.html, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': DOCUMENT.policy,
      });
    }
    if (path === '/sign-in') return this.#signIn.begin(request, response);
    if (people instanceof OidcPeople && path.startsWith('/oidc')) {
      return this.#signIn.visit(request, response, path, people);
    }
    const session = await this.#signIn.find(request);
    if (!session) return send(response, 401, { error: 'Sign in first', signIn: people.kind });
    stay(session.id);
    if (path === '/session' || path === '/events') {
      if (method !== 'GET') return wrongMethod(response, 'GET');
      if (path === '/events') return this.#events.open(request, response, session);
      return send(response, 200, this.#signIn.pageOf(session));
    }
    const forged = this.#signIn.whyForged(request, session);
    if (forged) return send(response, 403, { error: forged });
    if (path === '/sign-out') return this.#signIn.end(response, session);
    return this.#answer(request, response, path.slice(1), session);
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    key: string,
    session: ApproverSession,
  ): Promise<void> {
    const body = await readSaid(request, response, this.#answers, session.id);
    if (!body) return;
    const [failure, answer] = said.validate(body);
    const { revision, digest, shown, decision, reason, remember } = failure ? {} : answer;
    if (!revision || digest === undefined || shown === undefined || !decision) {
      const what = failure?.message ?? 'it lacks a key; load the page anew';
      return send(response, 422, { error: `The answer cannot be read: ${what}` });
    }
    const not = whyNotShown(session, { key, revision, digest, shown }, this.board.now());
    if (not) return send(response, not.status, { error: not.error });
    const given = {
      decision,
      ...(reason && { reason }),
      ...(remember && decision === 'allow' && { remember }),
      by: session.name,
    };
    const { secret: _ofCookie, ...person } = session;
    const counted = await this.board.answer(key, revision, given, {
      person,
      objectTo: (question, who = person) => this.#whyNot(who, question, { digest, decision }),
    });
    if ('error' in counted) return send(response, counted.status, { error: counted.error });
    return send(response, 200, { decision, state: counted.state });
  }

  /** Whether it is what was shown, and whether it is for this person to say. */
  #whyNot(
    person: Person,
    question: OpenQuestion,
    { digest, decision }: Pick<Said, 'digest' | 'decision'>,
  ): Objection | undefined {
    const { from, request } = question;
    const { people, roles } = this.approvers;
    if (viewOf(question).digest !== digest) return OTHER_QUESTION;
    const may = roles ? roles.of(person, from, subjectOf(request)) : 'answer';
    if (may !== 'answer' || !people.refresh(person)) {
      return { status: 403, error: 'this is for somebody else to answer' };
    }
    const isOwn = decision === 'allow' && roles?.isRunBy(person, from);
    return isOwn ? { status: 403, error: 'you run this agent: somebody else has to' } : undefined;
  }
}

const style = styleOf(ownStyle);

/** Loads nothing from elsewhere, and runs no script but its own. What it shows comes later, as data. */
const DOCUMENT = {
  html: template
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script type="module">${behaviour}</script>`),
  policy: [
    "default-src 'none'",
    `script-src '${hashOf(behaviour)}'`,
    `style-src '${hashOf(style)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
};
