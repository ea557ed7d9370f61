import type { Readable } from 'node:stream';
import type { Approver } from '../../protocol/approval.js';
import type { CallSession } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import { hasRepeatedKey, lookalikeIn, problemOfAnswer, zeroIn } from './exact.js';
import { asOneLine, LineSplitter, readPieces, toLine, type Outlet } from './lines.js';
import { errorAnswer, isId, isTooDeepLine, parseLine, recordIn, RpcError } from './rpc.js';
import type { Id, Message } from './rpc.js';
import type { CallHost, McpSession, Receiver, Route } from './call.js';
import { withoutWords } from './forwarding.js';
import { ToolCalls } from './toolCalls.js';
import { ToolOffer } from './toolSelection.js';

interface ProxyOptions extends Pick<CallHost, 'configFor' | 'warn'> {
  /** Reads what the server says, where both speak through streams. */
  readonly client: Outlet;
  /** Name of the server. */
  readonly name: string;
}

/** Requests that wait for an answer: more would only fill the memory. */
const MAX_OPEN = 10_000;
/** Takes an answer that nobody wants any more, and that nobody else may get. */
const drop: Receiver = () => undefined;
/** Some servers write their log to stdout; one that writes so many lines in a row that are no messages is broken. */
const MAX_NONSENSE = 100;
/** What a blank line counts of that: some servers write them for a sign of life. */
const BLANK_LINE = 0.01;

/**
 * Passes messages between a client and a server. Calls of tools go through hooks, lists of tools are filtered, and all
 * else passes byte for byte.
 */
export class McpProxy {
  /** Requests that the server has to answer. What it says to others never reaches the client. */
  readonly #open = new Map<Id, Receiver>();
  readonly #calls: ToolCalls;
  #stdio: Route;
  #failure: string | undefined;
  /** What the server has written in a row that is no message. */
  #nonsense = 0;

  constructor(private readonly options: ProxyOptions) {
    this.#calls = new ToolCalls({
      configFor: options.configFor,
      fullName: this.#fullName,
      sendToServer: (...sent) => this.#request(...sent),
      warn: options.warn,
      forget: (key) => this.#open.has(key) && this.#open.set(key, drop),
    });
    const session = { ...this.newSession(), capabilities: {} };
    this.#stdio = { client: options.client, server: undefined, session, keyOf: (id) => id };
  }

  readonly #fullName = (tool: string): string => `mcp__${this.options.name}__${tool}`;

  /** @param forHooks what hooks read of a client, where there are several */
  newSession(forHooks?: CallSession): McpSession {
    return { capabilities: undefined, forHooks, offer: new ToolOffer(this.#fullName, forHooks) };
  }

  /** Nobody comes back to a session: its async hooks end. */
  endSession({ forHooks }: McpSession): void {
    this.#calls.endSession(forHooks);
  }

  get approver(): Approver {
    return this.#calls.approver;
  }

  /** Passes on what the client says, until it ends. */
  async readClient(
    stream: Readable,
    server: Pick<Outlet, 'send' | 'drained'> | undefined,
  ): Promise<void> {
    this.#stdio = { ...this.#stdio, server };
    const lines = new LineSplitter((line) => {
      if (line) this.takeFromClient(line);
      else this.#refuse(this.#stdio, null, RpcError.InvalidRequest, 'the message is too long');
    });
    await readPieces(stream, (chunk) => {
      lines.push(chunk);
      return server?.drained();
    });
    lines.end();
    this.#calls.noMoreAnswers();
  }

  /** Waits for the calls that are on their way. */
  settled(): Promise<void> {
    return this.#calls.settled();
  }

  /** Takes one message of a client. Each request is answered through its route, whatever becomes of it. */
  takeFromClient(line: Buffer, route = this.#stdio): void {
    let message: unknown;
    try {
      message = parseLine(line);
    } catch {
      // A line of nothing but blanks is no message at all.
      if (line.toString().trim() === '') return;
      return this.#refuse(route, null, RpcError.Parse, 'a line is no JSON');
    }
    if (isTooDeepLine(message, line)) this.#refuseMessage(message, 'is nested too deeply', route);
    else this.#sort(message, asOneLine(line), route);
  }

  #isOpen(key: Id): boolean {
    return this.#open.has(key) || this.#calls.has(key);
  }

  #sort(message: unknown, line: Buffer, route: Route): void {
    const { method, id } = recordIn(message);
    if (!isRecord(message)) {
      const why = 'a line must hold one message, which is an object: batches do not pass';
      const inside = Array.isArray(message) ? message.map((each) => recordIn(each)['id']) : [];
      const ids = [...new Set(inside.filter(isId))].filter(
        (each) => !this.#isOpen(route.keyOf(each)),
      );
      for (const each of ids) this.#refuse(route, each, RpcError.InvalidRequest, why);
      if (ids.length === 0) this.#refuse(route, null, RpcError.InvalidRequest, why);
      return;
    }
    // A server could read another method, or another name of a tool.
    const lookalike = lookalikeIn(message) ?? zeroIn(String(method));
    if (lookalike !== undefined) return this.#refuseMessage(message, `has ${lookalike}`, route);
    if (typeof method === 'string') {
      if (hasRepeatedKey(line, message)) {
        this.#refuseMessage(message, 'has a key twice in one object: write it once', route);
      } else if (Object.hasOwn(message, 'id')) this.#takeRequest(id, method, message, line, route);
      else this.#takeNotification(method, message, line, route);
    } else if (method !== undefined || !isId(id)) {
      const why = 'a message has no method, and answers nothing';
      this.#refuse(route, null, RpcError.InvalidRequest, why);
    } else if (!this.#calls.questions.take(id, message)) route.server?.send(line);
  }

  #takeRequest(id: unknown, method: string, message: Message, line: Buffer, route: Route): void {
    if (!isId(id)) {
      const why = 'an id must be a text, or a number that loses no digits';
      return this.#refuse(route, null, RpcError.InvalidRequest, why);
    }
    if (this.#isOpen(route.keyOf(id))) {
      // An answer with this id would be taken for that of the first.
      const why = `the id ${JSON.stringify(id)} belongs to a request that is not answered yet`;
      return this.#refuse(route, null, RpcError.InvalidRequest, why);
    }
    if (this.#failure !== undefined) {
      return route.client.send(errorAnswer(id, RpcError.ConnectionClosed, this.#failure));
    }
    if (Math.max(this.#open.size, this.#calls.size) >= MAX_OPEN) {
      const why = `${MAX_OPEN} requests wait for an answer already`;
      return this.#refuse(route, id, RpcError.Internal, why);
    }
    if (method === 'tools/call') return this.#calls.take(id, message, line, route);
    if (method === 'initialize') this.#begin(message, route.session);
    this.#request(route, id, line, this.#receiverFor(method, message, route));
  }

  #begin(message: Message, session: McpSession): void {
    session.capabilities = recordIn(message, 'params', 'capabilities');
    // What goes wrong with it is told to the first call.
    this.options.configFor(this.#calls.clientOf(message, session).canAsk).catch(() => undefined);
  }

  #receiverFor(method: string, request: Message, route: Route): Receiver {
    const { client } = route;
    if (method === 'tools/list')
      return (answer, line) => {
        this.#filterTools(request, answer, line, route).catch((error: unknown) => {
          const message = `the tools cannot be listed: ${errorMessage(error)}`;
          client.send(errorAnswer(answer['id'] as Id, RpcError.Internal, message));
        });
      };
    return (_answer, line) => client.send(line);
  }

  #takeNotification(method: string, message: Message, line: Buffer, route: Route): void {
    if (method === 'tools/call') {
      this.options.warn('was not called: the call has no id, so that nobody could read its answer');
      return;
    }
    if (method === 'notifications/cancelled') {
      const { requestId } = recordIn(message, 'params');
      if (isId(requestId)) {
        const key = route.keyOf(requestId);
        // What hooks were to look at would else be the answer to whatever has this id next.
        const isKept = this.#open.get(key) === drop || this.#calls.has(key);
        this.#calls.cancel(key);
        if (!isKept) this.#open.delete(key);
      }
    }
    route.server?.send(line);
  }

  /** No answer to a request can come any more: its hooks end, and its id is free again. */
  abandon(key: Id): void {
    this.#calls.cancel(key);
    this.#open.delete(key);
  }

  #request(route: Route, id: Id, message: Buffer | Message, receive: Receiver): void {
    if (this.#failure === undefined) {
      this.#open.set(route.keyOf(id), receive);
      route.server?.send(message);
    } else failWith(receive, id, RpcError.ConnectionClosed, this.#failure);
  }

  async #filterTools(
    request: Message,
    answer: Message,
    line: Buffer,
    { client, session }: Route,
  ): Promise<void> {
    if (answer['error'] !== undefined) return client.send(line);
    const { canAsk } = this.#calls.clientOf(request, session);
    const config = await this.#calls.configFor(canAsk);
    client.send((await session.offer.filter(config, request, answer)) ?? line);
  }

  /**
   * Passes on what the server says.
   *
   * @returns why it ends: nothing where the server has closed its output
   */
  async readServer(stream: Readable): Promise<string | undefined> {
    let broken: string | undefined;
    const lines = new LineSplitter((line) => {
      if (line) this.takeFromServer(line);
      else broken = 'wrote a line without end';
      if (this.#nonsense >= MAX_NONSENSE)
        broken = `wrote ${MAX_NONSENSE} lines that are no messages`;
    });
    await readPieces(stream, (chunk) => {
      lines.push(chunk);
      return broken === undefined ? this.options.client.drained() : 'enough';
    });
    lines.end();
    return broken;
  }

  /** Takes one message of the server, which came on a route. */
  takeFromServer(line: Buffer, route = this.#stdio): void {
    let message: unknown;
    try {
      message = parseLine(line);
    } catch {
      return this.#noteNonsense(line.toString().trim() === '' ? BLANK_LINE : 1);
    }
    if (isTooDeepLine(message, line))
      this.#drop(message, 'a message that is nested too deeply', route);
    else if (Array.isArray(message)) this.#drop(message, 'a batch, which does not pass', route);
    else this.#pass(message, asOneLine(line), route);
  }

  #noteNonsense(weight = 1): void {
    if (weight === 1 && this.#nonsense < 1) {
      this.options.warn('wrote a line to stdout that is no message; such lines are dropped');
    }
    this.#nonsense += weight;
  }

  /** @param said a message, or a list of them */
  #drop(said: unknown, problem: string, route: Route): void {
    const messages = [said].flat().map((each) => recordIn(each));
    const answered = messages.flatMap(({ id, method }) =>
      method === undefined && isId(id) ? [id] : [],
    );
    for (const id of answered) this.#failAnswer(id, problem, route);
    if (answered.length === 0) this.#noteNonsense();
  }

  /** Who waits for the answer to a request that the server has answered. */
  #receiverOf(id: Id, route: Route): Receiver | undefined {
    const key = route.keyOf(id);
    route.answered?.(key, id);
    const receive = this.#open.get(key);
    this.#open.delete(key);
    return receive;
  }

  #failAnswer(id: Id, what: string, route: Route): void {
    const receive = this.#receiverOf(id, route);
    const why = `the MCP server "${this.options.name}" answered with ${what}`;
    if (receive) failWith(receive, id, RpcError.Internal, why);
  }

  #pass(message: unknown, line: Buffer, route: Route): void {
    const { method, id, error, result } = recordIn(message);
    const isAnswer = error !== undefined || result !== undefined;
    // What could be read as a request and as an answer would pass hooks by as the one.
    if (!isRecord(message) || (method !== undefined && isAnswer)) return this.#noteNonsense();
    const lookalike = lookalikeIn(message);
    if (lookalike !== undefined) return this.#drop(message, lookalike, route);
    if (typeof method === 'string') {
      const shown = this.#calls.isResultAwaited ? withoutWords(message) : undefined;
      route.client.send(shown ?? line);
    } else if (isId(id)) this.#takeAnswer(id, message, line, route);
    // An error about what could not be read is no answer to any request.
    else if ((id ?? null) === null && isRecord(error) && result === undefined) {
      route.client.send(toLine(message));
    } else return this.#noteNonsense();
    this.#nonsense = 0;
  }

  #takeAnswer(id: Id, message: Message, line: Buffer, route: Route): void {
    const problem = problemOfAnswer(message);
    if (problem !== undefined) return this.#failAnswer(id, problem, route);
    const receive = this.#receiverOf(id, route);
    if (message['error'] === null) {
      const { error: _none, ...answer } = message;
      receive?.(answer, toLine(answer));
      return;
    }
    // Hooks look at a call: no answer to another request may be read as its own.
    const isDoubtful = this.#calls.size > 0 && hasRepeatedKey(line, message);
    receive?.(message, isDoubtful ? toLine(message) : line);
  }

  #refuseMessage(message: unknown, what: string, route: Route): void {
    const { method, id } = recordIn(message);
    const isRequest = typeof method === 'string' && isId(id) && !this.#isOpen(route.keyOf(id));
    this.#refuse(route, isRequest ? id : null, RpcError.InvalidRequest, `the message ${what}`);
  }

  #refuse({ client }: Route, id: Id | null, code: number, why: string): void {
    client.send(errorAnswer(id, code, `hookstack: ${why}`));
  }

  /** The server is gone: whatever waits for it, and comes from now on, is answered with an error. */
  fail(message: string): void {
    this.#failure ??= message;
    this.#calls.failAll(message);
    for (const [id, receive] of this.#open)
      failWith(receive, id, RpcError.ConnectionClosed, message);
    this.#open.clear();
  }
}

function failWith(receive: Receiver, id: Id, code: number, why: string): void {
  const answer = errorAnswer(id, code, why);
  receive(answer, toLine(answer));
}
