import { mkdir, rm, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import type { Fleet } from './fleet.js';

/** A machine of its own for agents: a network namespace, and a cable to the broker. Only root can have one. */
export class TestNetwork {
  /** The address of the broker as servers see it, and as agents of the other machine do. */
  readonly here: string;
  readonly there: string;

  /** @param name of at most 13 characters */
  static async open(fleet: Fleet, name: string): Promise<TestNetwork> {
    const network = new TestNetwork(name, fleet.nats.port);
    fleet.onClose(() => network.#close());
    await ip('netns', 'add', name);
    await ip('link', 'add', `${name}a`, 'type', 'veth', 'peer', 'name', `${name}b`);
    await ip('link', 'set', `${name}b`, 'netns', name);
    await ip('addr', 'add', `${HERE}/30`, 'dev', `${name}a`);
    await ip('-n', name, 'addr', 'add', `${THERE}/30`, 'dev', `${name}b`);
    await ip('-n', name, 'link', 'set', 'lo', 'up');
    await ip('-n', name, 'link', 'set', `${name}b`, 'up');
    await network.mend();
    // Agents go without TLS to this machine alone, and there it has this name.
    await mkdir(`/etc/netns/${name}`, { recursive: true });
    await writeFile(`/etc/netns/${name}/hosts`, `${HERE} localhost\n`);
    return network;
  }

  private constructor(
    /** Of the namespace. */
    readonly name: string,
    port: number,
  ) {
    this.here = `nats://127.0.0.1:${port}`;
    this.there = `nats://localhost:${port}`;
  }

  async cut(): Promise<void> {
    await ip('link', 'set', `${this.name}a`, 'down');
  }

  async mend(): Promise<void> {
    await ip('link', 'set', `${this.name}a`, 'up');
  }

  async #close(): Promise<void> {
    await ip('netns', 'del', this.name).catch(() => undefined);
    await rm(`/etc/netns/${this.name}`, { recursive: true, force: true });
  }
}

/** Of the block that is kept for tests of networks. */
const HERE = '198.18.75.1';
const THERE = '198.18.75.2';

async function ip(...words: readonly string[]): Promise<void> {
  await execa('ip', words);
}
