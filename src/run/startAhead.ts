import type { StartOptions } from '../process/command/execution.js';
import { dropHeld, holdAtStdin } from '../process/command/heldCommands.js';
import {
  dropInSpawner,
  expectInSpawner,
  releaseSpawner,
  prepareSpawner,
} from '../process/spawner/spawner.js';
import type { KeptHook } from '../process/persistent/askedEvent.js';
import type { PersistentHooks } from '../process/persistent/persistentHooks.js';
import { shortIdentity } from '../protocol/identity.js';
import type { CommandHookConfig, PersistentOptions } from '../protocol/types.js';
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
  /** Keeps the processes of hooks that say `persistent`; without it, they are started for each event. */
  readonly persistent?: PersistentHooks | undefined;
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

  /** Starts those hooks that say `prestart`, and nothing else. Nobody waits for that. */
  prestart(hookConfigs: readonly CommandHookConfig[], session: SessionFields): void {
    const eager = hookConfigs.filter(({ prestart }) => prestart);
    if (eager.some(isStartedEachTime)) this.prepare(eager, session);
    if (hookDepth() >= MAX_HOOK_DEPTH) return;
    const { persistent, findObjection } = this.options;
    for (const hook of persistent ? eager : []) {
      if (!hook.persistent) continue;
      // What is wrong is told at its first event.
      const kept = keptHook(hook, () => undefined, findObjection);
      void persistent?.prestart(hook, kept, this.#startOf(hook, session));
    }
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
    const { spawner, warmShells } = this.options;
    const options = { ...this.#startOf(hook, input), prestart: hook.prestart };
    const giveUp = () => this.#giveUp(hook);
    const isTold = spawner && expectInSpawner(options, warmShells, giveUp);
    if (!isTold && hook.prestart) holdAtStdin(options, giveUp);
  }

  #startOf(hook: CommandHookConfig, input: SessionFields): StartOptions {
    const { environment, directory: ofHost } = this.options;
    const directory = ofHost?.() ?? input.cwd;
    return startOptions(hook, {
      input,
      directory,
      env: buildHookEnvironment(environment, directory),
    });
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

/** MB of resident memory after which a kept process is started anew, where its settings say nothing. */
export const MAX_MEMORY = 512;

/** How many processes of a persistent hook are kept, and the MB of each after which it is started anew. */
export function keptSettings({
  persistent,
}: Pick<CommandHookConfig, 'persistent'>): Required<PersistentOptions> {
  const { processes = 1, maxMemory = MAX_MEMORY } =
    typeof persistent === 'object' ? persistent : {};
  return { processes, maxMemory };
}

/** A hook as those that keep its process have to know it. */
export function keptHook(
  hook: CommandHookConfig,
  warn: (message: string) => void,
  findObjection: FindObjection | undefined,
): KeptHook {
  return {
    warn,
    ...keptSettings(hook),
    ...(findObjection && { findObjection: () => findObjection(hook) }),
  };
}
