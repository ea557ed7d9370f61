import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { toLine } from '../lines.js';
import { formatEvent } from './events.js';

/** The place of one message of the server in a response: what the client gets of it, or that it gets nothing. */
export interface Slot {
  /** By which a client resumes behind it. */
  readonly eventId?: string | undefined;
  fill: (message: Buffer | object) => void;
  drop: () => void;
}

/** A message without its newline. */
export function textOf(message: Buffer | object): string {
  return (Buffer.isBuffer(message) ? message : toLine(message)).toString().replace(/\n$/u, '');
}

const EVENTS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

/**
 * The response to one request of a client: one message, or a stream of events. These keep the order of the server, also
 * where hooks are still looking at one: who resumes behind an event has got everything before it.
 */
export class ClientStream {
  readonly #waiting: { text?: string }[] = [];
  #ending: 'whole' | 'broken' | undefined;
  /** Whether a client can come back for what it has missed. */
  isResumable = false;

  constructor(readonly response: ServerResponse) {}

  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  get isGone(): boolean {
    return this.response.destroyed;
  }

  beginEvents(status = 200, headers: OutgoingHttpHeaders = {}): void {
    if (this.hasBegun || this.isGone) return;
    this.response.writeHead(status, { ...headers, ...EVENTS });
    this.response.flushHeaders();
  }

  /** All of the response at once; the last event where it is a stream already. */
  respond(status: number, headers: OutgoingHttpHeaders, body: Buffer | string): void {
    if (this.isGone) return;
    if (!this.hasBegun) {
      this.response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
      this.response.end(body);
    } else if (!this.response.writableEnded) {
      if (body.length > 0) this.#write(formatEvent({}, textOf(Buffer.from(body))));
      this.end();
    }
  }

  respondJson(status: number, message: Buffer | object, headers: OutgoingHttpHeaders = {}): void {
    this.respond(status, { ...headers, 'content-type': 'application/json' }, textOf(message));
  }

  /** Says something of our own, which nobody can come back for. */
  say(message: object): void {
    this.beginEvents();
    this.#write(formatEvent({}, textOf(message)));
  }

  /** @param text a comment, or when to come again */
  note(text: string): void {
    this.#write(text);
  }

  /** A place behind all others. */
  slot(id?: string, event?: string): Slot {
    const place: { text?: string } = {};
    this.#waiting.push(place);
    const settle = (text: string) => {
      place.text ??= text;
      this.#flush();
    };
    return {
      eventId: id,
      fill: (message) => {
        if (id !== undefined) this.isResumable = true;
        settle(formatEvent({ id, event }, textOf(message)));
      },
      drop: () => settle(''),
    };
  }

  /** An event that holds no message, such as one that a client resumes behind. */
  pass(id: string | undefined, event: string | undefined, data: string): void {
    if (id !== undefined) this.isResumable = true;
    this.#waiting.push({ text: formatEvent({ id, event }, data) });
    this.#flush();
  }

  /** Ends it once every message has its place. */
  end(): void {
    this.#ending ??= 'whole';
    this.#flush();
  }

  /** As a connection breaks, which tells a client to resume: once what has come before has been said. */
  break(): void {
    if (!this.hasBegun) return void this.response.destroy();
    this.#ending ??= 'broken';
    this.#flush();
  }

  drained(): Promise<void> | undefined {
    const { response } = this;
    if (!response.writableNeedDrain || response.destroyed) return undefined;
    return new Promise((resolve) => {
      response.once('drain', resolve);
      response.once('close', resolve);
    });
  }

  #flush(): void {
    let written = '';
    for (let [next] = this.#waiting; next?.text !== undefined; [next] = this.#waiting) {
      written += next.text;
      this.#waiting.shift();
    }
    this.#write(written);
    if (this.#ending === undefined || this.#waiting.length > 0) return;
    // Without the last chunk, a client knows that it was not all.
    if (this.#ending === 'whole') this.response.end();
    else setImmediate(() => this.response.socket?.end());
  }

  #write(text: string): void {
    if (text !== '' && !this.isGone && !this.response.writableEnded) this.response.write(text);
  }
}
