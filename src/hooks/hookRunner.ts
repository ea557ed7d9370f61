import {
  applyHookOutputToInput,
  executeHook,
  executeParallel,
  executeSequential,
  type Runner,
  type RunOptions,
} from '../../middleware/runner.js';
import { DebugLogger } from '../util/debugLogger.js';
import { dropPrestarted, prestart } from '../process/prestarted.js';
import { dropWarmShells, prepareWarmShell } from '../process/warmShells.js';
import { buildHookEnvironment, hookDepth, MAX_HOOK_DEPTH } from '../run/hookEnvironment.js';
import { shortIdentity } from '../protocol/identity.js';
import { prepareInput, startOptions, type SessionFields } from '../run/preparedInput.js';
import type {
  CommandHookConfig,
  HookEventName,
  HookExecutionResult,
  HookInput,
  HookOutput,
} from '../protocol/types.js';

/** Shells are kept for the largest plan of so many events. */
const RECENT_EVENTS = 32;

/** Runs hooks as processes. Nothing that a hook does makes a method reject. */
export class HookRunner implements Runner {
  readonly #options: RunOptions;
  /** How many shells the last events used, the latest last. */
  #recentPlans: number[] = [];
  #isPreparing = true;

  /**
   * @param options what differs from the defaults: all of the environment, 16 processes at a time, and no shells
   *   that are kept ready
   */
  constructor(
    logger = new DebugLogger('llxprt:core:hooks:runner'),
    options: Partial<Omit<RunOptions, 'logger' | 'signal'>> = {},
  ) {
    this.#options = {
      logger: DebugLogger.safe(logger),
      environment: {},
      maxParallelHooks: 16,
      warmShells: 0,
      told: new Set(),
      ...options,
    };
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
    if (results.some(hasStarted)) this.prepare(hookConfigs, input);
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
    if (results.some(hasStarted)) this.prepare(hookConfigs, input);
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

  /** Ends what was started ahead in a directory, because other hooks count now. */
  forgetPrestarted(cwd: string): void {
    dropPrestarted(cwd);
  }

  /** Prepares nothing any more, and lets go of what waits in a directory. */
  stopPreparing(cwd: string): void {
    this.#isPreparing = false;
    dropWarmShells(cwd);
    dropPrestarted(cwd);
  }

  /**
   * Makes ready for hooks that may come next: starts those that say `prestart`, and shells for the others. Does so once
   * nobody waits for an answer, because starting a process takes the longer the more memory the host has.
   */
  prepare(hookConfigs: readonly CommandHookConfig[], input: SessionFields): void {
    const { environment, warmShells } = this.#options;
    if (hookDepth() >= MAX_HOOK_DEPTH) return;
    const commands = hookConfigs.filter(({ type }) => type === 'command');
    const eager = commands.filter((hook) => hook.prestart === true);
    this.#recentPlans = [
      ...this.#recentPlans.slice(1 - RECENT_EVENTS),
      commands.length - eager.length,
    ];
    const shells = Math.min(Math.max(...this.#recentPlans), warmShells);
    if (shells === 0 && eager.length === 0) return;
    setImmediate(() => {
      if (!this.#isPreparing) return;
      const { cwd, session_id } = input;
      const env = buildHookEnvironment(environment, cwd);
      if (shells > 0) this.#refill({ cwd, env }, shells);
      for (const hook of eager) {
        void this.#prestart(hook, { input: { cwd, session_id }, env });
      }
    });
  }

  /** One at a time, so that whatever else the host has to do does not wait for all of them. */
  #refill(place: { cwd: string; env: NodeJS.ProcessEnv }, shells: number): void {
    if (!this.#isPreparing || !prepareWarmShell(place, shells)) return;
    setImmediate(() => this.#refill(place, shells));
  }

  async #prestart(
    hook: CommandHookConfig,
    prepared: { input: SessionFields; env: NodeJS.ProcessEnv },
  ): Promise<void> {
    const { findObjection, logger } = this.#options;
    // When its event comes, it is asked again, and the objection is told.
    if ((await findObjection?.(hook)) !== undefined || !this.#isPreparing) return;
    await prestart(startOptions(hook, prepared), () =>
      logger.warn(
        `The hook "${shortIdentity(hook)}" ends before it is asked, and is not started ahead any more: let it read stdin, or remove "prestart"`,
      ),
    );
  }
}

/** Of a hook that was not started there is not even an empty output. */
function hasStarted({ stdout }: HookExecutionResult): boolean {
  return stdout !== undefined;
}
