// node fleetHost.mjs AGENTS SECONDS MS THINK_MS: so many agents ask one server, half of them over HTTP and half over
// NATS, as a fleet does: each thinks between its calls, and few of the calls concern the policy. Looks whether each gets
// its own answer, and prints as JSON how long that took, and what the server is left with. Started by launchHost.mjs.
import { spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { connect, headers as natsHeaders } from '@nats-io/transport-node';
import { atMost, exactly } from './figures.mjs';
import { compare, startServer } from './policyServer.mjs';

const CONNECTIONS = { http: 256, nats: 64 };
/** Ms that an agent waits, and the server keeps its answer. */
const TIMEOUT_MS = 5000;
const ID = 'Hookstack-Question';
/** Bytes of an argument, as an agent has that writes a file. */
const CONTENT = 'x'.repeat(2000);

/** `thinkMs` is how long an agent thinks between two questions, on average. */
const [agents, seconds, withinMs, thinkMs] = process.argv.slice(2).map(Number);
const home = mkdtempSync(path.join(tmpdir(), 'hookstack-soak-'));
const tokens = Array.from({ length: agents }, (_, number) => `token-of-the-agent-${number}`);
const broker = await startBroker();
const server = await startServer(
  home,
  {
    'policy.json': JSON.stringify({
      enableHooks: true,
      hooks: {
        BeforeTool: [
          {
            matcher: '^write_file$',
            hooks: [
              {
                type: 'rule',
                name: 'no-production',
                when: 'write_file(prod/**)',
                decision: 'deny',
                reason: 'Production is frozen.',
              },
            ],
          },
        ],
      },
    }),
    tokens: tokens.map((token, number) => `${nameOf(number, '/')} ${token}\n`).join(''),
  },
  ['--tokens', 'tokens', '--nats', broker.url, '--name', 'soak', '--no-record'],
);
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS.http });
const links = await Promise.all(
  Array.from({ length: CONNECTIONS.nats }, () => connect({ servers: broker.url })),
);
/** What waits for an answer over NATS, by the id of the question. */
const waiting = new Map();
for (const [index, link] of links.entries()) {
  const hear = (error, message) => waiting.get(message?.subject.split('.').at(-1))?.(message);
  link.subscribe(`_INBOX.*.*.${index}.*`, { callback: hear });
}
const figures = { asked: 0, lost: 0, wrong: 0 };
const over = new AbortController();
setMaxListeners(0, over.signal);
/** Ms of each answer, by the way that it came. */
const times = { http: [], nats: [] };

const fresh = await server.take({ isQuiet: false });
const living = tokens.map((_, number) => live(number));
// By then, each has asked, and all that is kept for a while is there.
await setTimeout(Math.max(thinkMs + TIMEOUT_MS, seconds * 100));
const before = await server.take({ isQuiet: false });
await setTimeout(seconds * 1000);
const after = await server.take({ isQuiet: false });
over.abort();
await Promise.all(living);
agent.destroy();
await Promise.all(links.map((link) => link.close()));
const { descriptors } = await server.take();
const code = await server.end();
await broker.end();
const answered = figures.asked - figures.lost;
console.log(
  JSON.stringify([
    exactly(
      `Questions of ${agents} agents without an answer`,
      0,
      figures.lost,
      `${answered} in ${seconds} s, and before`,
    ),
    exactly('Answers to something else', 0, figures.wrong),
    ...Object.entries(times).map(([way, each]) => {
      const sorted = each.toSorted((a, b) => a - b);
      const at = (part) => Math.round((sorted[Math.floor(part * sorted.length)] ?? 0) * 10) / 10;
      const others = `half within ${at(0.5)}, all within ${at(1 - 1e-9)}`;
      return atMost(`Ms within which 99 % are answered, over ${way}`, withinMs, at(0.99), others);
    }),
    ...compare({ ...before, descriptors: fresh.descriptors }, { ...after, descriptors }, 4096),
    exactly('Its exit code', 0, code),
  ]),
);
rmSync(home, { recursive: true, force: true });

function nameOf(number, separator) {
  return `team${number % 50}${separator}agent${number}`;
}

/** Asks, thinks, and so on. */
async function live(number) {
  await think(Math.random());
  while (!over.signal.aborted) {
    await ask(number);
    await think(0.5 + Math.random());
  }
}

async function think(share) {
  await setTimeout(share * thinkMs, undefined, over).catch(() => undefined);
}

async function ask(number) {
  const isFrozen = figures.asked % 10 === 0;
  figures.asked += 1;
  const id = `${number}-${figures.asked}`;
  const tool_input = { file_path: `${isFrozen ? 'prod' : 'src'}/${id}`, content: CONTENT };
  const tool_name = isFrozen || figures.asked % 2 === 0 ? 'write_file' : 'read_file';
  const body = JSON.stringify({
    hook_event_name: 'BeforeTool',
    session_id: id,
    tool_name,
    tool_input,
  });
  const fields = {
    [ID]: id,
    'Hookstack-Timeout': String(TIMEOUT_MS),
    'Hookstack-Version': '1',
  };
  const way = number % 2 === 0 ? 'http' : 'nats';
  const startedAt = performance.now();
  try {
    const said = JSON.parse(await (way === 'http' ? askHttp : askNats)(number, body, fields));
    times[way].push(performance.now() - startedAt);
    const isRight = said.hookstack?.question === id && (said.decision === 'deny') === isFrozen;
    if (isRight) return;
    figures.wrong += 1;
    console.error(JSON.stringify(said));
  } catch (error) {
    figures.lost += 1;
    console.error(String(error));
  }
}

async function askHttp(number, body, fields) {
  const headers = {
    'Content-Type': 'application/json',
    Authorization: `Bearer ${tokens[number]}`,
    ...fields,
  };
  const sent = request(`${server.url}/v1/events`, { agent, method: 'POST', headers });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return textOf(response);
}

/** As an agent may: the answer is to come to its own inbox. */
async function askNats(number, body, fields) {
  const headers = natsHeaders();
  for (const [name, value] of Object.entries(fields)) headers.set(name, value);
  const [index, name, id] = [number % links.length, nameOf(number, '.'), fields[ID]];
  const answer = new Promise((resolve) => waiting.set(id, resolve));
  links[index].publish(`hooks.ask.${name}`, body, {
    headers,
    reply: `_INBOX.${name}.${index}.${id}`,
  });
  const late = setTimeout(TIMEOUT_MS, undefined, { ref: false });
  const message = await Promise.race([answer, late]);
  waiting.delete(id);
  if (!message) throw new Error('There is no answer over NATS');
  return message.string();
}

async function startBroker() {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  free.close();
  await once(free, 'close');
  const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  const url = `nats://127.0.0.1:${port}`;
  await Promise.race([connect({ servers: url, waitOnFirstConnect: true }), failed]).then((link) =>
    link.close(),
  );
  return {
    url,
    end: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
