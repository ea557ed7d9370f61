import type { Config, Extension } from '../config/config.js';
import { formatPath, parseHookDefinitions } from '../config/hookSettings.js';
import { DebugLogger } from '../debugLogger.js';
import { HookRegistryNotInitializedError } from './errors.js';
import { hookIdentity } from './identity.js';
import {
  ConfigSource,
  HookEventName,
  type CommandHookConfig,
  type HookDefinition,
  type HookExecutionPlan,
  type HookOrigin,
} from './types.js';

/** One registered hook. */
export interface HookRegistryEntry {
  readonly config: CommandHookConfig;
  readonly source: ConfigSource;
  readonly eventName: HookEventName;
  readonly matcher?: string;
  readonly sequential?: boolean;
  readonly origin?: HookOrigin;
  /** Whether it runs. See `skipped` for why not. */
  enabled: boolean;
  /** Why the hook does not run: switched off by name, or from a folder that the user has not trusted. */
  skipped?: 'disabled' | 'untrusted';
}

/** Plans are kept for this many (event, tool) pairs; names of tools come from a model and have no bound. */
const MAX_CACHED_PLANS = 1000;

const SOURCE_PRIORITY: Record<ConfigSource, number> = {
  [ConfigSource.Project]: 1,
  [ConfigSource.User]: 2,
  [ConfigSource.System]: 3,
  [ConfigSource.Extensions]: 4,
};

/** The hooks of one Config, checked and in order. All state of the hook system that is not in `Config` is here. */
export class HookRegistry {
  #entries: HookRegistryEntry[] | undefined;
  readonly #plans = new Map<string, HookExecutionPlan | null>();

  constructor(
    private readonly config: Config,
    private readonly logger = new DebugLogger('llxprt:core:hooks:registry'),
  ) {}

  /** Reads the hooks of the configuration and its extensions. Entries of a wrong shape are left out with a warning. */
  async initialize(): Promise<void> {
    const entries = this.#readSource('hooks', this.config.getHooks(), ConfigSource.Project);
    for (const extension of this.config.getExtensions()) {
      if (!extension.isActive) continue;
      entries.push(...this.#readExtension(extension));
    }
    this.#entries = entries.toSorted(
      (a, b) => SOURCE_PRIORITY[a.source] - SOURCE_PRIORITY[b.source],
    );
    this.#plans.clear();
    this.logger.debug('hook registry initialized', { hooks: this.#entries.length });
  }

  /**
   * The hooks of one event that may run, in order of priority.
   *
   * @throws HookRegistryNotInitializedError
   */
  getHooksForEvent(event: HookEventName): HookRegistryEntry[] {
    return this.getAllHooks().filter((entry) => entry.eventName === event && entry.enabled);
  }

  /**
   * Every registered hook, also those that do not run.
   *
   * @throws HookRegistryNotInitializedError
   */
  getAllHooks(): readonly HookRegistryEntry[] {
    if (!this.#entries) throw new HookRegistryNotInitializedError();
    return this.#entries;
  }

  /** Whether any hook of an event may run. */
  hasHooksFor(event: HookEventName): boolean {
    return this.getAllHooks().some((entry) => entry.eventName === event && entry.enabled);
  }

  /**
   * Switches hooks on or off by identity (name, else command) until the next reload.
   *
   * @returns how many hooks have that identity
   */
  setHookEnabled(id: string, enabled: boolean): number {
    const found = this.getAllHooks().filter(
      (entry) => hookIdentity(entry.config) === id && entry.skipped !== 'untrusted',
    );
    for (const entry of found) {
      entry.enabled = enabled;
      entry.skipped = enabled ? undefined : 'disabled';
    }
    this.#plans.clear();
    return found.length;
  }

  /** The plan for an event and a tool's name, made at the first call. */
  cachedPlan(
    event: HookEventName,
    toolName: string | undefined,
    make: () => HookExecutionPlan | null,
  ): HookExecutionPlan | null {
    const key = toolName === undefined ? event : `${event}\0${toolName}`;
    let plan = this.#plans.get(key);
    if (plan === undefined) {
      plan = make();
      if (this.#plans.size >= MAX_CACHED_PLANS) this.#plans.clear();
      this.#plans.set(key, plan);
    }
    return plan;
  }

  #readExtension(extension: Extension): HookRegistryEntry[] {
    const at = `extension ${extension.name}: hooks`;
    return this.#readSource(at, extension.hooks ?? {}, ConfigSource.Extensions);
  }

  #readSource(at: string, raw: unknown, source: ConfigSource): HookRegistryEntry[] {
    const { hooks, problems } = parseHookDefinitions(raw);
    for (const problem of problems) {
      this.logger.warn(`${at}${formatPath(['', ...problem.path])}: ${problem.message}`);
    }
    return Object.values(HookEventName).flatMap((eventName) =>
      (hooks[eventName] ?? []).flatMap((definition) =>
        definition.hooks.map((config) => this.#register(config, definition, eventName, source)),
      ),
    );
  }

  #register(
    config: CommandHookConfig,
    { matcher, sequential, origin }: HookDefinition,
    eventName: HookEventName,
    source: ConfigSource,
  ): HookRegistryEntry {
    const skipped = this.#reasonToSkip(config, source, origin);
    return { config, source, eventName, matcher, sequential, origin, enabled: !skipped, skipped };
  }

  #reasonToSkip(
    config: CommandHookConfig,
    source: ConfigSource,
    origin: HookOrigin | undefined,
  ): HookRegistryEntry['skipped'] {
    const fromProject = source === ConfigSource.Project && (!origin || origin.scope === 'project');
    if (fromProject && !this.config.isTrustedFolder()) return 'untrusted';
    return this.config.getDisabledHooks().includes(hookIdentity(config)) ? 'disabled' : undefined;
  }
}
