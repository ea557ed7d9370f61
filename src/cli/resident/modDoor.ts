import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Inheritance } from './client.js';

/** Bytes of a request, as the client sends no more. */
export const MAX_REQUEST = 10 * 1024 * 1024;

/** What a client is to print, and its exit code. */
export interface ResidentReply {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The events that some hook waits for, where the settings were read. */
  readonly awaited: readonly string[] | undefined;
}

/** @returns `undefined` for what a process of its own has to answer */
type Answering = (
  client: Inheritance,
  input: Buffer,
  signal: AbortSignal,
) => Promise<ResidentReply | undefined>;

/** Ms after which a mod is told to ask again, as its request is given up after 30 s; and until it has to have done so. */
const WAIT_MS = 25_000;
const RETURN_MS = 5000;

const MAX_ADMITTED = 256;

/** An answer that is being made, and what ends that. */
interface Asked {
  readonly answer: Promise<ResidentReply | undefined>;
  readonly ended: AbortController;
  forgotten?: NodeJS.Timeout;
}

/**
 * Answers mods of Claude Code, which can ask over HTTP alone. For which process each asks, a client has shown that was
 * started there; the path that was given for that is known to nobody else.
 */
export class ModDoor {
  readonly #admitted = new Map<string, Inheritance>();
  readonly #asked = new Map<string, Asked>();
  readonly #server = createServer((request, response) => {
    void this.#answer(request, response).catch(() => response.destroy());
  });

  constructor(private readonly answering: Answering) {}

  /** @returns the path at which this process may ask */
  admit(client: Inheritance): string {
    const path = `/${randomUUID()}`;
    this.#admitted.set(path, client);
    const [oldest = ''] = this.#admitted.keys();
    if (this.#admitted.size > MAX_ADMITTED) this.#admitted.delete(oldest);
    return path;
  }

  /** @returns whether this connection speaks HTTP */
  take(client: Socket, first: Buffer): boolean {
    if (!first.subarray(0, HTTP.length).equals(HTTP)) return false;
    client.setTimeout(0);
    client.pause();
    client.unshift(first);
    this.#server.emit('connection', client);
    client.resume();
    return true;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '' } = request;
    const asked = this.#asked.get(url) ?? (await this.#ask(url, request));
    // What stays open would keep a process that is to end.
    response.setHeader('connection', 'close');
    if (!asked) return void response.writeHead(404).end();
    clearTimeout(asked.forgotten);
    response.once('close', () => {
      if (!response.writableFinished) asked.ended.abort();
    });
    const waiting = new AbortController();
    const answer = await Promise.race([
      asked.answer,
      sleep(WAIT_MS, LATE, { signal: waiting.signal }),
    ]);
    waiting.abort();
    if (answer === LATE) {
      asked.forgotten = setTimeout(() => asked.ended.abort(), RETURN_MS);
      const path = this.#asked.get(url) ? url : this.#keep(asked);
      response.writeHead(202).end(path);
    } else if (answer) response.end(JSON.stringify(answer));
    else response.writeHead(503).end();
  }

  async #ask(url: string, request: IncomingMessage): Promise<Asked | undefined> {
    const client = this.#admitted.get(url);
    if (!client) return undefined;
    // The one that asks most is let go last.
    this.#admitted.delete(url);
    this.#admitted.set(url, client);
    const ended = new AbortController();
    const isLong = Number(request.headers['content-length']) > MAX_REQUEST;
    const answer = isLong
      ? Promise.resolve(undefined)
      : this.answering(client, await buffer(request), ended.signal);
    return { answer, ended };
  }

  #keep(asked: Asked): string {
    const path = `/${randomUUID()}`;
    this.#asked.set(path, asked);
    void asked.answer.finally(() => setTimeout(() => this.#asked.delete(path), RETURN_MS));
    return path;
  }
}

const HTTP = Buffer.from('POST /');
const LATE = Symbol('late');
