import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execa, type ResultPromise } from 'execa';
import { expect } from 'vitest';
import type { Config } from '../../../src/config/config.js';
import { executeToolWithHooks } from '../../../src/core/coreToolHookTriggers.js';
import { closeIdleLinks } from '../../../src/fleet/natsQuestions.js';
import { toParts } from '../../../src/protocol/llmContent.js';
import type { CommandHookConfig, HookDefinition } from '../../../src/protocol/types.js';
import { MAIN } from '../../cli/helpers.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../../helpers/natsServer.js';
import { fault, type Host } from './host.js';

/** A test with a fleet of its own: `nats-server`, and the policy servers that it starts. */
export const fleetFault = fault.extend<{ fleet: Fleet }>({
  fleet: async ({ host }, use) => {
    const fleet = new Fleet(host, await startNats(undefined, ['-a', '0.0.0.0']));
    try {
      await use(fleet);
    } finally {
      await fleet.close();
    }
  },
});

/** Ms in which something happens that need not happen at once. */
export const SOON = { timeout: 15_000, interval: 20 };

/** What a call of a tool came to. */
export interface Called {
  readonly ran: boolean;
  /** What the model reads. */
  readonly text: string;
  readonly ms: number;
}

interface ServeOptions {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** What Node is started with. */
  readonly node?: readonly string[];
  /** Where it finds NATS. Default: that of the fleet. */
  readonly nats?: string;
}

/** A policy server, in a process of its own. */
export class PolicyServer {
  #log = '';

  constructor(private readonly child: ResultPromise) {
    child.stderr?.on('data', (chunk: Buffer) => (this.#log += chunk.toString()));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** What it has told its operator. */
  get log(): string {
    return this.#log;
  }

  /** Bytes of memory. */
  get memory(): number {
    return memoryOf(this.pid);
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.child;
  }
}

/** A broker, policy servers with the hooks that are written here, and agents of this process. */
export class Fleet {
  readonly #closing: (() => Promise<unknown>)[] = [];
  #servers = 0;

  constructor(
    readonly host: Host,
    readonly nats: TestNats,
  ) {}

  /** Starts a policy server, and waits until it listens. Its URL is that of HTTP. */
  async serve(hooks: readonly HookDefinition[], options: ServeOptions = {}) {
    const { args = [], env = {}, node = [], nats = this.nats.url } = options;
    const number = (this.#servers += 1);
    const settings = { enableHooks: true, hooks: { BeforeTool: hooks } };
    const file = await this.host.write(`policy-${number}.json`, settings);
    const where = ['--nats', nats, '--token-file', this.secretFile('policy')];
    const words = [...node, MAIN, 'serve', '--settings', file, '--listen', '127.0.0.1:0', ...where];
    const child = execa(process.execPath, [...words, '--name', `p${number}`, ...args], {
      cwd: this.host.directory,
      env: { HOME: this.host.directory, NO_COLOR: '1', ...env },
      reject: false,
      buffer: false,
    });
    const server = new PolicyServer(child);
    this.onClose(() => server.kill());
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await expect.poll(() => said + server.log, SOON).toMatch(/listening on \S+\n/u);
    return { server, url: /http\S+/u.exec(said)?.[0] ?? '' };
  }

  /** A file of mode 600 with the secret of a user. */
  secretFile(user: keyof typeof FLEET_SECRETS): string {
    return this.writeSecret(`secret-${user}`, FLEET_SECRETS[user]);
  }

  writeSecret(name: string, secret: string): string {
    const file = path.join(this.host.directory, name);
    writeFileSync(file, secret, { mode: 0o600 });
    return file;
  }

  /** A guard that asks the servers over NATS. */
  guard(settings: Partial<CommandHookConfig> = {}): CommandHookConfig {
    const { url = `${this.nats.url}/acme/one`, timeout = 2000, ...others } = settings;
    const tokenFile = this.secretFile('one');
    const ours = { name: 'central', timeout, onFailure: 'deny', tokenFile } as const;
    return { ...ours, ...others, type: 'remote', command: '', url };
  }

  /** An agent of this process, all of whose calls of tools are asked about. */
  agent(settings: Partial<CommandHookConfig> = {}): Config {
    return this.host.createConfig({ hooks: { BeforeTool: [{ hooks: [this.guard(settings)] }] } });
  }

  /** Has something ended at the end of the test. */
  onClose(close: () => Promise<unknown>): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    await closeIdleLinks();
    for (const close of this.#closing) await close();
    await this.nats.dispose();
  }
}

/** Calls a tool. */
export async function callTool(
  config: Config,
  toolName: string,
  toolInput: Record<string, unknown> = {},
): Promise<Called> {
  let ran = false;
  const startedAt = performance.now();
  const { llmContent } = await executeToolWithHooks(config, toolName, toolInput, async () => {
    ran = true;
    return { llmContent: 'done', returnDisplay: 'done' };
  });
  const text = toParts(llmContent)
    .map((part) => part.text)
    .join('');
  return { ran, text, ms: performance.now() - startedAt };
}

/** Does work for each number from 0, so many at a time. */
export async function forEachOf(
  count: number,
  atATime: number,
  work: (n: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atATime }, lane));
}

/** Bytes that a process holds in memory. */
export function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1]) * 1024;
}

/** The same as a number of MiB. */
export function toMiB(bytes: number): number {
  return bytes / 1024 / 1024;
}
