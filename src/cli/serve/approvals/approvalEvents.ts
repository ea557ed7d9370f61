import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Quota } from '../../shared/http/quota.js';
import { beginStream, send } from '../../shared/http/respond.js';
import { show, viewOf } from './approvalView.js';
import type { KvBoard } from './kvBoard.js';
import type { OpenQuestion } from './openQuestions.js';
import type { ApproverSession } from './kvSessions.js';
import { shownAt, type Approvers, type SignIn } from './signIn.js';
import { isFinal, subjectOf, type StoredOver } from './storedQuestion.js';

const MAX_PAGES = 100;
const MAX_PAGES_OF_ONE = 20;
const HEARTBEAT_MS = 5000;
/** A page comes back by itself, and then the proxy says anew who looks on. */
const LONGEST_BY_PROXY_MS = 600_000;
/** A page that reads nothing is let go. In bytes. */
const MAX_BEHIND = 16 * 1024 * 1024;

/** Tells pages of questions, live: server-sent events. */
export class ApprovalEvents {
  readonly #pages = new Quota(MAX_PAGES, MAX_PAGES_OF_ONE);

  constructor(
    private readonly board: KvBoard,
    private readonly signIn: SignIn,
    private readonly approvers: Approvers,
  ) {}

  /** Until the session ends. */
  async open(
    request: IncomingMessage,
    response: ServerResponse,
    session: ApproverSession,
  ): Promise<void> {
    // It may have gone before anybody could listen to that.
    if (response.destroyed) return;
    if (!this.#pages.take(session.id)) {
      const error = 'Too many pages look on: close one';
      return send(response, 503, { error }, { 'Retry-After': '10' });
    }
    const end = () => response.end();
    response.once('close', () => this.#pages.give(session.id));
    const unwatch = await this.approvers.sessions.watch(session, end);
    beginStream(response);
    const page = new Page(response, this.board, session, this.approvers);
    const stop = this.board.listen((key, question, over) => {
      if (question) page.show(question);
      else page.end(key, over);
    });
    const { people, roles } = this.approvers;
    const until = performance.now() + (people.kind === 'proxy' ? LONGEST_BY_PROXY_MS : Infinity);
    // What ends a session without a word, such as its time, is seen here.
    const check = async () => {
      const isOld = performance.now() > until || this.approvers.roles !== roles;
      if (isOld || !(await this.signIn.find(request))) end();
      else page.tell('alive', {});
    };
    const heartbeat = setInterval(() => void check().catch(end), HEARTBEAT_MS);
    const close = () => {
      stop();
      unwatch();
      clearInterval(heartbeat);
    };
    response.once('close', close);
    if (response.destroyed) return close();
    // Those of a connection before are not there any more.
    page.tell('begin', {});
    for (const [key, over] of this.board.recent()) page.end(key, over);
    for (const question of this.board.list()) page.show(question);
    page.show('ready');
  }
}

/** What one page is told. Questions go to it as fast as it reads, unless they are over by then. */
class Page {
  readonly #untold = new Map<string, OpenQuestion | 'ready'>();
  readonly #gone = new AbortController();
  #isTelling = false;

  constructor(
    private readonly response: ServerResponse,
    private readonly board: KvBoard,
    private readonly session: ApproverSession,
    private readonly approvers: Approvers,
  ) {
    response.once('close', () => this.#gone.abort());
  }

  tell(event: string, data: object): void {
    if (this.response.writableLength > MAX_BEHIND) this.response.destroy();
    else this.response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** @param what a question; or that all have been told that were there at the beginning */
  show(what: OpenQuestion | 'ready'): void {
    this.#untold.set(what === 'ready' ? '' : what.key, what);
    // It is ended by the end of the page.
    if (!this.#isTelling) void this.#tellAll().catch(() => undefined);
  }

  end(key: string, over: StoredOver | undefined): void {
    this.#untold.delete(key);
    if (over && !this.#may(over.from, over.subject ?? '')) return;
    const { state, approval } = over ?? {};
    const by = show(approval?.by ?? '');
    const how = over && isFinal(over) && state === 'answered' ? 'taken' : state;
    this.tell('over', { key, state: how, by, decision: approval?.decision });
  }

  #may(from: string, about: string): string | undefined {
    const { roles } = this.approvers;
    return roles ? roles.of(this.session, from, about) : 'answer';
  }

  #tellQuestion(question: OpenQuestion): void {
    const { from, request } = question;
    const may = this.#may(from, subjectOf(request));
    if (!may) return;
    const view = viewOf(question);
    const shown = shownAt(this.session, view, this.board.now());
    this.tell('question', { ...view, shown, may });
  }

  async #tellAll(): Promise<void> {
    const { signal } = this.#gone;
    this.#isTelling = true;
    for (const [key, what] of this.#untold) {
      this.#untold.delete(key);
      if (what === 'ready') this.tell(what, {});
      else this.#tellQuestion(what);
      if (this.response.writableNeedDrain) await once(this.response, 'drain', { signal });
    }
    this.#isTelling = false;
  }
}
