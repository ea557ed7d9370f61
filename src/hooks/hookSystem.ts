import { HookAggregator } from '../../middleware/aggregator.js';
import { HookPlanner } from '../../middleware/planner.js';
import { HookRunner, type RunSettings } from '../../middleware/runner.js';
import { sessionIdOf } from '../../middleware/translator.js';
import type { MessageBus } from '../confirmation-bus/types.js';
import type { HookRegistryEntry } from './entry.js';
import { closeIdleConnections } from '../fleet/remoteHooks.js';
import { PromptHooks } from '../prompts/promptHooks.js';
import { DebugLogger } from '../util/debugLogger.js';
import { HookSystemNotInitializedError } from './errors.js';
import { engineOf, setEngine } from './fireHook.js';
import { HookEventHandler } from './hookEventHandler.js';
import { HookRegistry } from './hookRegistry.js';
import type { HookHost } from './host.js';

export { HookSystemNotInitializedError } from './errors.js';

/**
 * The hook system of one host: owns its registry, what is started ahead, and what events are fired through, one of each.
 * Made by `config.getHookSystem()`; initialized by the first event.
 */
export class HookSystem {
  readonly #registry: HookRegistry;
  readonly #hooks: HookRunner;
  readonly #eventHandler: HookEventHandler;
  /** Where this system and its parts write. It never throws. */
  readonly logger: DebugLogger;

  constructor(
    private readonly host: HookHost,
    messageBus?: MessageBus,
    logger = new DebugLogger('llxprt:core:hooks'),
  ) {
    this.logger = DebugLogger.safe(logger);
    const registry = new HookRegistry(host, this.logger.extend('registry'), () => this.#takeOver());
    this.#registry = registry;
    const settings: RunSettings = {
      environment: host.getHookEnvironment(),
      directory: host.getWorkingDir.bind(host),
      maxParallelHooks: host.getMaxParallelHooks(),
      warmShells: host.getWarmShells(),
      spawner: host.usesSpawner?.() ?? false,
      prompts: new PromptHooks(host),
      findObjection: registry.findObjection.bind(registry),
      enforceConsent: registry.enforceConsent.bind(registry),
    };
    this.#hooks = new HookRunner(this.logger.extend('runner'), {
      ...settings,
      ...(host.keepsHooks?.() === false && { persistent: undefined, mcp: undefined }),
    });
    this.#eventHandler = new HookEventHandler(
      host,
      registry,
      new HookPlanner(registry, this.logger.extend('planner')),
      this.#hooks,
      new HookAggregator(),
      messageBus,
      this.logger.extend('events'),
      () => this.initialize(),
    );
    setEngine(this, engineOf(this.#eventHandler));
  }

  /**
   * Reads and checks the configured hooks, once. Concurrent first calls share one reading; after a failed one the
   * next call tries again. Also where it could not be found out which hooks of the project are allowed.
   */
  async initialize(): Promise<void> {
    if (this.#registry.isSettled()) return;
    const isFirst = !this.isInitialized();
    const bound = isFirst ? this.host.getTextBound?.() : undefined;
    if (bound) this.#hooks.adopt({ textBound: await bound });
    await this.#registry.initialize();
    if (isFirst) this.#startAhead();
  }

  /** Starts the hooks that say `prestart`, and what starts them; nothing else, before the first hook has run. */
  #startAhead(): void {
    const hooks = this.getAllHooks().flatMap(({ enabled, config }) =>
      enabled && config.prestart ? config : [],
    );
    if (hooks.length === 0) return;
    const session = { cwd: this.host.getWorkingDir(), session_id: sessionIdOf(this.host) };
    this.#hooks.prestart(hooks, session);
  }

  /** Has each event look first whether the host's hooks have changed. */
  watch(): void {
    this.#registry.isWatched = true;
  }

  /** The hooks are others, and so may be what the host says of how they run. */
  async #takeOver(): Promise<void> {
    const { host } = this;
    this.#hooks.adopt({
      environment: host.getHookEnvironment(),
      maxParallelHooks: host.getMaxParallelHooks(),
      textBound: await host.getTextBound?.(),
    });
    this.#prepareAnew();
  }

  /** Processes that were started ahead may belong to hooks that are gone after the reload. */
  #prepareAnew(): void {
    this.#hooks.forgetPrestarted(this.host.getWorkingDir());
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
   * Stops answering requests on the message bus, and ends what was started ahead in the project's directory, and MCP servers.
   * Safe while hooks run, and more than once.
   */
  async dispose(): Promise<void> {
    this.#hooks.stopPreparing(this.host.getWorkingDir());
    await Promise.all([
      this.#eventHandler.dispose(),
      closeIdleConnections(),
      this.#hooks.endServers(),
    ]);
  }
}
