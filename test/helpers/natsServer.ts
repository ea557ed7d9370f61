import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { connect } from 'node:net';

/** Users of `examples/fleet/nats-server.conf`, with the passwords that tests give them. */
export const FLEET_SECRETS = {
  one: 'one:password-of-one',
  two: 'two:password-of-two',
  policy: 'policy:password-of-policy',
} as const;

const CONFIG = path.resolve(import.meta.dirname, '../../examples/fleet/nats-server.conf');

/** A real nats-server, on a port of its own. */
export interface TestNats {
  readonly port: number;
  readonly pid: number;
  /** Where it stores the stream. */
  readonly store: string;
  /** `nats://127.0.0.1:PORT`. */
  readonly url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and with what it has stored. */
  restart(): Promise<void>;
  /** Ends it, and removes what it has stored. */
  dispose(): Promise<void>;
}

/**
 * Starts the nats-server of Debian's package.
 *
 * @param config path of its configuration. Default that of examples/fleet
 */
export async function startNats(config = CONFIG, extra: readonly string[] = []): Promise<TestNats> {
  const store = mkdtempSync(path.join(tmpdir(), 'nats-'));
  const port = await freePort();
  let child = await start(config, store, port, extra);
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    port,
    store,
    get pid() {
      return child.pid ?? 0;
    },
    url: `nats://127.0.0.1:${port}`,
    kill,
    restart: async () => {
      await kill();
      child = await start(config, store, port, extra);
    },
    dispose: async () => {
      await kill();
      rmSync(store, { recursive: true, force: true });
    },
  };
}

async function start(
  config: string,
  store: string,
  port: number,
  extra: readonly string[],
): Promise<ChildProcess> {
  for (const name of readdirSync(store))
    if (name.endsWith('.ports')) rmSync(path.join(store, name));
  const passwords = Object.entries(FLEET_SECRETS).map(([user, secret]) => [
    `FLEET_${user.toUpperCase()}`,
    secret.slice(user.length + 1),
  ]);
  const log = path.join(store, 'log');
  const child = spawn(
    'nats-server',
    ['-c', config, '-a', '127.0.0.1', '-p', String(port), '-l', log, ...extra],
    {
      stdio: 'ignore',
      env: {
        ...process.env,
        FLEET_STORE: path.join(store, 'jetstream'),
        ...Object.fromEntries(passwords),
      },
    },
  );
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  for (let tries = 0; !(await answers(port)); tries++) {
    if (failure)
      throw new Error(
        `nats-server cannot be started (${failure.message}): apt-get install nats-server`,
      );
    if (child.exitCode !== null || tries > 1000)
      throw new Error(`nats-server: ${readFileSync(log, 'utf8')}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return child;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });
}

/** A port that nobody listens to just now. */
export async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
