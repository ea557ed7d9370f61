import type { ServerResponse } from 'node:http';
import { beginStream, send } from './approvalReplies.js';
import { viewOf } from './approvalView.js';
import type { ApprovalBoard } from './approvalBoard.js';

const MAX_LISTENERS = 100;
const HEARTBEAT_MS = 15_000;
/** A page that reads nothing is let go. In bytes. */
const MAX_BEHIND = 16 * 1024 * 1024;

/** Tells pages of questions, live: server-sent events. */
export class ApprovalEvents {
  readonly #listeners = new Set<ServerResponse>();

  constructor(private readonly board: ApprovalBoard) {}

  /** @param signal aborts at the end of the session */
  open(response: ServerResponse, signal: AbortSignal): void {
    if (this.#listeners.size >= MAX_LISTENERS) {
      return send(
        response,
        503,
        { error: 'Too many pages look on: close one' },
        { 'Retry-After': '10' },
      );
    }
    this.#listeners.add(response);
    beginStream(response);
    const tell = (event: string, data: object) => {
      if (response.writableLength > MAX_BEHIND) response.destroy();
      else response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    };
    const stop = this.board.listen((key, question, over) => {
      if (question) tell('question', viewOf(question));
      else
        tell('over', {
          key,
          state: over?.state,
          by: over?.approval?.by,
          decision: over?.approval?.decision,
        });
    });
    const heartbeat = setInterval(() => tell('alive', {}), HEARTBEAT_MS);
    const end = () => response.end();
    signal.addEventListener('abort', end);
    response.once('close', () => {
      stop();
      clearInterval(heartbeat);
      signal.removeEventListener('abort', end);
      this.#listeners.delete(response);
    });
    // Those of a connection before are not there any more.
    tell('begin', {});
    for (const question of this.board.list()) tell('question', viewOf(question));
    tell('ready', {});
  }
}
