import { dropHeld, holdAtStdin } from '../process/command/heldCommands.js';
import {
  dropInSpawner,
  expectInSpawner,
  releaseSpawner,
  prepareSpawner,
} from '../process/spawner/spawner.js';
import { shortIdentity } from '../protocol/identity.js';
import type { CommandHookConfig } from '../protocol/types.js';
import type { DebugLogger } from '../util/debugLogger.js';
import {
  buildHookEnvironment,
  MAX_HOOK_DEPTH,
  hookDepth,
  startOptions,
  type HookPlace,
  type SessionFields,
} from './preparedInput.js';

/** Why a hook must not be started now; synchronously where that is known. */
export type FindObjection = (
  hook: CommandHookConfig,
) => string | undefined | Promise<string | undefined>;

/** What is known of hooks that may be started ahead. */
export interface StartAheadOptions extends HookPlace {
  readonly logger: DebugLogger;
  /** How many commands may be held for the next events. */
  readonly warmShells: number;
  /** Whether the spawner does all this. Default false. */
  readonly spawner?: boolean;
  readonly findObjection?: FindObjection;
}

/**
 * Makes ready for the next event: starts the spawner, tells it of the commands that have run without it, and has hooks
 * started that say `prestart`.
 */
export class StartAhead {
  #isStopped = false;
  readonly #givenUp = new WeakSet<CommandHookConfig>();

  constructor(private readonly options: StartAheadOptions) {}

  /**
   * Makes ready for the hooks of an event. Does so once nobody waits for an answer, because starting a process takes
   * the longer the more memory the host has.
   */
  prepare(hookConfigs: readonly CommandHookConfig[], session: SessionFields): void {
    if (hookDepth() < MAX_HOOK_DEPTH) setImmediate(() => this.#prepare(hookConfigs, session));
  }

  /** Starts those hooks that say `prestart`, and nothing else. */
  prestart(hookConfigs: readonly CommandHookConfig[], session: SessionFields): void {
    const eager = hookConfigs.filter(({ prestart, persistent }) => prestart && !persistent);
    if (eager.length > 0) this.prepare(eager, session);
  }

  /** Ends what was started ahead in a directory, because other hooks count now. */
  forget(cwd: string): void {
    dropHeld(cwd);
    dropInSpawner(cwd);
  }

  /** Prepares nothing any more, and lets go of what waits in a directory. */
  stop(cwd: string): void {
    this.#isStopped = true;
    dropHeld(cwd);
    releaseSpawner(this, cwd);
  }

  #prepare(hookConfigs: readonly CommandHookConfig[], session: SessionFields): void {
    const started = hookConfigs.filter(isStartedEachTime);
    if (this.#isStopped || started.length === 0) return;
    const { spawner, warmShells } = this.options;
    const isNew = spawner && prepareSpawner(this);
    for (const hook of started) {
      if (hook.prestart) void this.#prestart(hook, session);
      else if (isNew && warmShells > 0) this.#expect(hook, session);
    }
  }

  /** When its event comes, it is asked again whether it may start, and the objection is told. */
  async #prestart(hook: CommandHookConfig, session: SessionFields): Promise<void> {
    if (this.#givenUp.has(hook)) return;
    if ((await this.options.findObjection?.(hook)) === undefined) this.#expect(hook, session);
  }

  #expect(hook: CommandHookConfig, input: SessionFields): void {
    if (this.#isStopped) return;
    const { environment, directory: ofHost, spawner, warmShells } = this.options;
    const directory = ofHost?.() ?? input.cwd;
    const env = buildHookEnvironment(environment, directory);
    const options = { ...startOptions(hook, { input, directory, env }), prestart: hook.prestart };
    const giveUp = () => this.#giveUp(hook);
    const isTold = spawner && expectInSpawner(options, warmShells, giveUp);
    if (!isTold && hook.prestart) holdAtStdin(options, giveUp);
  }

  #giveUp(hook: CommandHookConfig): void {
    this.#givenUp.add(hook);
    this.options.logger.warn(
      `The hook "${shortIdentity(hook)}" ends before it is asked, and is not started ahead any more: let it read stdin, or remove "prestart"`,
    );
  }
}

/** Whether a process is started for each of its events, for which the spawner is there. */
function isStartedEachTime({ type, persistent }: CommandHookConfig): boolean {
  return type === 'command' && !persistent;
}
