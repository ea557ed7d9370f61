import { dropPrestarted, prestart } from '../process/prestarted.js';
import {
  canSpawn,
  dropInSpawner,
  hasSpawner,
  leaveSpawner,
  prepareSpawner,
  prestartInSpawner,
} from '../process/spawner/spawner.js';
import { dropWarmShells, noteWhetherSimple, prepareWarmShell } from '../process/warmShells.js';
import { shortIdentity } from '../protocol/identity.js';
import type { CommandHookConfig } from '../protocol/types.js';
import type { DebugLogger } from '../util/debugLogger.js';
import {
  buildHookEnvironment,
  MAX_HOOK_DEPTH,
  hookDepth,
  startOptions,
  type Surroundings,
  type SessionFields,
} from './preparedInput.js';

/** Shells are kept for the largest plan of the last events, of this many. */
const RECENT_EVENTS = 32;

/** Why a hook must not be started now; synchronously where that is known. */
export type FindObjection = (
  hook: CommandHookConfig,
) => string | undefined | Promise<string | undefined>;

/** What is known of hooks that may be started ahead. */
export interface StartAheadOptions extends Surroundings {
  readonly logger: DebugLogger;
  /** Shells that are kept ready for the next events, at most. */
  readonly warmShells: number;
  /** Whether the spawner does all this, once there is one. Default false. */
  readonly spawner?: boolean;
  readonly findObjection?: FindObjection;
}

/** Makes ready for the next event: starts the hooks that say `prestart`, and shells for the others. */
export class StartAhead {
  /** How many shells the last events used, the latest last. */
  #recentPlans: number[] = [];
  #isStopped = false;
  readonly #known = new WeakSet<CommandHookConfig>();
  /** That were read, and not told to whoever starts them. */
  readonly #newCommands: string[] = [];
  readonly #givenUp = new WeakSet<CommandHookConfig>();

  constructor(private readonly options: StartAheadOptions) {}

  /**
   * Makes ready for the hooks of an event. Does so once nobody waits for an answer, because starting a process takes
   * the longer the more memory the host has.
   */
  prepare(hookConfigs: readonly CommandHookConfig[], session: SessionFields): void {
    if (hookDepth() >= MAX_HOOK_DEPTH) return;
    let others = 0;
    for (const hook of hookConfigs)
      if (hook.type === 'command' && !hook.prestart && !hook.persistent) others += 1;
    this.#recentPlans = [...this.#recentPlans.slice(1 - RECENT_EVENTS), others];
    setImmediate(() => {
      if (this.#isStopped || (others === 0 && this.#isPrepared(hookConfigs))) return;
      const shells = Math.min(Math.max(...this.#recentPlans), this.options.warmShells);
      for (const hook of hookConfigs) if (!this.#known.has(hook)) this.#read(hook);
      if (this.options.spawner && canSpawn()) this.#prepareSpawner(session, shells);
      else if (shells > 0) this.#refill(this.#placeOf(session), shells);
      if (others < hookConfigs.length) this.#prestart(hookConfigs, session);
    });
  }

  /** Starts those hooks that say `prestart`, and nothing else. */
  prestart(hookConfigs: readonly CommandHookConfig[], session: SessionFields): void {
    if (hookDepth() < MAX_HOOK_DEPTH) setImmediate(() => this.#prestart(hookConfigs, session));
  }

  /** Ends what was started ahead in a directory, because other hooks count now. */
  forget(cwd: string): void {
    dropPrestarted(cwd);
    dropInSpawner('prestarted', cwd);
  }

  /** Prepares nothing any more, and lets go of what waits in a directory. */
  stop(cwd: string): void {
    this.#isStopped = true;
    dropPrestarted(cwd);
    dropWarmShells(cwd);
    leaveSpawner(this, cwd);
  }

  /** Hooks that stay need nothing but the spawner, which ends them where this process is killed. */
  #isPrepared(hookConfigs: readonly CommandHookConfig[]): boolean {
    const hasAll = !this.options.spawner || !canSpawn() || hasSpawner(this);
    return hasAll && hookConfigs.every(({ persistent }) => persistent);
  }

  #placeOf({ cwd }: SessionFields): Place {
    const directory = this.options.directory?.() ?? cwd;
    return { cwd: directory, env: buildHookEnvironment(this.options.environment, directory) };
  }

  /** Each command is read once, and not while somebody waits for its start. One with references changes at each start. */
  #read(hook: CommandHookConfig): void {
    this.#known.add(hook);
    const isFixed = hook.type === 'command' && !hook.args && !hook.command.includes('$');
    if (isFixed && this.options.warmShells > 0) this.#newCommands.push(hook.command);
  }

  #prepareSpawner(session: SessionFields, shells: number): void {
    prepareSpawner(this, () => this.#placeOf(session), shells, this.#newCommands.splice(0));
  }

  /** One at a time, so that whatever else the host has to do does not wait for all of them. */
  #refill(place: Place, shells: number): void {
    for (const command of this.#newCommands.splice(0)) noteWhetherSimple(command);
    if (this.#isStopped || !prepareWarmShell(place, shells)) return;
    setImmediate(() => this.#refill(place, shells));
  }

  #prestart(hookConfigs: readonly CommandHookConfig[], input: SessionFields): void {
    for (const hook of hookConfigs) {
      const isEager = hook.prestart && hook.type === 'command' && !hook.persistent;
      const isWanted = isEager && !this.#givenUp.has(hook) && !this.#isStopped;
      if (isWanted) void this.#prestartOne(hook, input);
    }
  }

  async #prestartOne(hook: CommandHookConfig, input: SessionFields): Promise<void> {
    const { findObjection, logger, spawner } = this.options;
    // When its event comes, it is asked again, and the objection is told.
    if ((await findObjection?.(hook)) !== undefined || this.#isStopped) return;
    const { cwd: directory, env } = this.#placeOf(input);
    const options = startOptions(hook, { input, directory, env });
    const giveUp = () => {
      this.#givenUp.add(hook);
      logger.warn(
        `The hook "${shortIdentity(hook)}" ends before it is asked, and is not started ahead any more: let it read stdin, or remove "prestart"`,
      );
    };
    if (!spawner || !prestartInSpawner(options, giveUp)) await prestart(options, giveUp);
  }
}

/** Where something is made ready, and in which environment. */
interface Place {
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}
