import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '../../../util/errorMessage.js';
import { isRecord } from '../../../util/records.js';
import type { BodyReader } from '../../shared/http/readBody.js';
import { headerOf, isJson, JSON_ONLY, PARTING, send } from '../../shared/http/respond.js';
import type { Route } from '../call.js';
import type { McpProxy } from '../proxy.js';
import { isId, parseLine, recordIn, type Id, type Message } from '../rpc.js';
import { ClientStream, textOf, type Slot } from './clientStream.js';
import { readEvents } from './events.js';
import type { OAuthPages } from './oauthPages.js';
import { failureOf, failureSlot, Pending, withheldAnswer, type Waiting } from './pending.js';
import { SESSION, type DoorSession, type KeptAnswers, type Sessions } from './sessions.js';
import {
  decoded,
  isGood,
  mediaTypeOf,
  passedHeaders,
  readWhole,
  type Upstream,
} from './upstream.js';

/** What all exchanges of a door share. */
export interface DoorContext {
  /** What hooks call the server. */
  readonly name: string;
  readonly proxy: McpProxy;
  readonly upstream: Upstream;
  readonly pages: OAuthPages;
  /** The door is closed. */
  readonly over: AbortSignal;
  readonly bodies: BodyReader;
  readonly sessions: Sessions;
  readonly waiting: Waiting;
  readonly kept: KeptAnswers;
}

const NEWLINE = Buffer.from('\n');
/** Of sessions that are the door's own, as the server has none. */
const OWN_SESSION = 'hookstack-';
/** What the door can read is for the door to say. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['accept-encoding']);
const ENCODINGS = 'gzip, deflate, br';

/** One request of a client over HTTP, what the server answers to it, and what hooks make of it. */
export class Exchange {
  readonly #stream: ClientStream;
  readonly #gone = new AbortController();
  #session: DoorSession;
  #pending: Pending | undefined;
  /** What is on its way to the server. */
  #forwarded: Promise<void> | undefined;
  #isFirst = false;

  constructor(
    private readonly context: DoorContext,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    this.#stream = new ClientStream(response);
    this.#session = context.sessions.of(request);
    const end = () => this.#gone.abort();
    context.over.addEventListener('abort', end, { once: true });
    response.once('close', () => {
      context.over.removeEventListener('abort', end);
      end();
    });
  }

  async run(): Promise<void> {
    const { request, response } = this;
    if (request.method !== 'POST') return this.#forward(undefined);
    const { 'content-type': type = '' } = request.headers;
    const [, charset = 'utf-8'] = /charset\s*=\s*"?([^\s;"]+)/iu.exec(type) ?? [];
    if (!isJson(request) || !/^utf-?8$/iu.test(charset)) {
      return send(response, 415, { error: `${JSON_ONLY}, in UTF-8` });
    }
    const body = await this.context.bodies.read(request, undefined);
    if (body === 'broken') return;
    if ('error' in body) return send(response, body.status, { error: body.error }, PARTING);
    await this.#take(Buffer.from(body.text));
  }

  async #take(body: Buffer): Promise<void> {
    const message = readMessage(body);
    const { id, method } = message;
    const refusals: object[] = [];
    let client: Route['client'] = { send: (refusal) => refusals.push(refusal) };
    if (typeof method === 'string' && isId(id)) {
      if (method === 'initialize') {
        this.#isFirst = true;
        this.#session = this.context.sessions.begin();
      }
      // An id that is taken is refused, and the request that has it goes on.
      if (!this.context.waiting.get(this.#keyOf(id))) client = this.#open(id);
    }
    this.context.proxy.takeFromClient(Buffer.concat([body, NEWLINE]), {
      client,
      server: { send: (sent) => void (this.#forwarded = this.#forward(sent, message)) },
      session: this.#session,
      keyOf: this.#keyOf,
    });
    if (method === 'notifications/cancelled') this.#endCancelled(message);
    const [refusal, ...more] = refusals;
    if (refusal) this.#stream.respondJson(400, more.length > 0 ? refusals : refusal);
    else if (!this.#pending && !this.#forwarded) this.#stream.respond(202, {}, '');
    await this.#forwarded;
  }

  readonly #keyOf = (id: Id): string => `${this.#session.scope} ${typeof id} ${id}`;

  #open(id: Id): Pending {
    const { waiting, kept } = this.context;
    const key = this.#keyOf(id);
    const pending = new Pending(id, this.#stream, (answer, isResumable) => {
      waiting.delete(key);
      if (isResumable) kept.keep(key, Buffer.from(textOf(answer)));
    });
    this.#pending = pending;
    waiting.add(key, pending);
    this.response.once('close', () => {
      if (waiting.get(key) !== pending || pending.readAt !== this.#stream) return;
      // Who can come back for the answer is not gone.
      if (this.#stream.isResumable && pending.isForwarded) waiting.lose(key);
      else waiting.abandon(key);
    });
    return pending;
  }

  /** A call that had not reached the server gets no answer from it. */
  #endCancelled(message: Message): void {
    const { requestId } = recordIn(message, 'params');
    if (!isId(requestId)) return;
    const key = this.#keyOf(requestId);
    const cancelled = this.context.waiting.get(key);
    if (!cancelled || cancelled.isForwarded) return;
    this.context.waiting.delete(key);
    cancelled.readAt.beginEvents();
    cancelled.readAt.end();
  }

  /** @param sent the message as it goes on; none for a request without a body */
  async #forward(sent: Buffer | object | undefined, asked: Message = {}): Promise<void> {
    const { upstream, name } = this.context;
    if (this.#pending) this.#pending.isForwarded = true;
    const problem = sent && !Buffer.isBuffer(sent) && this.#problemOfHeaders(asked, sent);
    if (problem) return this.#fail(`hookstack: ${problem}`, 400);
    const { [SESSION]: session, ...headers } = passedHeaders(this.request.headers, OWN_HEADERS);
    const isOurs = typeof session === 'string' && session.startsWith(OWN_SESSION);
    try {
      const response = await upstream.request({
        method: this.request.method ?? '',
        headers: {
          ...headers,
          'accept-encoding': ENCODINGS,
          ...(session !== undefined && !isOurs && { [SESSION]: session }),
        },
        ...(sent && { body: Buffer.from(textOf(sent)) }),
        signal: this.#gone.signal,
      });
      await this.#answer(response);
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      await this.#fail(`the MCP server "${name}" cannot be reached: ${errorMessage(error)}`, 502);
    }
  }

  /** Since 2026-07-28 a header may repeat an argument, which hooks do not see there. */
  #problemOfHeaders(asked: Message, sent: object): string | undefined {
    const repeated = Object.keys(this.request.headers).find((each) =>
      each.startsWith('mcp-param-'),
    );
    if (repeated === undefined) return undefined;
    const isSame = isDeepStrictEqual(
      recordIn(asked, 'params', 'arguments'),
      recordIn(sent, 'params', 'arguments'),
    );
    return isSame
      ? undefined
      : `hooks have changed the arguments, and the header ${repeated} repeats one of them: the call was not made`;
  }

  async #fail(why: string, status: number): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    if (!this.#pending) {
      const body = Buffer.from(JSON.stringify({ error: why }));
      return this.#stream.respond(status, headers, body);
    }
    const { line } = failureOf(this.#pending.id, { status, headers, body: NEWLINE }, why);
    this.#receive(line, failureSlot(this.#stream, { status, headers, body: line, line }));
  }

  async #answer(response: IncomingMessage): Promise<void> {
    const { pages, sessions, waiting } = this.context;
    const body = decoded(response);
    const { 'content-encoding': encoding, ...passed } = passedHeaders(response.headers);
    const headers = pages.rewritten(passed);
    const session = headerOf(this.request, SESSION);
    if (session !== undefined && this.#isOver(session, response)) {
      sessions.delete(session);
      waiting.endScope(this.#session.scope);
    }
    if (!body) {
      response.destroy();
      return this.#fail(
        `its response is compressed with ${String(encoding)}, which nobody here can read`,
        502,
      );
    }
    if (!isGood(response)) return this.#passFailure(response, body, headers);
    if (this.#isFirst) this.#beginSession(response, headers);
    const status = response.statusCode ?? 200;
    const type = mediaTypeOf(response);
    if (type === 'text/event-stream') return this.#passEvents(response, body, status, headers);
    const whole = await readWhole(body);
    if (whole === undefined) {
      response.destroy();
      return this.#fail('the response of the server was broken off, or is too large', 502);
    }
    if (type === 'application/json' && whole.length > 0) {
      return this.#receive(Buffer.concat([whole, NEWLINE]), this.#wholeSlot(status, headers));
    }
    if (!this.#pending) {
      const { 'content-type': _of, ...kept } = headers;
      return this.#stream.respond(status, kept, '');
    }
    await this.#fail(`the server answers with ${type || 'nothing'}, which is no message`, 502);
  }

  /** Whether the client has ended its session, or a server that knows it says that it is gone. */
  #isOver(session: string, response: IncomingMessage): boolean {
    const { method } = this.request;
    if (session.startsWith(OWN_SESSION)) return method === 'DELETE';
    if (method === 'DELETE' && isGood(response)) return true;
    // Many servers have nothing at all for GET.
    return response.statusCode === 404 && method !== 'GET';
  }

  #beginSession({ headers }: IncomingMessage, passed: Record<string, string | string[]>): void {
    const { sessions } = this.context;
    const id = headers[SESSION] ?? headerOf(this.request, SESSION);
    if (typeof id === 'string') sessions.register(id, this.#session);
    else {
      // Else nobody would know one client from another, and who can be asked.
      const own = `${OWN_SESSION}${randomUUID()}`;
      sessions.register(own, this.#session);
      passed[SESSION] = own;
    }
  }

  /** One message that is all of a response. */
  #wholeSlot(status: number, headers: Record<string, string | string[]>): Slot {
    return {
      fill: (message) => this.#stream.respondJson(status, message, headers),
      drop: () => {
        if (!this.#pending) return this.#stream.respond(202, {}, '');
        void this.#fail('the server answers with what is no answer to this request', 502);
      },
    };
  }

  async #passFailure(
    response: IncomingMessage,
    body: Readable,
    headers: Record<string, string | string[]>,
  ): Promise<void> {
    const status = response.statusCode ?? 502;
    const whole = (await readWhole(body)) ?? Buffer.alloc(0);
    if (!this.#pending) return this.#stream.respond(status, headers, whole);
    const why = `HTTP ${status}: ${whole.toString()}`;
    const failure = failureOf(this.#pending.id, { status, headers, body: whole }, why);
    this.#receive(failure.line, failureSlot(this.#stream, failure));
  }

  async #passEvents(
    response: IncomingMessage,
    body: Readable,
    status: number,
    headers: Record<string, string | string[]>,
  ): Promise<void> {
    const stream = this.#stream;
    stream.beginEvents(status, headers);
    const isWhole = await readEvents(response, body, {
      event: ({ id, event, data }) => {
        if (data === '' || (event !== undefined && event !== 'message')) {
          return stream.pass(id, event, '');
        }
        this.#receive(Buffer.from(`${data}\n`), stream.slot(id, event));
      },
      comment: () => stream.note(':\n\n'),
      retry: (ms) => stream.note(`retry: ${ms}\n`),
      wait: () => stream.drained(),
    });
    if (!isWhole) stream.break();
    else stream.end();
  }

  /** Hands a message of the server to the proxy. What comes of it goes to its slot, at once or once hooks have looked. */
  #receive(line: Buffer, slot: Slot): void {
    const { waiting, kept, proxy } = this.context;
    let isTaken = false;
    proxy.takeFromServer(line, {
      client: {
        send: (message) => {
          isTaken = true;
          slot.fill(message);
        },
      },
      server: undefined,
      session: this.#session,
      keyOf: this.#keyOf,
      answered: (key, id) => {
        const pending = waiting.get(key);
        // In the stream of another request nobody comes back for anything.
        isTaken = pending !== undefined || this.request.method === 'GET';
        if (pending) pending.claim(slot, this.#stream);
        else if (isTaken) slot.fill(kept.get(key) ?? withheldAnswer(id));
      },
    });
    if (!isTaken) slot.drop();
  }
}

function readMessage(body: Buffer): Message {
  try {
    const message = parseLine(body);
    return isRecord(message) ? message : {};
  } catch {
    return {};
  }
}
