import { errorAnswer, recordIn, RpcError, type Id } from '../rpc.js';
import { toLine } from '../lines.js';
import type { McpProxy } from '../proxy.js';
import type { ClientStream, Slot } from './clientStream.js';

/** A request of a client that is not answered yet, and where its answer goes. */
export class Pending {
  #slot: Slot | undefined;
  /** Whether it has been sent to the server. */
  isForwarded = false;

  /** @param settled hears of the answer, and whether a client can come back for it */
  constructor(
    readonly id: Id,
    private stream: ClientStream,
    private readonly settled: (answer: Buffer | object, isResumable: boolean) => void,
  ) {}

  /** Where the client reads it; who resumes a stream reads another one. */
  get readAt(): ClientStream {
    return this.stream;
  }

  /** The server has answered, in this place. What it says again counts only for a client that has lost the first. */
  claim(slot: Slot, stream: ClientStream): void {
    if (this.#slot && !this.stream.isGone) return slot.drop();
    this.#slot = slot;
    this.stream = stream;
  }

  /** Takes its answer, or a question of ours about it. */
  send(message: Buffer | object): void {
    if (!Buffer.isBuffer(message) && 'method' in message) return this.stream.say(message);
    this.settled(message, this.#slot?.eventId !== undefined);
    if (this.#slot) this.#slot.fill(message);
    else this.stream.respondJson(200, message);
  }
}

/** Requests whose clients have lost the stream, and can come back. */
const MAX_LOST = 1000;

/** Requests that wait for an answer, in whichever stream it comes, by their keys. */
export class Waiting {
  readonly #all = new Map<Id, Pending>();
  readonly #lost = new Set<Id>();

  constructor(private readonly proxy: McpProxy) {}

  get(key: Id): Pending | undefined {
    return this.#all.get(key);
  }

  add(key: Id, pending: Pending): void {
    this.#all.set(key, pending);
  }

  delete(key: Id): void {
    this.#all.delete(key);
    this.#lost.delete(key);
  }

  /** Nobody can get its answer any more: its hooks end. */
  abandon(key: Id): void {
    this.delete(key);
    this.proxy.abandon(key);
  }

  /** Its client may come back for the answer. */
  lose(key: Id): void {
    this.#lost.add(key);
    const [oldest] = this.#lost;
    if (this.#lost.size > MAX_LOST && oldest !== undefined) this.abandon(oldest);
  }

  /** A session is over: nobody comes back. Whoever still waits hears it from the server. */
  endScope(scope: string): void {
    for (const key of this.#lost) {
      if (String(key).startsWith(`${scope} `)) this.abandon(key);
    }
  }
}

/** A response of the server that is no answer, and how hooks read it: as a tool that has failed. */
export interface Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
  /** What hooks read. */
  readonly line: Buffer;
}

/** @param said what the server has said of it */
export function failureOf(id: Id, said: Omit<Failure, 'line'>, why: string): Failure {
  return { ...said, line: toLine(errorAnswer(id, RpcError.ConnectionClosed, why)) };
}

/** Gives a client the response as it came, unless hooks have made something else of it. */
export function failureSlot(stream: ClientStream, failure: Failure): Slot {
  const { status, headers, body, line } = failure;
  const told = messageIn(line);
  return {
    fill: (message) => {
      if (messageIn(message) === told) stream.respond(status, headers, body);
      else stream.respondJson(status, message, headers);
    },
    drop: () => stream.respond(status, headers, body),
  };
}

function messageIn(message: Buffer | object): unknown {
  const said: unknown = Buffer.isBuffer(message) ? JSON.parse(message.toString()) : message;
  return recordIn(said, 'error')['message'];
}

/** For a client that comes back for what nobody has kept. */
export function withheldAnswer(id: Id): object {
  const why =
    'hookstack: this result is withheld, as hooks have not looked at it: they do not know this call any more; call the tool again';
  return errorAnswer(id, RpcError.Internal, why);
}
