import {
  applyHookOutputToInput,
  executeHook,
  hookRunner,
  type Runner,
  type RunOptions,
} from '../../middleware/runner.js';
import type { CallFacts } from '../protocol/events.js';
import type {
  CommandHookConfig,
  HookEventName,
  HookExecutionResult,
  HookInput,
  HookOutput,
} from '../protocol/types.js';
import { PersistentHooks, prestartKept } from '../run/keptHooks.js';
import { prepareInput, type SessionFields } from '../run/preparedInput.js';
import { StartAhead } from '../run/startAhead.js';
import { DebugLogger } from '../util/debugLogger.js';

/** Runs hooks as processes. Nothing that a hook does makes a method reject. */
export class HookRunner implements Runner {
  readonly #options: RunOptions;
  readonly #ahead: StartAhead;
  readonly #persistent: PersistentHooks;
  readonly #runner: Runner;

  /**
   * @param options what differs from the defaults: all of the environment, 16 processes at a time, nothing
   *   that is started ahead, and no process that starts hooks
   */
  constructor(
    logger = new DebugLogger('llxprt:core:hooks:runner'),
    options: Partial<Omit<RunOptions, 'logger' | 'signal' | 'ahead'>> = {},
  ) {
    const given = {
      logger: DebugLogger.safe(logger),
      environment: {},
      maxParallelHooks: 16,
      warmShells: 0,
      told: new Set<string>(),
      persistent: new PersistentHooks(),
      ...options,
    };
    this.#persistent = given.persistent;
    this.#ahead = new StartAhead(given);
    this.#options = { ...given, ahead: this.#ahead };
    this.#runner = hookRunner(this.#options);
  }

  /** Runs one hook. */
  executeHook(
    hookConfig: CommandHookConfig,
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult> {
    const prepared = prepareInput(input, this.#options);
    return executeHook(hookConfig, eventName, prepared, { ...this.#options, signal });
  }

  /**
   * Runs all hooks at once on the same input.
   *
   * @returns one result per hook, in the given order
   */
  executeHooksParallel(
    hookConfigs: readonly CommandHookConfig[],
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
    facts?: CallFacts,
  ): Promise<HookExecutionResult[]> {
    return this.#runner.executeHooksParallel(hookConfigs, eventName, input, signal, facts);
  }

  /**
   * Runs hooks one after the other, each reading what the one before changed. A block or a stop ends the chain.
   *
   * @returns one result for each hook that ran
   */
  executeHooksSequential(
    hookConfigs: readonly CommandHookConfig[],
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
    facts?: CallFacts,
  ): Promise<HookExecutionResult[]> {
    return this.#runner.executeHooksSequential(hookConfigs, eventName, input, signal, facts);
  }

  /** What the next hook of a chain reads after `output`. */
  applyHookOutputToInput(
    input: HookInput,
    output: HookOutput,
    eventName: HookEventName,
  ): HookInput {
    return applyHookOutputToInput(input, output, eventName);
  }

  /**
   * Makes ready for hooks that may come next: starts those that say `prestart`, and shells for the others. Every run
   * does so for its own hooks.
   */
  prepare(hookConfigs: readonly CommandHookConfig[], input: SessionFields): void {
    this.#ahead.prepare(hookConfigs, input);
    prestartKept(hookConfigs, input, this.#options);
  }

  /** Ends what was started ahead in a directory, because other hooks count now. */
  forgetPrestarted(cwd: string): void {
    this.#ahead.forget(cwd);
    this.#persistent.forget();
  }

  /** Prepares nothing any more, and lets go of what waits in a directory. */
  stopPreparing(cwd: string): void {
    this.#ahead.stop(cwd);
    this.#persistent.stop();
  }
}
