import assert from 'node:assert/strict';
import http from 'node:http';
import { connect, usernamePasswordAuthenticator } from '@nats-io/transport-node';
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
  bareNats: requesting,
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

/** As bare as Node can ask, with the headers that a question has. */
function posting(url) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 256, scheduling: 'lifo' });
  return (toolName) =>
    new Promise((resolve, reject) => {
      const body = bodyOf(toolName);
      const headers = {
        'content-type': 'application/json',
        'content-length': body.byteLength,
        'hookstack-question': nextId(ASKER),
        'hookstack-version': '1',
        'hookstack-timeout': String(TIMEOUT_MS),
      };
      const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () =>
          response.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(text)),
        );
      });
      request.on('error', reject);
      request.end(body);
    });
}

/** As bare as the client of NATS can ask. */
async function requesting({ server }, group) {
  const user = `${ASKER}-${group}`;
  const authenticator = usernamePasswordAuthenticator(user, passwordOf(user));
  const inboxPrefix = `_INBOX.acme.${ASKER}`;
  const connection = await connect({ servers: server, authenticator, inboxPrefix });
  return async (toolName) => {
    const options = { timeout: TIMEOUT_MS };
    return (await connection.request(BARE_SUBJECT, bodyOf(toolName), options)).json();
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
