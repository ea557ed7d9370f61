import {
  applyHookOutputToInput,
  executeHook,
  executeParallel,
  executeSequential,
  prepareInput,
  type Runner,
  type RunOptions,
} from '../../middleware/runner.js';
import { DebugLogger } from '../debugLogger.js';
import { prepareWarmShells } from '../process/warmShells.js';
import { buildHookEnvironment } from './hookEnvironment.js';
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
  #largestPlan = 0;

  /**
   * @param options what differs from the defaults: all of the environment, 16 processes at a time, and no shells
   *   that are kept ready
   */
  constructor(
    logger = new DebugLogger('llxprt:core:hooks:runner'),
    options: Partial<Omit<RunOptions, 'logger' | 'signal'>> = {},
  ) {
    this.#options = { logger, environment: {}, maxParallelHooks: 16, warmShells: 0, ...options };
  }

  /** Runs one hook. */
  executeHook(
    hookConfig: CommandHookConfig,
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult> {
    const prepared = prepareInput(input, this.#options.environment);
    return executeHook(hookConfig, eventName, prepared, { ...this.#options, signal });
  }

  /**
   * Runs all hooks at once on the same input.
   *
   * @returns one result a hook, in the given order
   */
  async executeHooksParallel(
    hookConfigs: readonly CommandHookConfig[],
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult[]> {
    const options = { ...this.#options, signal };
    const results = await executeParallel(hookConfigs, eventName, input, options);
    this.#prepareForNext(hookConfigs.length, input);
    return results;
  }

  /**
   * Runs hooks one after the other, each reading what the one before changed. A block or a stop ends the chain.
   *
   * @returns one result for each hook that ran
   */
  async executeHooksSequential(
    hookConfigs: readonly CommandHookConfig[],
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult[]> {
    const options = { ...this.#options, signal };
    const results = await executeSequential(hookConfigs, eventName, input, options);
    this.#prepareForNext(hookConfigs.length, input);
    return results;
  }

  /** What the next hook of a chain reads after `output`. */
  applyHookOutputToInput(
    input: HookInput,
    output: HookOutput,
    eventName: HookEventName,
  ): HookInput {
    return applyHookOutputToInput(input, output, eventName);
  }

  /** Starts shells for the next event, once this one has been answered. */
  #prepareForNext(hooks: number, { cwd }: HookInput): void {
    const { environment, warmShells } = this.#options;
    this.#largestPlan = Math.max(this.#largestPlan, hooks);
    const count = Math.min(this.#largestPlan, warmShells);
    if (count === 0) return;
    const prepare = () =>
      prepareWarmShells({ cwd, env: buildHookEnvironment(environment, cwd) }, count);
    setImmediate(prepare).unref();
  }
}
