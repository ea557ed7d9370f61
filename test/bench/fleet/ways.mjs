import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTo } from 'node:net';
import {
  connect,
  headers as newHeaders,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { askOverNats, closeIdleLinks } from '../../../dist/chunks/natsQuestions.js';
import { Config } from '../../../dist/index.js';
import { questionAbout, TOOL_INPUT, UNGUARDED } from './question.mjs';
import { ASKER, BARE_SUBJECT, passwordOf } from './startBroker.mjs';
import { writeSecret } from './startServers.mjs';

const TIMEOUT_MS = 10_000;

/**
 * The ways to put a question, by what they are measured as. Each gives a function that asks about a tool, and resolves
 * with the answer as an object.
 *
 * @typedef {(toolName: string) => Promise<object>} Ask
 * @typedef {{ server: string, bareUrl: string, url: string, directory: string }} Places
 * @type {Record<string, (places: Places, group: string) => Promise<Ask>>}
 */
export const WAYS = {
  bareHttp: async ({ bareUrl }) => posting(new URL(bareUrl)),
  at: async (_places, url) => posting(new URL(url)),
  bareHook: async ({ bareUrl }) => posting(new URL('hook', bareUrl)),
  http: async ({ url }) => posting(new URL('/v1/events/BeforeTool', url)),
  httpHook: async ({ url }) => firing({ url: new URL('/v1/events/BeforeTool', url).href }),
  bareNats: requesting(BARE_SUBJECT),
  natsRequest: requesting(`hooks.ask.acme.${ASKER}`),
  nats: async ({ server }, group) => asking(server, group, ASKER),
  natsHook: async ({ server, directory }, group) => {
    const tokenFile = await writeSecret(directory, `${ASKER}-${group}`);
    return firing({ url: `nats://${server}/acme/${ASKER}`, tokenFile });
  },
};

/**
 * @param {string} server of NATS
 * @param {string} group
 * @param {string} agent
 * @returns {Ask} as remote hooks do it, on a connection of this agent's own
 */
export function asking(server, group, agent) {
  const address = { kind: 'nats', server, tls: false, team: 'acme', agent };
  const user = `${agent}-${group}`;
  const secret = `${user}:${passwordOf(user)}`;
  return async (toolName) => {
    const question = { id: nextId(agent), timeoutMs: TIMEOUT_MS };
    const { status, text } = await askOverNats(address, {
      secret,
      question,
      text: bodyOf(toolName),
    });
    assert.equal(status, 200, text);
    return JSON.parse(text);
  };
}

export { closeIdleLinks };

/** The whole way of an agent: from the event that it fires to what all hooks said. */
async function firing(remote) {
  const hooks = { BeforeTool: [{ hooks: [{ type: 'remote', timeout: TIMEOUT_MS, ...remote }] }] };
  const config = new Config({ enableHooks: true, hooks });
  const system = config.getHookSystem();
  await system.initialize();
  const handler = system.getEventHandler();
  return async (toolName) => {
    const { success, results, errors } = await handler.fireBeforeToolEvent(toolName, TOOL_INPUT);
    assert.ok(success && results.length === 1, String(errors?.[0] ?? 'no hook was asked'));
    return {};
  };
}

/** As bare as Node can ask, with the headers that a question has: what asks must not take longer than what answers. */
function posting({ hostname, port, pathname }) {
  const idle = [];
  const head = `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nHookstack-Version: 1\r\nHookstack-Timeout: ${TIMEOUT_MS}`;
  return async (toolName) => {
    let socket = idle.pop();
    if (!socket || socket.destroyed) {
      socket = connectTo(port, hostname).setNoDelay();
      await once(socket, 'connect');
    }
    const body = bodyOf(toolName);
    const own = `Content-Length: ${body.length}\r\nHookstack-Question: ${nextId(ASKER)}`;
    const answered = answerOn(socket);
    socket.write(`${head}\r\n${own}\r\n\r\n${body}`);
    const { status, text } = await answered;
    idle.push(socket);
    assert.equal(status, '200', text);
    return JSON.parse(text);
  };
}

/** Of a server that says the length of its answer. */
function answerOn(socket) {
  return new Promise((resolve, reject) => {
    let said = '';
    const end = (settle, value) => {
      socket.off('data', read).off('close', gone).off('error', gone);
      settle(value);
    };
    const gone = () => end(reject, new Error(`The server has gone after: ${said}`));
    const read = (chunk) => {
      said += chunk;
      const at = said.indexOf('\r\n\r\n') + 4;
      if (at < 4) return;
      const text = said.slice(at);
      const [, length] = /\r\ncontent-length: (\d+)/i.exec(said);
      if (Buffer.byteLength(text) < Number(length)) return;
      end(resolve, { status: said.slice(9, 12), text });
    };
    socket.on('data', read).once('close', gone).once('error', gone);
  });
}

/** As bare as the client of NATS can ask, with the headers that a question has. */
function requesting(subject) {
  return async ({ server }, group) => {
    const user = `${ASKER}-${group}`;
    const authenticator = usernamePasswordAuthenticator(user, passwordOf(user));
    const inboxPrefix = `_INBOX.acme.${ASKER}`;
    const connection = await connect({ servers: server, authenticator, inboxPrefix });
    return async (toolName) => {
      const headers = newHeaders();
      headers.set('Hookstack-Question', nextId(ASKER));
      headers.set('Hookstack-Version', '1');
      headers.set('Hookstack-Timeout', String(TIMEOUT_MS));
      const options = { timeout: TIMEOUT_MS, headers };
      return (await connection.request(subject, bodyOf(toolName), options)).json();
    };
  };
}

const bodies = new Map();

function bodyOf(toolName = UNGUARDED) {
  if (!bodies.has(toolName)) bodies.set(toolName, questionAbout(toolName));
  return bodies.get(toolName);
}

let asked = 0;

function nextId(agent) {
  asked += 1;
  return `${agent}-${process.pid}-${asked}`;
}
