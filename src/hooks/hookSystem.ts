import type { Config } from '../config/config.js';
import type { MessageBus } from '../confirmation-bus/types.js';
import { DebugLogger } from '../util/debugLogger.js';
import { HookSystemNotInitializedError } from './errors.js';
import { HookAggregator } from './hookAggregator.js';
import { HookEventHandler } from './hookEventHandler.js';
import { HookPlanner } from './hookPlanner.js';
import { HookRegistry } from './hookRegistry.js';
import type { HookRegistryEntry } from '../protocol/entry.js';
import { HookRunner } from './hookRunner.js';
import { sessionIdOf } from './sessionFacts.js';

export { HookSystemNotInitializedError } from './errors.js';

/**
 * The hook system of one `Config`: owns the registry, planner, runner, aggregator and event handler, one of each.
 * Made by `config.getHookSystem()`; initialized by the first event.
 */
export class HookSystem {
  readonly #registry: HookRegistry;
  readonly #runner: HookRunner;
  readonly #eventHandler: HookEventHandler;
  /** Where this system and its parts write. It never throws. */
  readonly logger: DebugLogger;

  constructor(
    private readonly config: Config,
    messageBus?: MessageBus,
    logger = new DebugLogger('llxprt:core:hooks'),
  ) {
    this.logger = DebugLogger.safe(logger);
    this.#registry = new HookRegistry(config, this.logger.extend('registry'));
    this.#runner = new HookRunner(this.logger.extend('runner'), {
      environment: config.getHookEnvironment(),
      maxParallelHooks: config.getMaxParallelHooks(),
      warmShells: config.getWarmShells(),
      findObjection: (hook) => this.#registry.findObjection(hook),
    });
    this.#eventHandler = new HookEventHandler(
      config,
      this.#registry,
      new HookPlanner(this.#registry, this.logger.extend('planner')),
      this.#runner,
      new HookAggregator(),
      messageBus,
      this.logger.extend('events'),
    );
  }

  /**
   * Reads and checks the configured hooks, once. Concurrent first calls share one reading; after a failed one the
   * next call tries again. Also where it could not be found out which hooks of the project are allowed.
   */
  async initialize(): Promise<void> {
    if (this.#registry.isSettled()) return;
    const isFirst = !this.isInitialized();
    await this.#registry.initialize();
    if (isFirst) this.#startAhead();
  }

  /** Starts the hooks that say `prestart`; nothing else, before the first hook has run. */
  #startAhead(): void {
    const hooks = this.getAllHooks().flatMap(({ enabled, config }) => (enabled ? config : []));
    const eager = hooks.filter(({ prestart }) => prestart === true);
    this.#runner.prepare(eager, {
      cwd: this.config.getWorkingDir(),
      session_id: sessionIdOf(this.config),
    });
  }

  /** What was started ahead may belong to a hook that runs no more. */
  #prepareAnew(): void {
    this.#runner.forgetPrestarted(this.config.getWorkingDir());
    this.#startAhead();
  }

  /** Whether the hooks have been read, by `initialize()` or by the first request on the message bus. */
  isInitialized(): boolean {
    return this.#registry.isInitialized();
  }

  /** @throws HookSystemNotInitializedError */
  getRegistry(): HookRegistry {
    if (!this.isInitialized()) throw new HookSystemNotInitializedError();
    return this.#registry;
  }

  /** @throws HookSystemNotInitializedError */
  getEventHandler(): HookEventHandler {
    if (!this.isInitialized()) throw new HookSystemNotInitializedError();
    return this.#eventHandler;
  }

  /** `totalHooks` counts registered hooks, also those that are switched off; 0 before initialization. */
  getStatus(): { initialized: boolean; totalHooks: number } {
    return {
      initialized: this.isInitialized(),
      totalHooks: this.isInitialized() ? this.#registry.getAllHooks().length : 0,
    };
  }

  /**
   * Every registered hook, also those that do not run.
   *
   * @throws HookSystemNotInitializedError
   */
  getAllHooks(): readonly HookRegistryEntry[] {
    return this.getRegistry().getAllHooks();
  }

  /**
   * Switches hooks on or off by name (or command, for those without one) until the next reload.
   *
   * @returns how many hooks have that name
   * @throws HookSystemNotInitializedError
   */
  setHookEnabled(id: string, enabled: boolean): number {
    const found = this.getRegistry().setHookEnabled(id, enabled);
    this.#prepareAnew();
    return found;
  }

  /** Reads the configured hooks again. An event in flight keeps the plan that it started with. */
  async reload(): Promise<void> {
    await this.initialize();
    await this.#registry.reload();
    this.#prepareAnew();
  }

  /**
   * Stops answering requests on the message bus, and lets go of the shells that wait in the project's directory.
   * Safe while hooks run, and more than once.
   */
  async dispose(): Promise<void> {
    this.#runner.stopPreparing(this.config.getWorkingDir());
    await this.#eventHandler.dispose();
  }
}
