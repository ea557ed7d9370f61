import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  ElicitRequestSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  modelScenarioNames,
  momentScenarioNames,
  type Difference,
  type Harness,
  type ModelAnswerCall,
  type SentRequest,
  type Turn,
} from '../conformance/conformance.js';
import { MAIN } from '../cli/helpers.js';
import { without } from './noMoments.js';

const NO_MODEL_CALLS: Difference = {
  instead: 'no model calls in MCP',
  isSeen: ({ read, sent }) => read.length === 0 && sent.length > 0,
};

/** MCP cannot end an agent: it reads that it should, and is asked on. */
const AS_AN_ERROR: Difference = {
  instead: 'a result with `isError` says so',
  isSeen: ({ sent, text }) =>
    sent.length === 2 &&
    text === 'Done.' &&
    sent[1]?.messages.some(
      ({ role, text: read }) =>
        role === 'tool' && read.startsWith('isError: ') && read.includes('Enough.'),
    ) === true,
};

/** A list of tools may be filtered. */
const OF_LISTS = new Set<string>(['restrict', 'restrictCalls']);

/** Any client of MCP: here the official one, with a loop of an agent around it, through `hookstack mcp`. */
export const mcpHarness: Harness = {
  host: 'any client of MCP',
  run,
  differences: {
    ...Object.fromEntries(
      modelScenarioNames
        .filter((name) => !OF_LISTS.has(name))
        .map((name) => [name, NO_MODEL_CALLS]),
    ),
    ...without(...momentScenarioNames),
    stop: AS_AN_ERROR,
    stopAfterTool: AS_AN_ERROR,
    identity: {
      instead: 'a session for each connection',
      isSeen: ({ read }) =>
        read.length === 2 &&
        read[0]?.session_id !== '' &&
        read[0]?.session_id === read[1]?.session_id,
    },
  },
};

/** A server that is a pipe to the tools here. */
const PIPE = `const socket = require('node:net').connect(process.argv[1]);
process.stdin.pipe(socket).pipe(process.stdout);`;

async function run(turn: Turn) {
  const socketPath = path.join(turn.workingDir, 'tools.sock');
  const tools = createServer((socket) => void serve(turn, socket)).listen(socketPath);
  await once(tools, 'listening');
  const settings = path.join(turn.workingDir, 'settings.json');
  await writeFile(settings, withLongNames(JSON.stringify(turn.settings)));
  const hooked = [MAIN, 'mcp', '--name', 'files', '--settings', settings, '--'];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...hooked, process.execPath, '-e', PIPE, socketPath],
    env: { HOME: turn.workingDir, PATH: process.env['PATH'] ?? '' },
    cwd: turn.workingDir,
    stderr: 'ignore',
  });
  const client = new Client(INFO, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
    const { decision, reason } = await turn.approver({ reason: params.message }, { signal });
    const answer = decision === 'allow' ? 'yes' : 'no';
    return { action: 'accept', content: { answer, ...(reason && { reason }) } };
  });
  turn.onEnd(async () => {
    await client.close();
    tools.close();
  });
  await client.connect(transport);
  try {
    return await loop(turn, client);
  } finally {
    // What was cancelled has arrived once this is answered.
    if (turn.signal.aborted) await client.ping();
  }
}

const INFO = { name: 'conformance', version: '1' };

/** Hooks know the tools of a server by longer names than its client. */
function withLongNames(settings: string): string {
  return settings.replaceAll(String.raw`\"read\"`, String.raw`\"mcp__files__read\"`);
}

async function serve(turn: Turn, socket: Socket): Promise<void> {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: turn.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      inputSchema: {
        ...parameters,
        properties: { ...parameters.properties },
        required: [...parameters.required],
      },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = turn.tools.find(({ name }) => name === params.name);
    const text = (await tool?.execute(params.arguments ?? {}, signal)) ?? '';
    return { content: [{ type: 'text', text }] };
  });
  await server.connect(new StdioServerTransport(socket, socket));
}

async function loop(turn: Turn, client: Client) {
  const messages: SentRequest['messages'][number][] = [
    { role: 'system', text: turn.systemInstruction },
    { role: 'user', text: turn.prompt },
  ];
  for (;;) {
    const { tools } = await client.listTools();
    const request = { messages, tools: tools.map(({ name }) => name) };
    const { text, chunks, calls } = await turn.model(request, turn.signal);
    turn.signal.throwIfAborted();
    if (calls.length === 0) {
      for await (const piece of turn.stream ? chunks : []) {
        turn.signal.throwIfAborted();
        turn.show(piece);
      }
      return { text };
    }
    const results = await Promise.all(calls.map((call) => callTool(turn, client, call)));
    turn.signal.throwIfAborted();
    messages.push(...results.map((result) => ({ role: 'tool' as const, text: result })));
  }
}

/** What the model reads of it. */
async function callTool({ signal }: Turn, client: Client, { name, args }: ModelAnswerCall) {
  try {
    const call = { name, arguments: { ...args } };
    const result = await client.callTool(call, CallToolResultSchema, { signal });
    const { content, isError } = CallToolResultSchema.parse(result);
    const texts = content.map((block) => (block.type === 'text' ? block.text : block.type));
    return `${isError ? 'isError: ' : ''}${texts.join('\n')}`;
  } catch (error) {
    return String(error);
  }
}
