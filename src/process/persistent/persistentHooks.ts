import type { CommandOptions, CommandOutcome } from '../command/outcome.js';
import type { StartOptions } from '../command/execution.js';
import type { KeptHook } from './askedEvent.js';
import { PERSISTENT_LIMITS, type PersistentLimits } from '../command/limits.js';
import { Pool } from './pool.js';

/**
 * At most this many commands have processes. More than any settings hold: there is a bound because a command that a
 * host makes anew for each event would else leave a process behind each time, until it is idle.
 */
const MAX_POOLS = 512;

/** The processes of one host that stay for the events to come; see docs/persistent-hooks.md. */
export class PersistentHooks {
  readonly #pools = new Map<string, Pool>();
  readonly #latest = new WeakMap<object, Pool>();
  #isStopped = false;

  /** @param limits for tests; the defaults hold everywhere else */
  constructor(private readonly limits: PersistentLimits = PERSISTENT_LIMITS) {}

  /**
   * Has an event answered by a process that stays, which is started where there is none.
   *
   * @param key what the hook is known by, as long as it is the same
   * @returns never rejects; `undefined` where it is to be run as an ordinary command
   */
  run(key: object, hook: KeptHook, options: CommandOptions): Promise<CommandOutcome> | undefined {
    return this.#isStopped ? undefined : this.#poolFor(key, hook, options).run(hook, options);
  }

  /** Starts a process of a hook before there is an event for it. */
  async prestart(key: object, hook: KeptHook, options: StartOptions): Promise<void> {
    if (!this.#isStopped) await this.#poolFor(key, hook, options).prestart(hook);
  }

  /** Ends the processes of one hook, because it must not run any more. */
  drop(key: object): void {
    const pool = this.#latest.get(key);
    if (pool) this.#remove(pool);
  }

  /** Ends all processes, once they have answered what waits. */
  forget(): void {
    for (const pool of this.#pools.values()) this.#remove(pool);
  }

  /** Does so for good: from then on, hooks run as ordinary commands. */
  stop(): void {
    this.#isStopped = true;
    this.forget();
  }

  /** A command is another one in another directory or environment, and the processes of the one before end. */
  #poolFor(key: object, hook: KeptHook, options: StartOptions): Pool {
    const { command, args, cwd, extraEnv } = options;
    const { processes, maxMemory } = hook;
    const name = JSON.stringify([command, args, cwd, extraEnv, processes, maxMemory]);
    const known = this.#pools.get(name);
    if (known && !known.isFor(options)) this.#remove(known);
    const pool = this.#pools.get(name) ?? new Pool(options, this.limits);
    this.#pools.delete(name);
    this.#pools.set(name, pool);
    const [oldest] = this.#pools.values();
    if (oldest && this.#pools.size > MAX_POOLS) this.#remove(oldest);
    this.#note(key, pool);
    return pool;
  }

  #note(key: object, pool: Pool): void {
    const before = this.#latest.get(key);
    if (before === pool) return;
    this.#latest.set(key, pool);
    pool.users += 1;
    if (before) before.users -= 1;
    if (before?.users === 0) this.#remove(before);
  }

  #remove(pool: Pool): void {
    for (const [name, each] of this.#pools) if (each === pool) this.#pools.delete(name);
    pool.retire();
  }
}
