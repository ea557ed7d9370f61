import {
  applyHookOutputToInput,
  encodeInput,
  executeHook,
  executeParallel,
  executeSequential,
  type Runner,
} from '../../middleware/runner.js';
import { DebugLogger } from '../debugLogger.js';
import type {
  CommandHookConfig,
  HookEventName,
  HookExecutionResult,
  HookInput,
  HookOutput,
} from './types.js';

/** Runs hooks as processes. */
export class HookRunner implements Runner {
  constructor(private readonly logger = new DebugLogger('llxprt:core:hooks:runner')) {}

  /**
   * Runs one hook.
   *
   * @returns what became of it; a hook that fails is a result like any other
   * @throws TypeError when the input cannot be written as JSON
   */
  async executeHook(
    hookConfig: CommandHookConfig,
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult> {
    const stdin = encodeInput(input);
    const run = { hook: hookConfig, event: eventName, stdin, cwd: input.cwd, signal };
    return executeHook(run, this.logger);
  }

  /**
   * Runs all hooks at once on the same input.
   *
   * @returns one result a hook, in the given order
   * @throws TypeError when the input cannot be written as JSON
   */
  executeHooksParallel(
    hookConfigs: readonly CommandHookConfig[],
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult[]> {
    return executeParallel(hookConfigs, eventName, input, this.logger, signal);
  }

  /**
   * Runs hooks one after the other, each reading what the one before changed. A block or a stop ends the chain.
   *
   * @returns one result for each hook that ran
   * @throws TypeError when the input cannot be written as JSON
   */
  executeHooksSequential(
    hookConfigs: readonly CommandHookConfig[],
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult[]> {
    return executeSequential(hookConfigs, eventName, input, this.logger, signal);
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
