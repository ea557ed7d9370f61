import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../../util/errorMessage.js';
import { toLine } from '../lines.js';
import type { McpProxy } from '../proxy.js';
import { errorAnswer, isId, recordIn, RpcError, type Id, type Message } from '../rpc.js';
import { textOf } from './clientStream.js';
import { readEvents } from './events.js';
import { decoded, isGood, mediaTypeOf, readWhole, type Upstream } from './upstream.js';

export interface RemoteOptions {
  readonly name: string;
  readonly upstream: Upstream;
  /** What each request has beside what the protocol says. */
  readonly headers: Readonly<Record<string, string>>;
  readonly proxy: McpProxy;
  readonly warn: (what: string) => void;
  /** What to wait for before more is read. */
  readonly drained: () => Promise<void> | undefined;
  /** Hears why nothing can be asked any more. */
  readonly lost: (why: string) => void;
}

/** As the official client does it, in ms; whatever a server says, neither sooner nor later. */
const RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
const MAX_RETRIES = 5;
/** For the server to end a session, in ms. */
const END_MS = 1000;
const META = 'io.modelcontextprotocol/protocolVersion';

/** Where reading of a stream goes on. */
interface Place {
  /** The request whose answer is to come in it. */
  readonly id: Id | undefined;
  lastEventId?: string | undefined;
  retryMs?: number;
}

/** A server over HTTP, for a client that speaks through streams: each message of it is a request. */
export class RemoteServer {
  readonly #over = new AbortController();
  /** Requests that are not answered yet. */
  readonly #open = new Set<Id>();
  #session: string | undefined;
  #version: string | undefined;
  /** What has to be with the server before anything else is sent. */
  #before: Promise<void> = Promise.resolve();

  constructor(private readonly options: RemoteOptions) {}

  send(message: Buffer | object): void {
    const said = toMessage(message);
    const { id, method } = said;
    if (typeof method === 'string' && isId(id)) this.#open.add(id);
    if (method === 'notifications/cancelled') {
      const { requestId } = recordIn(said, 'params');
      if (isId(requestId)) this.#open.delete(requestId);
    }
    let arrived = nothing;
    const before = this.#before;
    // A notification may be what the next request depends on, and `initialize` is.
    if (id === undefined || method === 'initialize') {
      this.#before = new Promise((resolve) => (arrived = resolve));
    }
    void before
      .then(() => this.#post(said, Buffer.from(textOf(message)), arrived))
      .finally(arrived);
  }

  drained(): undefined {
    return undefined;
  }

  /** Says goodbye, where there is a session to end. */
  async end(): Promise<void> {
    this.#over.abort();
    const { upstream } = this.options;
    if (this.#session !== undefined) {
      const signal = AbortSignal.timeout(END_MS);
      const headers = this.#headers();
      await upstream.request({ method: 'DELETE', headers, signal }).then(
        (response) => response.resume(),
        () => undefined,
      );
    }
    upstream.close();
  }

  #headers(message?: Message): Record<string, string> {
    const version = recordIn(message, 'params', '_meta')[META];
    const isModern = typeof version === 'string';
    const name = recordIn(message, 'params')['name'] ?? recordIn(message, 'params')['uri'];
    return {
      ...this.options.headers,
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
      ...(isModern && {
        'mcp-protocol-version': version,
        'mcp-method': String(message?.['method']),
      }),
      ...(isModern && typeof name === 'string' && { 'mcp-name': headerValueOf(name) }),
      'accept-encoding': 'gzip, deflate, br',
    };
  }

  async #post(message: Message, body: Buffer, arrived: () => void): Promise<void> {
    const { upstream, name } = this.options;
    const id =
      typeof message['method'] === 'string' && isId(message['id']) ? message['id'] : undefined;
    const headers = {
      ...this.#headers(message),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    try {
      const signal = this.#over.signal;
      const response = await upstream.request({ method: 'POST', headers, body, signal });
      const isFirst = message['method'] === 'initialize';
      if (isFirst) this.#begin(response);
      else arrived();
      const place: Place = { id };
      if ((await this.#read(response, place, isFirst)) && id !== undefined) {
        await this.#listen(place, 1);
      }
      if (message['method'] === 'notifications/initialized' && isGood(response)) {
        void this.#listen({ id: undefined });
      }
    } catch (error) {
      if (this.#over.signal.aborted) return;
      this.#fail(id, `the MCP server "${name}" cannot be reached: ${errorMessage(error)}`);
    }
  }

  #begin({ headers }: IncomingMessage): void {
    const session = headers['mcp-session-id'];
    if (typeof session === 'string') this.#session = session;
  }

  /** @returns whether it goes on in another response */
  async #read(response: IncomingMessage, place: Place, isFirst = false): Promise<boolean> {
    const body = decoded(response);
    if (!body) throw new Error('its response is compressed in a way that nobody here can read');
    const type = mediaTypeOf(response);
    if (isGood(response) && type === 'text/event-stream') {
      return this.#readStream(response, body, place, isFirst);
    }
    const whole = await readWhole(body);
    if (!isGood(response)) {
      this.#refused(response, whole, place.id);
      return false;
    }
    if (whole === undefined) throw new Error('its response was broken off, or is too large');
    if (type === 'application/json' && whole.length > 0) this.#take(whole, isFirst);
    if (place.id !== undefined && this.#open.has(place.id)) {
      throw new Error('it has answered with what is no answer');
    }
    return false;
  }

  async #readStream(
    response: IncomingMessage,
    body: Parameters<typeof readEvents>[1],
    place: Place,
    isFirst: boolean,
  ): Promise<boolean> {
    await readEvents(response, body, {
      event: ({ id, event, data }) => {
        if (id !== undefined) place.lastEventId = id;
        if (data !== '' && (event ?? 'message') === 'message')
          this.#take(Buffer.from(data), isFirst);
      },
      retry: (ms) => {
        place.retryMs = ms;
      },
      wait: this.options.drained,
    });
    if (this.#over.signal.aborted) return false;
    const isAnswered = place.id !== undefined && !this.#open.has(place.id);
    if (isAnswered) return false;
    if (place.id === undefined || place.lastEventId !== undefined) return true;
    throw new Error('its response has ended without an answer');
  }

  /**
   * Reads what the server says by itself, or goes on with a stream that was broken off, until there is no more.
   *
   * @param tried how often that was tried in a row
   */
  async #listen(place: Place, tried = 0): Promise<void> {
    for (let retry = tried; ;) {
      try {
        if (!(await this.#listenOnce(place, retry))) return;
        retry = 1;
      } catch (error) {
        if (this.#over.signal.aborted) return;
        if (retry >= MAX_RETRIES) {
          const why = `the stream of the MCP server "${this.options.name}" was lost`;
          return this.#fail(place.id, `${why}: ${errorMessage(error)}`);
        }
        retry += 1;
      }
    }
  }

  async #listenOnce(place: Place, retry: number): Promise<boolean> {
    const { signal } = this.#over;
    if (retry > 0) {
      const ms = place.retryMs ?? RETRY_MS * 1.5 ** (retry - 1);
      await sleep(Math.min(Math.max(ms, RETRY_MS), MAX_RETRY_MS), undefined, { signal });
    }
    const resumed = place.lastEventId !== undefined && { 'last-event-id': place.lastEventId };
    const headers = { ...this.#headers(), accept: 'text/event-stream', ...resumed };
    const response = await this.options.upstream.request({ method: 'GET', headers, signal });
    if (isGood(response)) return this.#read(response, place);
    response.resume();
    // A server need not say anything by itself.
    if (place.id === undefined) return false;
    throw new Error(`HTTP ${response.statusCode}`);
  }

  #take(said: Buffer, isFirst: boolean): void {
    const message = toMessage(said);
    const { id, method } = message;
    if (method === undefined && isId(id)) this.#open.delete(id);
    const version = recordIn(message, 'result')['protocolVersion'];
    if (isFirst && typeof version === 'string') this.#version = version;
    this.options.proxy.takeFromServer(Buffer.concat([oneLine(said), NEWLINE]));
  }

  #refused(response: IncomingMessage, body: Buffer | undefined, id: Id | undefined): void {
    const { name, warn, lost } = this.options;
    const { statusCode: status = 0 } = response;
    const said = body?.toString().trim() ?? '';
    if (status === 404 && this.#session !== undefined) {
      this.#session = undefined;
      lost('has lost the session (HTTP 404): restart it in the client');
    }
    const advice = status === 401 || status === 403 ? `; ${ADVICE}` : said && `: ${said}`;
    if (status === 401 || status === 403) warn(`wants a login (HTTP ${status}): ${ADVICE}`);
    this.#fail(id, `the MCP server "${name}" has refused the request with HTTP ${status}${advice}`);
  }

  #fail(id: Id | undefined, why: string): void {
    if (id === undefined || !this.#open.delete(id)) return;
    this.options.proxy.takeFromServer(toLine(errorAnswer(id, RpcError.ConnectionClosed, why)));
  }
}

const ADVICE =
  'put a token into the variable HOOKSTACK_MCP_HEADER_1 ("Authorization: Bearer …") where the client starts hookstack, or let the client log in itself: hookstack mcp --listen 127.0.0.1:8788 --url URL, and that address in its settings';
const NEWLINE = Buffer.from('\n');

/** JSON has line ends between its words only, where a blank says the same. */
function oneLine(json: Buffer): Buffer {
  return json.includes('\n')
    ? Buffer.from(json.toString('latin1').replaceAll('\n', ' '), 'latin1')
    : json;
}

const nothing = (): void => undefined;

/** As SEP-2243 writes what no header can hold. */
function headerValueOf(name: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/u.test(name) && !name.startsWith('=?');
  return isPlain ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;
}

function toMessage(said: Buffer | object): Message {
  try {
    return recordIn(Buffer.isBuffer(said) ? JSON.parse(said.toString()) : said);
  } catch {
    return {};
  }
}
