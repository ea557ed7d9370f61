// node bareServer.mjs: what nobody can be faster than. A server of Node over HTTP, and a subscription in a queue group
// over NATS, each of which parses the question and answers as much as a policy server without hooks does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { connect, usernamePasswordAuthenticator } from '@nats-io/transport-node';
import { answerRequests } from '../answerRequests.mjs';
import { NO_HOOKS } from './question.mjs';

const HOOK = fileURLToPath(new URL('bareHook.mjs', import.meta.url));

answerRequests({ listen, subscribe });

async function listen() {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      if (request.url === '/hook') askHook(text, (body) => send(response, body));
      else send(response, answer(text));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${server.address().port}/`;
}

function send(response, body) {
  const length = Buffer.byteLength(body);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': length });
  response.end(body);
}

let hook;
const waiting = [];

/** Puts one question after the other to a process. */
function askHook(text, resolve) {
  if (!hook) {
    hook = spawn(process.execPath, [HOOK], { stdio: ['pipe', 'pipe', 'inherit'] });
    hook.stdout.setEncoding('utf8').on('data', takeAnswer);
  }
  JSON.parse(text);
  waiting.push({ text, resolve });
  if (waiting.length === 1) askNext();
}

function askNext() {
  if (waiting.length > 0) hook.stdin.write(`{"id":1,"input":${waiting[0].text}}\n`);
}

function takeAnswer(line) {
  const { resolve } = waiting.shift();
  askNext();
  resolve(JSON.stringify(JSON.parse(line).output));
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
