import { MAX_KEPT_ANSWER_BYTES } from '../process/command/limits.js';
import type { StartOptions } from '../process/command/execution.js';
import { errorMessage } from '../util/errorMessage.js';
import { httpTransport } from './httpTransport.js';
import { ProcessTransport } from './processTransport.js';
import { loadSdk, type Client, type ToolAnswer, type Transport } from './sdk.js';

/** Ms that a server has to say hello, whatever the first hook waits: the next ones find it ready. */
const CONNECT_MS = 60_000;

/** Ms that the end of a session over HTTP may take. */
const FAREWELL_MS = 1_000;

/** How a server is reached. */
export type Way =
  | { readonly start: StartOptions }
  | { readonly url: URL; readonly headers: Headers };

/** Over HTTP, the server is told the end. */
type EndingTransport = Transport & { terminateSession?: () => Promise<void> };

/** One MCP server that is kept, with the calls that are under way there. */
export class Connection {
  /** When it was last used. */
  usedAt = performance.now();
  /** Whether it has ended, or is only there for the calls that are under way. */
  isSpent = false;
  #calls = 0;
  #fault: Error | undefined;
  #end: (fault: Error) => void = () => undefined;
  /** Rejects once the server is gone. */
  readonly #gone = new Promise<never>((_, reject) => (this.#end = reject));
  readonly #ready: Promise<Client>;
  #transport: EndingTransport | undefined;
  #closing: Promise<void> | undefined;

  constructor(private readonly way: Way) {
    this.#gone.catch(() => undefined);
    this.#ready = this.#connect();
    this.#ready.catch((error: unknown) => this.#fail(error));
  }

  get isBusy(): boolean {
    return this.#calls > 0;
  }

  /**
   * Calls a tool.
   *
   * @throws Error of the server, of the way there, or the reason of the signal
   */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<ToolAnswer> {
    this.#count(1);
    const aborted = untilAborted(signal);
    try {
      const client = await Promise.race([this.#ready, this.#gone, aborted.promise]);
      const call = { name, arguments: args };
      // It would say less than whoever aborts.
      const options = { signal, timeout: timeoutMs + FAREWELL_MS };
      const answer = client.callTool(call, undefined, options);
      answer.catch(() => undefined);
      return await Promise.race([answer, this.#gone, aborted.promise]);
    } catch (error) {
      // It hangs, has lost the session, or is gone: calls to come begin anew.
      if (!isAnswer(error)) this.isSpent = true;
      throw error === this.#fault || !this.#fault ? error : this.#fault;
    } finally {
      aborted.stop();
      this.#count(-1);
    }
  }

  /** Ends it, and the calls that are under way. */
  async close(): Promise<void> {
    this.#fail(new Error('it was ended'));
    await this.#closeTransport();
  }

  #count(change: 1 | -1): void {
    this.#calls += change;
    this.usedAt = performance.now();
    if (this.#transport instanceof ProcessTransport) this.#transport.setReferenced(this.isBusy);
    if (this.isSpent && !this.isBusy) void this.#closeTransport();
  }

  async #connect(): Promise<Client> {
    const { Client, StreamableHTTPClientTransport } = await loadSdk();
    const fail = (error: Error) => this.#fail(error);
    const transport =
      'start' in this.way
        ? new ProcessTransport(this.way.start, MAX_KEPT_ANSWER_BYTES)
        : httpTransport(StreamableHTTPClientTransport, this.way, fail);
    this.#transport = transport;
    if (transport instanceof ProcessTransport) transport.setReferenced(this.isBusy);
    const client = new Client({ name: 'hookstack', version: '1' });
    let isConnected = false;
    const onclose = () => {
      // Over HTTP, what went wrong is told behind the end.
      const isKnown = isConnected || transport instanceof ProcessTransport;
      if (isKnown) this.#fail(this.#fault ?? new Error(`it ended${this.#stderr}`));
    };
    // The client puts its own in their place, and calls these.
    Object.assign(transport, { onerror: (error: Error) => this.#note(error) });
    Object.assign(client, { onclose });
    try {
      await client.connect(transport, { timeout: CONNECT_MS });
      isConnected = true;
    } catch (error) {
      throw this.#fault ?? new Error(`${errorMessage(error)}${this.#stderr}`, { cause: error });
    }
    return client;
  }

  get #stderr(): string {
    const { stderr = '' } = this.#transport instanceof ProcessTransport ? this.#transport : {};
    return stderr === '' ? '' : ` (it wrote: ${stderr.split('\n').slice(-3).join(' / ')})`;
  }

  /** What a transport of ours says is why it ends. */
  #note(error: Error): void {
    if (this.#transport instanceof ProcessTransport) this.#fault ??= error;
  }

  #fail(error: unknown): void {
    this.#fault ??= error instanceof Error ? error : new Error(errorMessage(error));
    this.isSpent = true;
    this.#end(this.#fault);
    if (!this.isBusy) void this.#closeTransport();
  }

  /** Once: to close a transport is to be told that it closes. */
  #closeTransport(): Promise<void> {
    const transport = this.#transport;
    if (!transport) return Promise.resolve();
    return (this.#closing ??= Promise.resolve().then(() => endTransport(transport)));
  }
}

async function endTransport(transport: EndingTransport): Promise<void> {
  const farewell = transport.terminateSession?.().catch(() => undefined);
  if (farewell) await Promise.race([farewell, after(FAREWELL_MS)]);
  await transport.close().catch(() => undefined);
}

/** Whether the server has answered, so that it is well. */
function isAnswer(error: unknown): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown };
  return name === 'McpError' && code !== CLOSED && code !== LATE;
}

// Of the SDK itself, under the name of answers.
const CLOSED = -32_000;
const LATE = -32_001;

function untilAborted(signal: AbortSignal) {
  const done = new AbortController();
  const promise = new Promise<never>((_, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true, signal: done.signal });
  });
  promise.catch(() => undefined);
  return { promise, stop: () => done.abort() };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
