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
import { engineOf, noteOutcome, setEngine } from './fireHook.js';
import { HookEventHandler } from './hookEventHandler.js';
import { HookRegistry } from './hookRegistry.js';
import type { HookHost } from './host.js';
import type { CallSession } from '../protocol/types.js';
import type { AsyncSession } from '../run/asyncSession.js';
import type { LateAnswer, LookedForLate } from '../protocol/lateAnswer.js';

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
    const asyncHooks = host.getAsyncHooks?.() ?? 'start';
    const settings: RunSettings = {
      ...limitsOf(host),
      directory: host.getWorkingDir.bind(host),
      asyncHooks,
      warmShells: host.getWarmShells(),
      spawner: host.usesSpawner?.() ?? false,
      prompts: new PromptHooks(host),
      findObjection: registry.findObjection.bind(registry),
      enforceConsent: registry.enforceConsent.bind(registry),
    };
    this.#hooks = new HookRunner(this.logger.extend('runner'), {
      ...settings,
      ...(host.keepsHooks?.() === false && { persistent: undefined, mcp: undefined }),
      onAsyncEnd: (result) => noteOutcome(engineOf(this), result),
    });
    this.#eventHandler = new HookEventHandler(
      host,
      registry,
      new HookPlanner(registry, this.logger.extend('planner'), asyncHooks === 'only'),
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
    this.#hooks.adopt({ ...limitsOf(host), textBound: await host.getTextBound?.() });
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
    await this.#takeOver();
  }

  /** Waits until no async hook runs, or waits for its turn. */
  untilAsyncEnded(): Promise<void> {
    return this.#hooks.untilAsyncEnded();
  }

  /** Whether `takeLate` has something to give, whether that sends an agent back to work, and whether more may come. */
  lookForLate(session?: CallSession): LookedForLate {
    return this.#hooks.lookForLate(this.#sessionOf(session));
  }

  /**
   * What async hooks have said since it was asked last, for the model to read once. Model calls through the package take it
   * by themselves. Synchronous.
   *
   * @param session default: that of the host
   */
  takeLate(session?: CallSession): readonly LateAnswer[] {
    return this.#hooks.takeLate(this.#sessionOf(session));
  }

  /** For a model call that came to nothing: what was taken for it is there again. */
  giveBackLate(answers: readonly LateAnswer[], session?: CallSession): void {
    this.#hooks.giveBackLate(this.#sessionOf(session), answers);
  }

  /**
   * Waits for async hooks that say `asyncRewake`, none longer than its timeout: for a host whose agent has finished.
   *
   * @param session default: that of the host
   * @returns with what the agent is to go on working; nothing where it may end
   */
  untilWoken(signal?: AbortSignal, session?: CallSession): Promise<readonly LateAnswer[]> {
    return this.#hooks.untilWoken(this.#sessionOf(session), signal);
  }

  /**
   * Waits until the async hooks of a session are gone: two seconds after the event SessionEnd, or after this call, they are
   * ended.
   *
   * @param session default: that of the host
   */
  endSession(session?: CallSession): Promise<void> {
    return this.#hooks.endSession(this.#sessionOf(session));
  }

  /**
   * Takes over from a system that this one replaces, which may go on with its events: async hooks and what they say late, of
   * which none ends, and what sessions have used of the budget of prompts.
   */
  continueFrom(replaced: HookSystem | undefined): void {
    if (replaced) this.#hooks.continueFrom(replaced.#hooks);
  }

  #sessionOf(session?: CallSession): AsyncSession {
    if (session && isNamed(session)) return session;
    return { ...session, sessionId: sessionIdOf(this.host) };
  }

  /**
   * Stops answering requests on the message bus, and ends async hooks, and what was started ahead in the project's directory.
   * Safe while hooks run, and more than once.
   */
  async dispose(): Promise<void> {
    this.#hooks.stopPreparing(this.host.getWorkingDir());
    await Promise.all([
      this.#eventHandler.dispose(),
      this.#hooks.endAsync(),
      closeIdleConnections(),
      this.#hooks.endServers(),
    ]);
  }
}

function limitsOf(host: HookHost) {
  return {
    environment: host.getHookEnvironment(),
    maxParallelHooks: host.getMaxParallelHooks(),
    maxAsyncHooks: host.getMaxAsyncHooks?.() ?? 16,
  };
}

function isNamed(session: CallSession): session is AsyncSession {
  return session.sessionId !== undefined;
}
