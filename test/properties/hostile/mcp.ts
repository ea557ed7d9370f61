import { PassThrough } from 'node:stream';
import { LineSplitter, Outlet } from '../../../src/cli/mcp/lines.js';
import { McpProxy } from '../../../src/cli/mcp/proxy.js';
import type { Config } from '../../../src/config/config.js';
import { callModel, requestOf } from './engine.js';
import { checkGuards, compare, compareOffers, type Outcome } from './judge.js';
import { TOOLS, type HostileSet, type ModelCallOf } from './sets.js';
import type { World } from './worlds.js';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name?: unknown; readonly arguments?: unknown };
  readonly result?: { readonly tools?: readonly { readonly name: string }[] };
}

/** What the server calls a tool. */
const ofServer = (name: string) => name.replace(/^mcp__files__/u, '');

const fullName = (name: string) => `mcp__files__${name}`;

/** What the server answers to a request. */
function serve(set: HostileSet, ran: unknown[], { method, params }: Message): object {
  if (method === 'tools/list') {
    return {
      tools: TOOLS.map((name) => ({ name: ofServer(name), inputSchema: { type: 'object' } })),
    };
  }
  ran.push({ name: params?.name, args: params?.arguments ?? {} });
  const { text, isFailure, isList } = set.result;
  return {
    content: [{ type: 'text', text, ...(isList && { annotations: { audience: [text] } }) }],
    ...(isList && { structuredContent: { text }, _meta: { text } }),
    ...(isFailure && { isError: true }),
  };
}

interface Session extends Outcome {
  readonly offered: readonly string[];
}

async function run(
  world: World,
  config: Config,
  set: HostileSet,
  { name, args }: ModelCallOf,
): Promise<Session> {
  world.play(config, set);
  const ran: unknown[] = [];
  const [fromClient, toClient, fromServer, toServer] = Array.from(
    { length: 4 },
    () => new PassThrough(),
  ) as [PassThrough, PassThrough, PassThrough, PassThrough];
  const proxy = new McpProxy({
    name: 'files',
    client: new Outlet(toClient),
    configFor: async () => config,
    warn: () => undefined,
  });
  const sessions = [
    proxy.readServer(fromServer),
    proxy.readClient(fromClient, new Outlet(toServer)),
  ];
  const answers = new Outlet(fromServer);
  eachLine(toServer, (message) => {
    const result = serve(set, ran, message);
    answers.send({ jsonrpc: '2.0', id: message.id, result });
  });
  const ask = async (id: number, method: string, params: object) => {
    const answered = new Promise<Message>((resolve) =>
      eachLine(toClient, (message) => message.id === id && resolve(message)),
    );
    fromClient.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answered;
  };
  const { result: listed } = await ask(1, 'tools/list', {});
  const offered = (listed?.tools ?? []).map((tool) => tool.name);
  const read = JSON.stringify(await ask(2, 'tools/call', { name, arguments: args }));
  fromClient.end();
  fromServer.end();
  await Promise.all(sessions);
  const isStopped = read.includes('The agent is to stop: ');
  return { ran, read, shown: '', isHidden: false, isStopped, offered };
}

function eachLine(stream: PassThrough, take: (message: Message) => unknown): void {
  const lines = new LineSplitter((line) => line && take(JSON.parse(line.toString()) as Message));
  stream.on('data', (chunk: Buffer) => lines.push(chunk));
}

/** A tool of an MCP server, through the proxy. */
export async function checkMcp(world: World, set: HostileSet): Promise<void> {
  const call = { ...set.call, name: ofServer(set.call.name) };
  const again = (ran: unknown) => run(world, world.alone, set, ran as ModelCallOf);
  const all = await run(world, world.all, set, call);
  const offers = await callModel(world, world.alone, set, requestOf(set));
  compareOffers(all.offered.map(fullName), offers.offered);
  compareOffers(
    all.ran.map((each) => fullName((each as ModelCallOf).name)),
    offers.offered,
  );
  checkGuards(world.shape, set, all);
  await compare(all, () => again(call), again, world.shape.sequential);
}
