import {
  applyHookOutputToInput,
  encodeInput,
  executeHook,
  executeParallel,
  executeSequential,
  type Runner,
  type RunOptions,
} from '../../middleware/runner.js';
import { DebugLogger } from '../debugLogger.js';
import type {
  CommandHookConfig,
  HookEventName,
  HookExecutionResult,
  HookInput,
  HookOutput,
} from './types.js';

/** Runs hooks as processes. Nothing that a hook does makes a method reject. */
export class HookRunner implements Runner {
  readonly #options: RunOptions;

  /** @param options what differs from the defaults: all of the environment, 16 processes at a time */
  constructor(
    logger = new DebugLogger('llxprt:core:hooks:runner'),
    options: Partial<Pick<RunOptions, 'environment' | 'maxParallelHooks'>> = {},
  ) {
    this.#options = { logger, environment: {}, maxParallelHooks: 16, ...options };
  }

  /** Runs one hook. */
  executeHook(
    hookConfig: CommandHookConfig,
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult> {
    return executeHook(hookConfig, eventName, encodeInput(input), { ...this.#options, signal });
  }

  /**
   * Runs all hooks at once on the same input.
   *
   * @returns one result a hook, in the given order
   */
  executeHooksParallel(
    hookConfigs: readonly CommandHookConfig[],
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult[]> {
    return executeParallel(hookConfigs, eventName, input, { ...this.#options, signal });
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
  ): Promise<HookExecutionResult[]> {
    return executeSequential(hookConfigs, eventName, input, { ...this.#options, signal });
  }

  /** What the next hook of a chain reads after `output`. */
  applyHookOutputToInput(
    input: HookInput,
    output: HookOutput,
    eventName: HookEventName,
  ): HookInput {
    return applyHookOutputToInput(input, output, eventName);
  }
}
