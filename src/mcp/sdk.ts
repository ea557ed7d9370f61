import { loadOptional } from '../util/optionalPackage.js';

// What is used of the official SDK, in its own words: it is an optional peer, so that its declarations may be missing.

/** What carries messages to a server and back. */
export interface Transport {
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

interface RequestOptions {
  readonly timeout: number;
  readonly signal?: AbortSignal;
}

/** What a tool gave. */
export interface ToolAnswer {
  readonly content?: readonly {
    readonly type: string;
    readonly text?: string;
    readonly resource?: { readonly text?: string };
  }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  /** Of one that comes later. */
  readonly task?: unknown;
}

export interface Client {
  connect(transport: Transport, options: RequestOptions): Promise<void>;
  callTool(
    call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
    schema: undefined,
    options: RequestOptions,
  ): Promise<ToolAnswer>;
  close(): Promise<void>;
}

interface HttpOptions {
  readonly requestInit: RequestInit;
  readonly fetch: typeof fetch;
}

interface HttpTransport extends Transport {
  terminateSession(): Promise<void>;
}

/** What of the SDK is used here. */
export interface Sdk {
  readonly Client: new (info: { readonly name: string; readonly version: string }) => Client;
  readonly StreamableHTTPClientTransport: new (url: URL, options: HttpOptions) => HttpTransport;
}

const NAME = '@modelcontextprotocol/sdk';
const NEED = 'hooks of the type "mcp_tool" need';

/**
 * Loads the client of the official SDK.
 *
 * @throws Error that says what to install
 */
export async function loadSdk(): Promise<Sdk> {
  const installed = `${NAME}@1`;
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    loadOptional<Sdk>(`${NAME}/client/index.js`, NEED, installed),
    loadOptional<Sdk>(`${NAME}/client/streamableHttp.js`, NEED, installed),
  ]);
  return { Client, StreamableHTTPClientTransport };
}
