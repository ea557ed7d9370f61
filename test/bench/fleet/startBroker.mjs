import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** How many policy servers share the questions of each account. */
export const GROUPS = { ONE: 1, TWO: 2, FOUR: 4 };
/** The agents that are simulated, all of them in the account TWO. */
export const AGENTS = 1000;
/** Whose questions are measured one by one, or many at a time. */
export const ASKER = 'asker';
/** Where a bare server answers. */
export const BARE_SUBJECT = 'bench.bare';

/**
 * @param {string} user
 * @returns {string} which is measured, and no secret
 */
export function passwordOf(user) {
  return `password-of-${user}`;
}

/** @returns {string} such as `nats-server 2.9.10` */
export function brokerVersion() {
  try {
    const said = execFileSync('nats-server', ['--version'], { encoding: 'utf8' });
    return said.trim().replace(': v', ' ');
  } catch (cause) {
    throw new Error('There is no nats-server: apt-get install nats-server', { cause });
  }
}

/**
 * Starts a nats-server in which each agent has a user of its own, as in examples/fleet.
 *
 * @param {string} directory for what it stores
 * @returns {Promise<{ pid: number, server: string, close: () => Promise<void> }>} `server` is `host:port`
 */
export async function startBroker(directory) {
  const port = await freePort();
  const file = path.join(directory, 'nats.conf');
  await writeFile(file, configOf(port, path.join(directory, 'nats')));
  const child = spawn('nats-server', ['-c', file, '-l', path.join(directory, 'nats.log')]);
  const ended = once(child, 'exit');
  while (!(await isListening(port))) {
    if (child.exitCode !== null)
      throw new Error(`nats-server has ended: see ${directory}/nats.log`);
    await setTimeout(20);
  }
  return {
    pid: child.pid,
    server: `127.0.0.1:${port}`,
    close: async () => {
      child.kill();
      await ended;
    },
  };
}

function configOf(port, store) {
  const accounts = Object.keys(GROUPS).map((group) => {
    const more = group === 'TWO' ? Array.from({ length: AGENTS }, (_, index) => `a${index}`) : [];
    const agents = [ASKER, ...more].map((agent) => agentOf(group, agent));
    const all = [userOf(`policy-${group}`, ''), ...agents];
    return `${group}: { jetstream: enabled, users: [\n${all.join('\n')}\n] }`;
  });
  return `listen: 127.0.0.1:${port}
max_payload: 8MB
jetstream { store_dir: ${JSON.stringify(store)}, max_memory_store: 1GB, max_file_store: 4GB }
accounts { ${accounts.join('\n')} }
`;
}

function agentOf(group, agent) {
  const own = ['ask', 'at.*', 'approve', 'event'].map((what) => `hooks.${what}.acme.${agent}`);
  const publish = agent === ASKER ? [...own, BARE_SUBJECT] : own;
  const permissions = { publish, subscribe: [`_INBOX.acme.${agent}.>`] };
  return userOf(`${agent}-${group}`, `, permissions: ${JSON.stringify(permissions)}`);
}

function userOf(user, more) {
  return `{ user: ${JSON.stringify(user)}, password: ${JSON.stringify(passwordOf(user))}${more} }`;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => socket.destroy());
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
}
