import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { beginStream, send } from '../respond.js';
import { show, viewOf } from './approvalView.js';
import type { KvBoard } from './kvBoard.js';
import type { OpenQuestion } from './openQuestions.js';
import type { ApproverSession, ShownQuestions } from './signIn.js';
import type { StoredOver } from './storedQuestion.js';

const MAX_PAGES = 100;
const HEARTBEAT_MS = 15_000;
/** A page that reads nothing is let go. In bytes. */
const MAX_BEHIND = 16 * 1024 * 1024;

/** Tells pages of questions, live: server-sent events. */
export class ApprovalEvents {
  readonly #pages = new Set<Page>();

  constructor(private readonly board: KvBoard) {}

  /** Until the session ends. */
  open(response: ServerResponse, { over: { signal }, shown }: ApproverSession): void {
    if (this.#pages.size >= MAX_PAGES) {
      return send(
        response,
        503,
        { error: 'Too many pages look on: close one' },
        { 'Retry-After': '10' },
      );
    }
    beginStream(response);
    const page = new Page(response, shown);
    this.#pages.add(page);
    const stop = this.board.listen((key, question, over) => {
      if (question) page.show(question);
      else page.end(key, over);
    });
    const heartbeat = setInterval(() => page.tell('alive', {}), HEARTBEAT_MS);
    const end = () => response.end();
    signal.addEventListener('abort', end);
    response.once('close', () => {
      stop();
      clearInterval(heartbeat);
      signal.removeEventListener('abort', end);
      this.#pages.delete(page);
    });
    // Those of a connection before are not there any more.
    page.tell('begin', {});
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
    private readonly shown: ShownQuestions,
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
    const { state, approval } = over ?? {};
    const by = show(approval?.by ?? '');
    this.tell('over', { key, state, by, decision: approval?.decision });
  }

  #tellQuestion(question: OpenQuestion): void {
    const view = viewOf(question);
    this.shown.add(view.key, view);
    this.tell('question', view);
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
