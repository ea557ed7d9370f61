import type { Readable } from 'node:stream';
import type { Approver } from '../../protocol/approval.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import { hasRepeatedKey, lookalikeIn, problemOfAnswer, zeroIn } from './exact.js';
import { asOneLine, LineSplitter, readPieces, toLine, type Outlet } from './lines.js';
import { errorAnswer, isId, isTooDeepLine, parseLine, recordIn, RpcError } from './rpc.js';
import type { Id, Message } from './rpc.js';
import type { CallHost, Receiver } from './call.js';
import { progressToSend } from './forwarding.js';
import { ToolCalls } from './toolCalls.js';

interface ProxyOptions extends Pick<CallHost, 'client' | 'configFor' | 'warn'> {
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
  #server: Outlet | undefined;
  #failure: string | undefined;
  /** What the server has written in a row that is no message. */
  #nonsense = 0;

  constructor(private readonly options: ProxyOptions) {
    this.#calls = new ToolCalls({
      client: options.client,
      configFor: options.configFor,
      fullName: this.#fullName,
      sendToServer: (id, message, receive) => this.#request(id, message, receive),
      warn: options.warn,
      forget: (id) => this.#open.has(id) && this.#open.set(id, drop),
    });
  }

  readonly #fullName = (tool: string): string => `mcp__${this.options.name}__${tool}`;

  get approver(): Approver {
    return this.#calls.approver;
  }

  /** Passes on what the client says, until it ends. */
  async readClient(stream: Readable, server: Outlet | undefined): Promise<void> {
    this.#server = server;
    const lines = new LineSplitter((line) => {
      if (line) this.#takeFromClient(line);
      else this.#refuse(null, RpcError.InvalidRequest, 'the message is too long');
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

  #takeFromClient(line: Buffer): void {
    let message: unknown;
    try {
      message = parseLine(line);
    } catch {
      // A line of nothing but blanks is no message at all.
      if (line.toString().trim() !== '') this.#refuse(null, RpcError.Parse, 'a line is no JSON');
      return;
    }
    if (isTooDeepLine(message, line)) this.#refuseMessage(message, 'is nested too deeply');
    else this.#sort(message, asOneLine(line));
  }

  #isOpen(id: Id): boolean {
    return this.#open.has(id) || this.#calls.has(id);
  }

  #sort(message: unknown, line: Buffer): void {
    const { method, id } = recordIn(message);
    if (!isRecord(message)) {
      const why = 'a line must hold one message, which is an object: batches do not pass';
      const inside = Array.isArray(message) ? message.map((each) => recordIn(each)['id']) : [];
      const ids = [...new Set(inside.filter(isId))].filter((each) => !this.#isOpen(each));
      for (const each of ids) this.#refuse(each, RpcError.InvalidRequest, why);
      if (ids.length === 0) this.#refuse(null, RpcError.InvalidRequest, why);
      return;
    }
    // A server could read another method, or another name of a tool.
    const lookalike = lookalikeIn(message) ?? zeroIn(String(method));
    if (lookalike !== undefined) return this.#refuseMessage(message, `has ${lookalike}`);
    if (typeof method === 'string') {
      if (hasRepeatedKey(line, message)) {
        this.#refuseMessage(message, 'has a key twice in one object: write it once');
      } else if (Object.hasOwn(message, 'id')) this.#takeRequest(id, method, message, line);
      else this.#takeNotification(method, message, line);
    } else if (method !== undefined || !isId(id)) {
      this.#refuse(null, RpcError.InvalidRequest, 'a message has no method, and answers nothing');
    } else if (!this.#calls.questions.take(id, message)) this.#server?.send(line);
  }

  #takeRequest(id: unknown, method: string, message: Message, line: Buffer): void {
    if (!isId(id)) {
      const why = 'an id must be a text, or a number that loses no digits';
      return this.#refuse(null, RpcError.InvalidRequest, why);
    }
    if (this.#isOpen(id)) {
      // An answer with this id would be taken for that of the first.
      const why = `the id ${JSON.stringify(id)} belongs to a request that is not answered yet`;
      return this.#refuse(null, RpcError.InvalidRequest, why);
    }
    if (this.#failure !== undefined) {
      return this.options.client.send(errorAnswer(id, RpcError.ConnectionClosed, this.#failure));
    }
    if (Math.max(this.#open.size, this.#calls.size) >= MAX_OPEN) {
      return this.#refuse(id, RpcError.Internal, `${MAX_OPEN} requests wait for an answer already`);
    }
    if (method === 'tools/call') return this.#calls.take(id, message, line);
    if (method === 'initialize') this.#begin(message);
    this.#request(id, line, this.#receiverFor(method, message));
  }

  #begin(message: Message): void {
    this.#calls.capabilities = recordIn(message, 'params', 'capabilities');
    // What goes wrong with it is told to the first call.
    this.options.configFor(this.#calls.clientOf(message).canAsk).catch(() => undefined);
  }

  #receiverFor(method: string, request: Message): Receiver {
    const { client } = this.options;
    if (method === 'tools/list')
      return (answer, line) => {
        this.#filterTools(request, answer, line).catch((error: unknown) => {
          const message = `the tools cannot be listed: ${errorMessage(error)}`;
          client.send(errorAnswer(answer['id'] as Id, RpcError.Internal, message));
        });
      };
    return (_answer, line) => client.send(line);
  }

  #takeNotification(method: string, message: Message, line: Buffer): void {
    if (method === 'tools/call') {
      this.options.warn('was not called: the call has no id, so that nobody could read its answer');
      return;
    }
    if (method === 'notifications/cancelled') {
      const { requestId } = recordIn(message, 'params');
      if (isId(requestId)) {
        // What hooks were to look at would else be the answer to whatever has this id next.
        const isKept = this.#open.get(requestId) === drop || this.#calls.has(requestId);
        this.#calls.cancel(requestId);
        if (!isKept) this.#open.delete(requestId);
      }
    }
    this.#server?.send(line);
  }

  #request(id: Id, message: Buffer | Message, receive: Receiver): void {
    if (this.#failure === undefined) {
      this.#open.set(id, receive);
      this.#server?.send(message);
    } else failWith(receive, id, RpcError.ConnectionClosed, this.#failure);
  }

  async #filterTools(request: Message, answer: Message, line: Buffer): Promise<void> {
    const { client, configFor } = this.options;
    if (answer['error'] !== undefined) return client.send(line);
    const config = await configFor(this.#calls.clientOf(request).canAsk);
    client.send((await this.#calls.offer.filter(config, request, answer)) ?? line);
  }

  /**
   * Passes on what the server says.
   *
   * @returns why it ends: nothing where the server has closed its output
   */
  async readServer(stream: Readable): Promise<string | undefined> {
    let broken: string | undefined;
    const lines = new LineSplitter((line) => {
      if (line) this.#takeFromServer(line);
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

  #takeFromServer(line: Buffer): void {
    let message: unknown;
    try {
      message = parseLine(line);
    } catch {
      return this.#noteNonsense(line.toString().trim() === '' ? BLANK_LINE : 1);
    }
    if (isTooDeepLine(message, line)) this.#drop(message, 'a message that is nested too deeply');
    else if (Array.isArray(message)) this.#drop(message, 'a batch, which does not pass');
    else this.#pass(message, asOneLine(line));
  }

  #noteNonsense(weight = 1): void {
    if (weight === 1 && this.#nonsense < 1) {
      this.options.warn('wrote a line to stdout that is no message; such lines are dropped');
    }
    this.#nonsense += weight;
  }

  /** @param said a message, or a list of them */
  #drop(said: unknown, problem: string): void {
    const messages = [said].flat().map((each) => recordIn(each));
    const answered = messages.flatMap(({ id, method }) =>
      method === undefined && isId(id) ? [id] : [],
    );
    for (const id of answered) this.#failAnswer(id, problem);
    if (answered.length === 0) this.#noteNonsense();
  }

  #failAnswer(id: Id, what: string): void {
    const receive = this.#open.get(id);
    this.#open.delete(id);
    const why = `the MCP server "${this.options.name}" answered with ${what}`;
    if (receive) failWith(receive, id, RpcError.Internal, why);
  }

  #pass(message: unknown, line: Buffer): void {
    const { client } = this.options;
    const { method, id, error, result } = recordIn(message);
    const isAnswer = error !== undefined || result !== undefined;
    // What could be read as a request and as an answer would pass hooks by as the one.
    if (!isRecord(message) || (method !== undefined && isAnswer)) return this.#noteNonsense();
    const lookalike = lookalikeIn(message);
    if (lookalike !== undefined) return this.#drop(message, lookalike);
    if (typeof method === 'string') {
      const hasWords = method === 'notifications/progress' && this.#calls.isResultAwaited;
      client.send(hasWords ? progressToSend(message) : line);
    } else if (isId(id)) this.#takeAnswer(id, message, line);
    // An error about what could not be read is no answer to any request.
    else if ((id ?? null) === null && isRecord(error) && result === undefined) {
      client.send(toLine(message));
    } else return this.#noteNonsense();
    this.#nonsense = 0;
  }

  #takeAnswer(id: Id, message: Message, line: Buffer): void {
    const problem = problemOfAnswer(message);
    if (problem !== undefined) return this.#failAnswer(id, problem);
    const receive = this.#open.get(id);
    this.#open.delete(id);
    if (message['error'] === null) {
      const { error: _none, ...answer } = message;
      receive?.(answer, toLine(answer));
      return;
    }
    // Hooks look at a call: no answer to another request may be read as its own.
    const isDoubtful = this.#calls.size > 0 && hasRepeatedKey(line, message);
    receive?.(message, isDoubtful ? toLine(message) : line);
  }

  #refuseMessage(message: unknown, what: string): void {
    const { method, id } = recordIn(message);
    const isRequest = typeof method === 'string' && isId(id) && !this.#isOpen(id);
    this.#refuse(isRequest ? id : null, RpcError.InvalidRequest, `the message ${what}`);
  }

  #refuse(id: Id | null, code: number, why: string): void {
    this.options.client.send(errorAnswer(id, code, `hookstack: ${why}`));
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
