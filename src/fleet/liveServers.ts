import { parseAnswer } from '../protocol/readHookOutput.js';
import { isFleetName } from './address.js';
import type { Question } from './question.js';

/** What servers say who are asked whether they have a question. */
export interface Look {
  /** Those that take questions. */
  readonly servers: readonly string[];
  readonly isHeld: boolean;
}

/** Ms of silence after which servers are asked whether one has the question; each time after that twice as long. */
const SILENCE_MS = 1000;
const LONGEST_SILENCE_MS = 16_000;
/** Ms after which, while one is left out, it is asked whether it is back. */
const LOOK_MS = 3000;

/**
 * Whom an agent asks. NATS chooses among the servers of a queue group, also one that hangs: a question that stays
 * without an answer, and that no server has, is put to one that says it is there, and so are the next ones.
 */
export class LiveServers {
  /** While another one hangs. */
  #live: readonly string[] = [];
  #turn = 0;
  #lookedAt = 0;

  /**
   * @param look asks all servers, and waits for what they say; `undefined` where none says it, as those of an older
   *   version
   */
  constructor(private readonly look: (ms: number, id?: string) => Promise<Look | undefined>) {}

  /** The next one to ask; `undefined` leaves that to NATS. */
  next(): string | undefined {
    if (this.#live.length === 0) return undefined;
    if (performance.now() - this.#lookedAt > LOOK_MS) void this.#lookAgain();
    return this.#live[(this.#turn += 1) % this.#live.length];
  }

  /** Leaves out one that is gone. */
  drop(server: string): void {
    this.#live = this.#live.filter((each) => each !== server);
  }

  /** Has a question put again where no server has it, until the signal aborts. */
  follow({ id, timeoutMs }: Question, signal: AbortSignal, putAgain: () => void): void {
    const first = Math.min(SILENCE_MS, timeoutMs / 4);
    let timer: NodeJS.Timeout;
    const wait = (ms: number) => (timer = setTimeout(() => void check(ms), ms).unref());
    const check = async (ms: number) => {
      const seen = await this.look(first / 2, id);
      if (signal.aborted || !seen) return;
      if (!seen.isHeld && seen.servers.length > 0) {
        this.#keep(seen.servers);
        putAgain();
      }
      wait(Math.min(ms * 2, LONGEST_SILENCE_MS));
    };
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    wait(first);
  }

  async #lookAgain(): Promise<void> {
    const known = this.#live;
    this.#keep(known);
    const { servers = [] } = (await this.look(SILENCE_MS)) ?? {};
    // A new one is the one that hung, or takes its place.
    this.#keep(servers.every((each) => known.includes(each)) ? servers : []);
  }

  #keep(servers: readonly string[]): void {
    this.#live = servers;
    this.#lookedAt = performance.now();
  }
}

/** What one server says: its name, whether it has the question, and whether it takes others. */
export function readPresence(text: string): Look {
  const { server, has, takes } = parseAnswer(text) ?? {};
  const isThere = typeof server === 'string' && isFleetName(server) && takes === true;
  return { servers: isThere ? [server] : [], isHeld: has === true };
}
