import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { connectNats } from '../../src/fleet/natsConnection.js';
import { askOverNats, closeIdleLinks, type AskOptions } from '../../src/fleet/natsQuestions.js';
import { newQuestionId } from '../../src/fleet/question.js';
import { FLEET_SECRETS, startNats, type TestNats } from './natsServer.js';

/** A server for the tests of a file. What a test adds to `closing` is closed after it, and connections of agents are. */
export function useNats() {
  const nats = {} as TestNats;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    // With its getters.
    Object.defineProperties(nats, Object.getOwnPropertyDescriptors(await startNats()));
  });
  afterEach(async () => {
    await closeIdleLinks();
    for (const close of closing.splice(0)) await close();
  });
  afterAll(() => nats.dispose());
  return { nats, closing };
}

/** The address of an agent of the team `acme`. */
export function agentAt(nats: TestNats, agent = 'one') {
  return {
    kind: 'nats',
    server: `127.0.0.1:${nats.port}`,
    tls: false,
    team: 'acme',
    agent,
  } as const;
}

type Question = Partial<AskOptions> & {
  id?: string;
  timeoutMs?: number;
  agent?: string;
  json?: string;
};

/** Asks as agent `one`, where nothing else is said. */
export function ask(nats: TestNats, { id, timeoutMs, agent, json, ...options }: Question = {}) {
  return askOverNats(agentAt(nats, agent), {
    secret: FLEET_SECRETS.one,
    question: { id: id ?? newQuestionId(), timeoutMs: timeoutMs ?? 5000 },
    text: new TextEncoder().encode(json ?? '{"n":1}'),
    ...options,
  });
}

/** A client of the library with the rights of a user. */
export function rawClient(nats: TestNats, user: keyof typeof FLEET_SECRETS, inboxPrefix?: string) {
  return connectNats({
    address: agentAt(nats),
    secret: FLEET_SECRETS[user],
    name: 'raw',
    ...(inboxPrefix !== undefined && { inboxPrefix }),
  });
}

/** Publishes `{}` with lines for headers, which the library would not send. */
export async function publishRaw(
  { port }: TestNats,
  user: keyof typeof FLEET_SECRETS,
  { subject, reply = '', headers }: { subject: string; reply?: string; headers: string },
): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const [name, pass] = FLEET_SECRETS[user].split(':');
  const head = `NATS/1.0\r\n${headers}\r\n\r\n`;
  socket.write(
    `CONNECT ${JSON.stringify({ user: name, pass, headers: true, verbose: false })}\r\n`,
  );
  socket.write(
    `HPUB ${subject} ${reply} ${head.length} ${head.length + 2}\r\n${head}{}\r\nPING\r\n`,
  );
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    if (chunk.includes('PONG\r\n')) break;
    if (chunk.includes('-ERR')) throw new Error(chunk.toString());
  }
  socket.destroy();
}
