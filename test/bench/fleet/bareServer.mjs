// node bareServer.mjs: what nobody can be faster than. A server of Node over HTTP, and a subscription in a queue group
// over NATS, each of which parses the question and answers as much as a policy server without hooks does.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, usernamePasswordAuthenticator } from '@nats-io/transport-node';
import { answerRequests } from '../answerRequests.mjs';
import { NO_HOOKS } from './question.mjs';

answerRequests({ listen, subscribe });

async function listen() {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = answer(Buffer.concat(chunks).toString());
      const length = Buffer.byteLength(body);
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': length });
      response.end(body);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${server.address().port}/`;
}

async function subscribe({ server, user, password, subject }) {
  const authenticator = usernamePasswordAuthenticator(user, password);
  const connection = await connect({ servers: server, authenticator });
  connection.subscribe(subject, { queue: 'bare', callback: respond });
  await connection.flush();
}

function respond(error, message) {
  if (error) throw error;
  message.respond(answer(message.string()));
}

function answer(text) {
  const { hook_event_name: event } = JSON.parse(text);
  return event === 'BeforeTool' ? JSON.stringify(NO_HOOKS) : '{}';
}
