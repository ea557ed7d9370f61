import { dropPrestarted, prestart } from '../process/prestarted.js';
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
  /** Shells that are kept ready for the next event, at most. */
  readonly warmShells: number;
  readonly findObjection?: FindObjection;
}

/** Makes ready for the next event: starts the hooks that say `prestart`, and shells for the others. */
export class StartAhead {
  /** How many shells the last events used, the latest last. */
  #recentPlans: number[] = [];
  #isStopped = false;
  readonly #known = new WeakSet<CommandHookConfig>();

  constructor(private readonly options: StartAheadOptions) {}

  /**
   * Makes ready for the hooks of an event. Does so once nobody waits for an answer, because starting a process takes
   * the longer the more memory the host has.
   */
  prepare(hookConfigs: readonly CommandHookConfig[], { cwd, session_id }: SessionFields): void {
    const { environment, warmShells } = this.options;
    const directory = this.options.directory?.() ?? cwd;
    if (hookDepth() >= MAX_HOOK_DEPTH) return;
    const eager: CommandHookConfig[] = [];
    let others = 0;
    for (const hook of hookConfigs) {
      if (hook.prestart === true && hook.type === 'command') eager.push(hook);
      else if (hook.type === 'command') others += 1;
    }
    this.#recentPlans = [...this.#recentPlans.slice(1 - RECENT_EVENTS), others];
    const shells = Math.min(Math.max(...this.#recentPlans), warmShells);
    if (shells === 0 && eager.length === 0) return;
    setImmediate(() => {
      if (this.#isStopped) return;
      const env = buildHookEnvironment(environment, directory);
      if (shells > 0) this.#refill({ cwd: directory, env }, shells);
      for (const hook of hookConfigs) if (!this.#known.has(hook)) this.#read(hook);
      for (const hook of eager)
        void this.#prestart(hook, { input: { cwd, session_id }, directory, env });
    });
  }

  /** Each command is read once, and not while somebody waits for its start. One with references changes at each start. */
  #read(hook: CommandHookConfig): void {
    this.#known.add(hook);
    const isFixed = hook.type === 'command' && !hook.args && !hook.command.includes('$');
    if (isFixed && this.options.warmShells > 0) noteWhetherSimple(hook.command);
  }

  /** Ends what was started ahead in a directory, because other hooks count now. */
  forget(cwd: string): void {
    dropPrestarted(cwd);
  }

  /** Prepares nothing any more, and lets go of what waits in a directory. */
  stop(cwd: string): void {
    this.#isStopped = true;
    dropWarmShells(cwd);
    dropPrestarted(cwd);
  }

  /** One at a time, so that whatever else the host has to do does not wait for all of them. */
  #refill(place: { cwd: string; env: NodeJS.ProcessEnv }, shells: number): void {
    if (this.#isStopped || !prepareWarmShell(place, shells)) return;
    setImmediate(() => this.#refill(place, shells));
  }

  async #prestart(
    hook: CommandHookConfig,
    prepared: { input: SessionFields; directory: string; env: NodeJS.ProcessEnv },
  ): Promise<void> {
    const { findObjection, logger } = this.options;
    // When its event comes, it is asked again, and the objection is told.
    if ((await findObjection?.(hook)) !== undefined || this.#isStopped) return;
    await prestart(startOptions(hook, prepared), () =>
      logger.warn(
        `The hook "${shortIdentity(hook)}" ends before it is asked, and is not started ahead any more: let it read stdin, or remove "prestart"`,
      ),
    );
  }
}
