import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ResultPromise } from 'execa';
import { createParser } from 'eventsource-parser';
import { onTestFinished } from 'vitest';
import { group, saying, type Cli } from './helpers.js';
import type { RpcMessage } from './mcpClient.js';

interface Received {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly message: RpcMessage;
}

type Handler = (received: Received, response: ServerResponse) => void;

/** A server over HTTP that does what a test says. */
export async function startServer(handle: Handler) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', headers } = request;
      const body = await text(request).catch(() => '');
      const message = body === '' ? {} : (JSON.parse(body) as RpcMessage);
      const said = { method, headers, body, message };
      received.push(said);
      handle(said, response);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/mcp`, received, server };
}

/** One JSON answer. */
export function json(response: ServerResponse, message: object | string, headers = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(typeof message === 'string' ? message : JSON.stringify(message));
}

export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
}

export function event(message: object | string, id?: string): string {
  const data = typeof message === 'string' ? message : JSON.stringify(message);
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

export function textResult(id: unknown, value: string): object {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: value }] } };
}

/** Hides the result of a tool, as hooks for Claude Code do. */
export function replacing(shown: string, matcher?: string) {
  const output = { hookEventName: 'PostToolUse', updatedToolOutput: shown };
  const [hooks] = group(saying({ hookSpecificOutput: output }));
  return [
    { ...hooks, ...(matcher !== undefined && { matcher }), dialect: 'claude' as const },
  ] as ReturnType<typeof group>;
}

export interface Door {
  readonly url: string;
  readonly process: ResultPromise;
  readonly stderr: () => string;
}

/** `hookstack mcp --listen` in front of a server. */
export async function openDoor(cli: Cli, url: string, ...args: string[]): Promise<Door> {
  const words = ['mcp', '--name', 'test', '--url', url, '--listen', '127.0.0.1:0', ...args];
  const started = cli.start(words);
  onTestFinished(() => void started.kill('SIGKILL'));
  let stderr = '';
  const at = await new Promise<string>((resolve, reject) => {
    started.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      const found = /is at (http:\S+): write/u.exec(stderr)?.[1];
      if (found !== undefined) resolve(found);
    });
    void started.then(() => reject(new Error(stderr)));
  });
  return { url: at, process: started, stderr: () => stderr };
}

export function call(id: number | string, name = 'secret', args: object = {}): RpcMessage {
  return {
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  } as RpcMessage;
}

export function initialize(capabilities: object = {}): object {
  const clientInfo = { name: 'raw', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
  return { jsonrpc: '2.0', id: 'init', method: 'initialize', params };
}

export interface SaidEvent {
  readonly id?: string | undefined;
  readonly message: RpcMessage;
}

/** What a response of HTTP says, as it comes. */
export class Reply {
  readonly events: SaidEvent[] = [];
  readonly over: Promise<'ended' | 'broken'>;

  constructor(readonly response: Response) {
    this.over = this.#read();
  }

  get status(): number {
    return this.response.status;
  }

  get texts(): string {
    return JSON.stringify(this.events.map(({ message }) => message));
  }

  async #read(): Promise<'ended' | 'broken'> {
    const isStream = this.response.headers.get('content-type') === 'text/event-stream';
    const take = (id: string | undefined, data: string) =>
      data !== '' && this.events.push({ id, message: JSON.parse(data) as RpcMessage });
    const parser = createParser({ onEvent: ({ id, data }) => take(id, data) });
    const decoder = new TextDecoder();
    let whole = '';
    try {
      for await (const chunk of this.response.body ?? []) {
        const piece = decoder.decode(chunk as Uint8Array, { stream: true });
        whole += piece;
        if (isStream) parser.feed(piece);
      }
    } catch {
      return 'broken';
    }
    if (!isStream) take(undefined, whole);
    return 'ended';
  }
}

export async function post(
  url: string,
  message: object | string,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    body: typeof message === 'string' ? message : JSON.stringify(message),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    redirect: 'manual',
    ...(signal && { signal }),
  });
  return new Reply(response);
}

export async function get(url: string, headers: Record<string, string> = {}): Promise<Reply> {
  return new Reply(await fetch(url, { headers: { accept: 'text/event-stream', ...headers } }));
}
