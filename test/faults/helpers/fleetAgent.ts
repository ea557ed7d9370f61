import path from 'node:path';
import { createInterface } from 'node:readline';
import { execa, type ResultPromise } from 'execa';
import { expect } from 'vitest';
import type { CommandHookConfig } from '../../../src/protocol/types.js';
import { MAIN } from '../../cli/helpers.js';
import { fixture } from './childHost.js';
import { SOON, type Called, type Fleet } from './fleet.js';

export interface AgentOptions {
  /** Where it finds NATS. Default: that of the fleet. */
  readonly nats?: string;
  readonly guard?: Partial<CommandHookConfig>;
  readonly env?: Record<string, string>;
  /** What Node is started with. */
  readonly node?: readonly string[];
  /** Of networks, in which it runs. */
  readonly namespace?: string;
}

interface Answer {
  resolve(called: Called): void;
  reject(error: Error): void;
}

/** An agent in a process of its own, with a record, and the home directory of the test. */
export class AgentProcess {
  readonly #waiting = new Map<number, Answer>();
  #calls = 0;
  #isReady = false;
  #log = '';

  /** Starts it, and waits until it takes calls. */
  static async start(fleet: Fleet, options: AgentOptions = {}): Promise<AgentProcess> {
    const { nats = fleet.nats.url, guard, env, node = [], namespace } = options;
    const inside = namespace ? ['netns', 'exec', namespace, process.execPath] : [];
    const url = `${nats}/acme/one`;
    const settings = {
      fleet: { url, tokenFile: fleet.secretFile('one'), record: true },
      guard: fleet.guard({ url, ...guard }),
    };
    const words = [
      ...node,
      fixture('fleetAgent.mjs'),
      path.dirname(MAIN),
      JSON.stringify(settings),
    ];
    const agent = new AgentProcess(
      execa(namespace ? 'ip' : process.execPath, [...inside, ...words], {
        cwd: fleet.host.directory,
        env: { HOME: fleet.host.directory, ...env },
        reject: false,
        buffer: false,
      }),
    );
    fleet.onClose(() => agent.kill());
    await expect.poll(() => agent.#isReady || agent.log, SOON).toBe(true);
    return agent;
  }

  private constructor(private readonly child: ResultPromise) {
    child.stderr?.on('data', (chunk: Buffer) => (this.#log += chunk.toString()));
    createInterface({ input: child.stdout! }).on('line', (line) => this.#take(line));
    child.then(
      () => this.#giveUp(),
      () => this.#giveUp(),
    );
  }

  /** How many calls have come to an end. */
  answered = 0;

  /** What it has told its user. */
  get log(): string {
    return this.#log;
  }

  /** Calls a tool. Rejects where the process ends before. */
  call(tool: string, input: Record<string, unknown> = {}): Promise<Called> {
    const id = (this.#calls += 1);
    this.child.stdin!.write(`${JSON.stringify({ id, tool, input })}\n`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Lets it send its record, and end. */
  async end(): Promise<void> {
    this.child.stdin!.end();
    await this.child;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.child;
  }

  #giveUp(): void {
    const error = new Error(`The agent has ended: ${this.#log}`);
    for (const waiting of this.#waiting.values()) waiting.reject(error);
  }

  #take(line: string): void {
    const said = JSON.parse(line) as Called & { id?: number };
    if (said.id === undefined) this.#isReady = true;
    else {
      this.answered += 1;
      this.#waiting.get(said.id)?.resolve(said);
    }
  }
}
