// The official server over HTTP: with sessions and streams that can be resumed; with `auth`, behind a login at an
// authorization server of its own, which with `strict` gives tokens for the address of this server alone.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  createOAuthMetadata,
  mcpAuthMetadataRouter,
  mcpAuthRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import express from 'express';

const modes = new Set(process.argv.slice(2));
const INFO = { name: 'http', version: '1' };
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const tools = {
  secret: () => text('SECRET'),
  // Its answer can only be had by coming back for it.
  resumed: async (extra) => {
    extra.closeSSEStream();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return text('SECRET');
  },
};

function newServer() {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => tools[params.name](extra));
  return server;
}

async function listen(app) {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new URL(`http://127.0.0.1:${server.address().port}/`);
}

const transports = new Map();
async function answer(request, response) {
  const known = transports.get(request.headers['mcp-session-id']);
  if (known) return known.handleRequest(request, response, request.body);
  if (request.headers['mcp-session-id'] !== undefined) {
    const error = { code: -32_001, message: 'Session not found' };
    return void response.status(404).json({ jsonrpc: '2.0', id: null, error });
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new InMemoryEventStore(),
    retryInterval: 10,
    enableJsonResponse: modes.has('json'),
    onsessioninitialized: (id) => transports.set(id, transport),
  });
  await newServer().connect(transport);
  return transport.handleRequest(request, response, request.body);
}

const app = express();
app.use(express.json());
app.delete('/sessions', (_request, response) => {
  transports.clear();
  response.status(204).end();
});
const url = new URL('mcp', await listen(app));
const guards = [];
if (modes.has('auth')) {
  const isOurs = (resource) => String(resource) === url.href;
  const provider = new DemoInMemoryAuthProvider(modes.has('strict') ? isOurs : undefined);
  const authorization = express();
  const issuerUrl = await listen(authorization);
  authorization.use(mcpAuthRouter({ provider, issuerUrl }));
  const oauthMetadata = createOAuthMetadata({ provider, issuerUrl });
  app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: url }));
  const resourceMetadataUrl = new URL('/.well-known/oauth-protected-resource/mcp', url).href;
  guards.push(requireBearerAuth({ verifier: provider, resourceMetadataUrl }));
}
app.all('/mcp', ...guards, (request, response) => void answer(request, response));
process.stdout.write(`${url.href}\n`);
