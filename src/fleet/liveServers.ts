import type { NatsConnection } from '@nats-io/transport-node';
import { parseAnswer } from '../protocol/readHookOutput.js';
import { isFleetName } from './address.js';
import { directSubject, type Question } from './question.js';

/** Ms of silence after which servers are asked whether one has the question, and the longest until that is asked again. */
const SILENCE_MS = 1000;
const LONGEST_MS = 16_000;
/** Ms after which, while a server is left out, it is asked whether it is back. */
const LOOK_MS = 3000;

/**
 * Whom an agent asks. NATS gives each server its share, also one that hangs: a question without an answer that no
 * server has is put to one that says it is there, and so are the next ones.
 */
export class LiveServers {
  /** While another one hangs. */
  #live: readonly string[] = [];
  #turn = 0;
  #lookedAt = 0;
  /** For whoever has waited in vain: why no other server was asked. `undefined` where one had the question. */
  advice: string | undefined;

  /** @param who asks: `team.agent` */
  constructor(
    private readonly connection: NatsConnection,
    private readonly who: string,
  ) {}

  /** The subject of the next one to ask; `undefined` leaves it to NATS. */
  next(): string | undefined {
    if (this.#live.length === 0) return undefined;
    if (performance.now() - this.#lookedAt > LOOK_MS) void this.#lookForMore(this.#live);
    return directSubject(this.#live[(this.#turn += 1) % this.#live.length], this.who);
  }

  /** Leaves it to NATS again. */
  forget(): void {
    this.#live = [];
  }

  /** Has a question put again where no server has it, until the signal aborts. */
  follow({ id, timeoutMs }: Question, signal: AbortSignal, putAgain: () => void): void {
    const silence = Math.min(SILENCE_MS, timeoutMs / 4);
    let timer: NodeJS.Timeout;
    const wait = (ms: number) => (timer = setTimeout(() => void check(ms), ms).unref());
    const check = async (ms: number) => {
      const servers = await this.#look(silence / 2, id);
      if (signal.aborted) return;
      if (servers && servers.length > 0) {
        this.#live = servers;
        putAgain();
      }
      wait(Math.min(ms * 2, LONGEST_MS));
    };
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    wait(silence);
  }

  async #lookForMore(known: readonly string[]): Promise<void> {
    this.#lookedAt = performance.now();
    const servers = (await this.#look(SILENCE_MS)) ?? [];
    // A new one is the one that hung, or takes its place.
    this.#live = servers.every((each) => known.includes(each)) ? servers : [];
  }

  /** @returns the servers that are there; `undefined` where one has the question, or none can be asked */
  async #look(ms: number, id = ''): Promise<string[] | undefined> {
    const servers: string[] = [];
    try {
      const subject = directSubject(undefined, this.who);
      for await (const message of await this.connection.requestMany(subject, id, { maxWait: ms })) {
        const { server, has } = parseAnswer(message.string()) ?? {};
        this.advice = undefined;
        if (has === true) return undefined;
        if (typeof server === 'string' && isFleetName(server)) servers.push(server);
      }
      if (servers.length === 0) this.advice = 'no policy server says that it is there';
      return servers;
    } catch (error) {
      if (error instanceof Error && error.name === 'PermissionViolationError') {
        const right = `publish on ${directSubject('*', this.who)}`;
        this.advice = `no other server could be asked (${error.message}): its user in nats-server has to ${right}`;
      }
      return undefined;
    }
  }
}
