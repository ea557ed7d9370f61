import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { headers as newHeaders, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { approvalRoutes } from '../../src/cli/serve/approvals/approvalRoutes.js';
import { answerQuestion, type PutReply } from '../../src/cli/serve/approvals/approvalQuestions.js';
import { KvBoard, type KvBoardOptions } from '../../src/cli/serve/approvals/kvBoard.js';
import { KvSessions } from '../../src/cli/serve/approvals/kvSessions.js';
import type { Approvers } from '../../src/cli/serve/approvals/signIn.js';
import {
  peopleWithTokens,
  proofOf,
  type People,
  type TokenHolders,
} from '../../src/cli/shared/people/people.js';
import { keyOf } from '../../src/cli/serve/approvals/storedQuestion.js';
import type { Roles } from '../../src/cli/shared/people/roles.js';
import { connectNats } from '../../src/fleet/natsConnection.js';
import type { PostApproval } from '../../src/fleet/fleetApprover.js';
import type { ApprovalRequest } from '../../src/protocol/approval.js';
import { HookEventName } from '../../src/protocol/types.js';
import { FLEET_SECRETS, type TestNats } from '../helpers/natsServer.js';

let questions = 0;

export function requestOf(change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const input = { command: 'rm -rf build' };
  return {
    id: `question-${(questions += 1)}-${process.pid}`,
    event: HookEventName.BeforeTool,
    hooks: [{ name: 'careful', source: 'project', reason: 'it removes something' }],
    reason: 'it removes something',
    toolName: 'run_shell_command',
    input,
    originalInput: input,
    sessionId: 'session-1',
    workingDir: '/work/here',
    expiresAt: Date.now() + 20_000,
    ...change,
  };
}

export async function connectAs(
  nats: TestNats,
  user: keyof typeof FLEET_SECRETS,
): Promise<NatsConnection> {
  return connectNats({
    address: { server: `127.0.0.1:${nats.port}`, tls: false },
    secret: FLEET_SECRETS[user],
    name: `test ${user}`,
    ...(user !== 'policy' && { inboxPrefix: `_INBOX.acme.${user}` }),
  });
}

/** A server: its own connection, its board, its page, and its answers over NATS. */
export interface TestServer {
  readonly board: KvBoard;
  readonly nc: NatsConnection;
  readonly origin: string;
  readonly lines: string[];
  /** Lines of which few are told. */
  readonly refused: string[];
  readonly approvers: Approvers;
  /** As a network that fails for a moment. */
  drop(): void;
  /** As a crash: nothing is said to anybody. */
  kill(): Promise<void>;
}

export interface TestServerOptions extends KvBoardOptions {
  readonly people?: People;
  readonly roles?: Roles;
  readonly port?: number;
}

export function tokensOf(holders: Readonly<Record<string, string>>): TokenHolders {
  return new Map(Object.entries(holders).map(([name, token]) => [proofOf(token), name]));
}

const TOKENS = tokensOf({ anna: 'token-of-anna-0123456789', ben: 'token-of-ben-0123456789' });

export async function startServer(
  nats: TestNats,
  { people = peopleWithTokens(TOKENS), roles, port = 0, ...options }: TestServerOptions = {},
): Promise<TestServer> {
  const nc = await connectAs(nats, 'policy');
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const refused: string[] = [];
  const sessions = new KvSessions();
  const approvers: Approvers = { people, sessions, roles };
  const board = new KvBoard({ log, newInMinute: 1000, sessions, ...options });
  await board.begin(nc);
  nc.subscribe('hooks.approve.*.*', {
    queue: 'policy',
    callback: (_, message) => {
      const [, , team, agent] = message.subject.split('.');
      const put = { from: `${team}/${agent}`, body: message.string(), header: () => undefined };
      void respond(message, answerQuestion(board, put));
    },
  });
  const routes = approvalRoutes({
    board,
    approvers,
    isTls: false,
    log,
    onFault: log,
    onRefused: (line) => void refused.push(line),
  });
  const server = createServer((request, response) => {
    void routes(request, response, () => true, 'acme/one').then(
      (isOurs) => isOurs || response.writeHead(418).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kill = () => end(server, nc, board);
  const drop = () => server.closeAllConnections();
  return { board, nc, origin, lines, refused, approvers, drop, kill };
}

async function respond(message: Msg, answering: Promise<PutReply>): Promise<void> {
  const { status, body } = await answering;
  const headers = newHeaders();
  headers.set('Hookstack-Status', String(status));
  message.respond(body, { headers });
}

async function end(server: Server, nc: NatsConnection, board: KvBoard): Promise<void> {
  await nc.close();
  await board.close();
  server.closeAllConnections();
  server.close();
}

/** A question of an agent that waits at a server, of which the server knows. */
export async function putQuestion(
  { board }: TestServer,
  change: Partial<ApprovalRequest> = {},
  from = 'acme/one',
) {
  const { expiresAt: _, ...request } = requestOf(change);
  const key = keyOf(from, request.id);
  const outcome = board.ask({ from, request, timeoutMs: 20_000, waitMs: 15_000 });
  while (!board.list().some((each) => each.key === key)) await setTimeout(5);
  return { outcome, key, takeBack: () => board.takeBack(from, request.id) };
}

/** How an agent reaches servers over NATS. */
export function postOver(nc: NatsConnection, agent: string): PostApproval {
  return async ({ body, timeoutMs }) => {
    const reply = await nc.request(`hooks.approve.acme.${agent}`, body, { timeout: timeoutMs });
    return { status: Number(reply.headers?.get('Hookstack-Status')), text: reply.string() };
  };
}

/** A person at the page of a server, without a browser. */
export async function signIn(origin: string, token: string) {
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const response = await post('/approvals/sign-in', { token });
  const { name, csrf } = (await response.json()) as { name: string; csrf: string };
  const setCookie = response.headers.get('set-cookie') ?? '';
  const cookie = setCookie.split(';')[0] ?? '';
  const own = { Cookie: cookie, 'Hookstack-Csrf': csrf };
  return { response, origin, name, csrf, cookie, setCookie, post, own };
}

type Person = Awaited<ReturnType<typeof signIn>>;

/** The same person at the page of another server. */
export function at(person: Person, origin: string): Person {
  const post: Person['post'] = (path, body, headers) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin, ...headers },
      body: JSON.stringify(body),
    });
  return { ...person, origin, post };
}

/** How a question has ended, as the page at a server is told, one after the other. */
export async function told(
  { cookie }: Person,
  origin: string,
  key: string,
  count: number,
): Promise<unknown[]> {
  const stream = await fetch(`${origin}/approvals/events`, { headers: { Cookie: cookie } });
  let text = '';
  for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    const overs = [...text.matchAll(/event: over\ndata: (.*)\n\n/gu)]
      .map(([, data = '']) => JSON.parse(data) as { key: string; state: string })
      .filter((over) => over.key === key);
    if (overs.length >= count) return overs.map(({ state }) => state);
  }
  throw new Error('the stream has ended');
}

/** What a page is told of a question. An answer repeats it. */
export interface Shown {
  readonly key: string;
  readonly revision: number;
  readonly digest: string;
  readonly shown: string;
  readonly may: string;
  readonly from: string;
  /** Ms until the answer is no. */
  readonly leftMs: number;
}

/** Reads the stream of the page until there is a question, or that one. */
export async function shownTo(person: Person, key?: string): Promise<Shown> {
  const stream = await fetch(`${person.origin}/approvals/events`, {
    headers: { Cookie: person.cookie },
  });
  let text = '';
  for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    for (const [, data = ''] of text.matchAll(/event: question\ndata: (.*)\n\n/gu)) {
      const question = JSON.parse(data) as Shown;
      if (key === undefined || question.key === key) return question;
    }
  }
  throw new Error('the stream has ended');
}

/** Answers once the question has been shown for long enough. */
export async function answerTo(
  { post, own }: Person,
  { key, revision, digest, shown }: Pick<Shown, 'key' | 'revision' | 'digest' | 'shown'>,
  said: object,
): Promise<Response> {
  const body = { revision, digest, shown, ...said };
  for (;;) {
    const response = await post(`/approvals/${key}`, body, own);
    if (response.status !== 425) return response;
    await setTimeout(50);
  }
}
