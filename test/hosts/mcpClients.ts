import { createRequire } from 'node:module';
import path from 'node:path';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttpTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { MAIN, type Cli } from '../cli/helpers.js';
import { openDoor } from '../cli/mcpHttp.js';

const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/package.json',
);
/** What starts the servers. */
export const SERVERS = {
  everything: [path.join(path.dirname(everything), 'dist/index.js'), 'stdio'],
  modern: [path.resolve(import.meta.dirname, '../fixtures/mcp/modernServer.mjs')],
} as const;

export type ClientKind = '1.32' | '2.4' | '2.4, 2026-07-28';

/** Answers the questions of server and hooks. */
export type Elicit = (message: string) => ElicitResult;

export const ACCEPT: Elicit = () => ({
  action: 'accept',
  content: { name: 'Ada', check: true, sure: true },
});

const INFO = { name: 'test', version: '1' };
const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };
const ROOTS = { roots: [{ uri: 'file:///home', name: 'home' }] };
const MESSAGE = {
  model: 'none',
  role: 'assistant',
  content: { type: 'text', text: 'Said.' },
} as const;

interface Connection {
  readonly server: keyof typeof SERVERS;
  /** The options of the proxy; without it, there is none. */
  readonly proxy?: readonly string[];
  readonly elicit?: Elicit;
}

/** A server over HTTP, and how a client comes to it: by itself, or through a proxy that it starts or asks. */
export interface Place {
  readonly url: string;
  readonly way: 'direct' | 'stdio' | 'door';
  readonly elicit?: Elicit;
  /** Of the transport of the client 1.32. */
  readonly options?: StreamableHTTPClientTransportOptions;
}

/** An official client, connected to a server over HTTP. */
export async function connectTo(
  cli: Cli,
  kind: ClientKind,
  { url, way, elicit = ACCEPT, options }: Place,
): Promise<Client | ModernClient> {
  const env = { HOME: cli.home, PATH: process.env['PATH'] ?? '' };
  const args = [MAIN, 'mcp', '--name', 'everything', '--url', url];
  const start = {
    command: process.execPath,
    args,
    env,
    cwd: cli.project,
    stderr: 'ignore',
  } as const;
  const isFirst = kind === '1.32';
  const client = isFirst ? firstClient(elicit) : secondClient(kind, elicit);
  onTestFinished(() => client.close());
  if (way === 'stdio') {
    await (client instanceof Client
      ? client.connect(new StdioClientTransport(start))
      : client.connect(new ModernTransport(start)));
    return client;
  }
  const place = new URL(
    way === 'door' ? (await openDoor(cli, url, '--name', 'everything')).url : url,
  );
  await (client instanceof Client
    ? client.connect(new StreamableHTTPClientTransport(place, options) as Transport)
    : client.connect(new ModernHttpTransport(place)));
  return client;
}

/** An official client, connected to a server. */
export async function connect(
  cli: Cli,
  kind: ClientKind,
  { server, proxy, elicit = ACCEPT }: Connection,
): Promise<Client | ModernClient> {
  const command = [process.execPath, ...SERVERS[server]];
  const args = proxy
    ? [MAIN, 'mcp', '--name', server, ...proxy, '--', ...command]
    : command.slice(1);
  const env = { HOME: cli.home, PATH: process.env['PATH'] ?? '' };
  const start = {
    command: process.execPath,
    args,
    env,
    cwd: cli.project,
    stderr: 'ignore',
  } as const;
  const client =
    kind === '1.32' ? await connectFirst(start, elicit) : await connectSecond(start, kind, elicit);
  onTestFinished(() => client.close());
  return client;
}

type Start = ConstructorParameters<typeof StdioClientTransport>[0];

function connectFirst(start: Start, elicit: Elicit): Promise<Client> {
  const client = firstClient(elicit);
  return client.connect(new StdioClientTransport(start)).then(() => client);
}

function firstClient(elicit: Elicit): Client {
  const client = new Client(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params.message));
  client.setRequestHandler(CreateMessageRequestSchema, () => MESSAGE);
  client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
  return client;
}

function connectSecond(start: Start, kind: ClientKind, elicit: Elicit): Promise<ModernClient> {
  const client = secondClient(kind, elicit);
  return client.connect(new ModernTransport(start)).then(() => client);
}

function secondClient(kind: ClientKind, elicit: Elicit): ModernClient {
  const versionNegotiation = { mode: kind === '2.4' ? 'legacy' : 'auto' } as const;
  const client = new ModernClient(INFO, { capabilities: CAPABILITIES, versionNegotiation });
  client.setRequestHandler('elicitation/create', ({ params }) => elicit(params.message));
  client.setRequestHandler('sampling/createMessage', () => MESSAGE);
  client.setRequestHandler('roots/list', () => ROOTS);
  return client;
}
