import { dropPrestarted, prestart } from '../process/prestarted.js';
import {
  canSpawn,
  dropInSpawner,
  leaveSpawner,
  prepareSpawner,
  prestartInSpawner,
} from '../process/spawner/spawner.js';
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

/** Why a hook must not be started now; synchronously where that is known. */
export type FindObjection = (
  hook: CommandHookConfig,
) => string | undefined | Promise<string | undefined>;

/** What is known of hooks that may be started ahead. */
export interface StartAheadOptions extends Surroundings {
  readonly logger: DebugLogger;
  /** How many commands may be held for the next events. */
  readonly warmShells: number;
  /** Whether the spawner does all this, once there is one. Default false. */
  readonly spawner?: boolean;
  readonly findObjection?: FindObjection;
}

/** Makes ready for the next event: starts the spawner, and the hooks that say `prestart`. */
export class StartAhead {
  #isStopped = false;
  readonly #givenUp = new WeakSet<CommandHookConfig>();

  constructor(private readonly options: StartAheadOptions) {}

  /**
   * Makes ready for the hooks of an event. Does so once nobody waits for an answer, because starting a process takes
   * the longer the more memory the host has.
   */
  prepare(hookConfigs: readonly CommandHookConfig[], session: SessionFields): void {
    if (hookDepth() >= MAX_HOOK_DEPTH) return;
    setImmediate(() => {
      if (this.#isStopped || !hookConfigs.some(isStartedEachTime)) return;
      if (this.options.spawner && canSpawn()) this.#prepareSpawner(hookConfigs, session);
      this.#prestart(hookConfigs, session);
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
    leaveSpawner(this, cwd);
  }

  #placeOf({ cwd }: SessionFields): Place {
    const directory = this.options.directory?.() ?? cwd;
    return { cwd: directory, env: buildHookEnvironment(this.options.environment, directory) };
  }

  #prepareSpawner(hookConfigs: readonly CommandHookConfig[], input: SessionFields): void {
    const started = () => {
      const { cwd: directory, env } = this.#placeOf(input);
      return hookConfigs
        .filter((hook) => isStartedEachTime(hook) && !hook.prestart)
        .map((hook) => startOptions(hook, { input, directory, env }));
    };
    prepareSpawner(this, started, this.options.warmShells);
  }

  #prestart(hookConfigs: readonly CommandHookConfig[], input: SessionFields): void {
    for (const hook of hookConfigs) {
      const isEager = hook.prestart && isStartedEachTime(hook);
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

/** Whether a process is started for each of its events, for which the spawner is there. */
function isStartedEachTime({ type, persistent }: CommandHookConfig): boolean {
  return type === 'command' && !persistent;
}

/** Where something is made ready, and in which environment. */
interface Place {
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}
