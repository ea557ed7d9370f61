import type { KnownHooks, PlannedHooks } from '../../middleware/planner.js';
import type { Extension, HookRegistryEntry } from './entry.js';
import type { HookGate, HookHost } from './host.js';
import { formatGiven, readGivenHooks } from './givenHooks.js';
import { DebugLogger } from '../util/debugLogger.js';
import {
  type DialectName,
  ConfigSource,
  HookEventName,
  type CommandHookConfig,
  type HookDefinition,
  type HookExecutionResult,
} from '../protocol/types.js';
import { dialects } from '../dialects/dialects.js';
import { loadRules, usesRules } from '../rules/load.js';
import { errorMessage } from '../util/errorMessage.js';
import { HookRegistryNotInitializedError } from './errors.js';
import { relativeEntries } from '../run/hookEnvironment.js';
import { readDisabled } from './disabledHooks.js';
import { failsClosed } from '../protocol/events.js';
import { hasFailed } from '../protocol/hookOutput.js';
import { hookIdentity, isFromProject, scopeOf, shortIdentity } from '../protocol/identity.js';
import { hostEnvironment } from '../util/requester.js';

/** Names of dropped guards in their warning, at most. */
const MAX_NAMES = 10;
/** Characters of a name, at most. */
const MAX_SHOWN = 60;

const SOURCE_PRIORITY: Record<ConfigSource, number> = {
  [ConfigSource.Project]: 1,
  [ConfigSource.User]: 2,
  [ConfigSource.System]: 3,
  [ConfigSource.Extensions]: 4,
};

/** The hooks of one Config, checked and in order. All state of the hook system that is not in `Config` is here. */
export class HookRegistry {
  #entries: HookRegistryEntry[] | undefined;
  /** The entries, and the guards that stand in for some of them. */
  #planned: readonly HookRegistryEntry[] = [];
  #reading: Promise<void> | undefined;
  /** What every event asks; another object once something of it has changed. */
  known = knownOf([], false);
  /** Settles when all reloads so far have ended; they run one after the other, so that the last one counts. */
  #turns: Promise<unknown> = Promise.resolve();
  /** Hooks of the project whose consent could not be read yet; the next event tries again. */
  #awaitingConsent: readonly HookRegistryEntry[] = [];
  /** What came of trying matchers, by matcher and tool. */
  readonly matches: PlannedHooks['matches'] = new Map();
  readonly #gate: HookGate;
  readonly #logger: DebugLogger;
  #hasWarnedOfGuards = false;
  /** Whether each event looks first whether what the hooks are written in has changed. */
  isWatched = false;
  /** Whether it has, and has not been read yet. */
  #isStale = false;
  /** Whether it was looked in this very turn, so that to look again tells nothing. */
  #hasLooked = false;
  /** Whether the host has others, which have not been taken over yet. */
  #isReplaced = false;

  constructor(
    private readonly config: HookHost,
    logger = new DebugLogger('llxprt:core:hooks:registry'),
    /** Called once the hooks are others, as what they are written in has changed. */
    private readonly onReplaced: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.#logger = DebugLogger.safe(logger);
    this.#gate = config.openGate(this.#logger);
  }

  /**
   * Reads the hooks, once. Concurrent first calls share one reading; after a failed one the next call tries again, and
   * so it does where it could not be found out which hooks of the project are allowed.
   */
  async initialize(): Promise<void> {
    if (this.isSettled()) return;
    this.#reading ??= this.#inTurn(() => this.#settle()).finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #settle(): Promise<void> {
    const wasStale = this.#isStale;
    if (wasStale && (await this.config.refresh?.())) this.#isReplaced = true;
    const isFirst = !this.#entries;
    const isReplaced = this.#isReplaced && !isFirst;
    if (this.#isReplaced || isFirst) await this.#readAll();
    else if (this.#awaitingConsent.length > 0) await this.#askConsentAgain();
    this.#isReplaced = false;
    if (!wasStale) return;
    this.#isStale = false;
    this.#noteChange();
    if (isReplaced) await this.onReplaced();
  }

  /** Looks whether what the hooks are written in has changed: if so, this event reads it anew. */
  look(): void {
    if (this.#isStale || this.#hasLooked) return;
    this.#hasLooked = true;
    queueMicrotask(() => (this.#hasLooked = false));
    if (!this.config.hasChanged?.()) return;
    this.#isStale = true;
    this.known = { ...this.known, isSettled: false };
  }

  /** Whether the hooks have been read. */
  isInitialized(): boolean {
    return this.#entries !== undefined;
  }

  /** Whether the hooks have been read, and it is known which of the project's are allowed. */
  isSettled(): boolean {
    return !this.#isStale && this.#entries !== undefined && this.#awaitingConsent.length === 0;
  }

  /**
   * Reads the hooks of the configuration and its extensions again. Entries of a wrong shape are left out with a
   * warning.
   */
  reload(): Promise<void> {
    return this.#inTurn(() => this.#readAll());
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turns.then(work);
    this.#turns = turn.catch(() => undefined);
    return turn;
  }

  async #readAll(): Promise<void> {
    const entries = this.#readSource('hooks', this.config.getHooks(), ConfigSource.Project);
    for (const extension of this.config.getExtensions()) {
      entries.push(...this.#readExtension(extension));
    }
    this.#switchOff(entries);
    await this.#admit(entries, []);
    this.#logger.debug('hook registry initialized', { hooks: this.#entries?.length });
  }

  /** Reads the consents again for the project's hooks. Changes of other entries since then stay. */
  async #askConsentAgain(): Promise<void> {
    const others = this.#entries?.filter((entry) => !isFromProject(entry)) ?? [];
    await this.#admit(this.#awaitingConsent, others);
  }

  async #admit(
    entries: readonly HookRegistryEntry[],
    others: readonly HookRegistryEntry[],
  ): Promise<void> {
    const admitted = [...(await this.#gate.admit(entries)), ...others];
    if (admitted.some(({ config }) => usesRules(config))) await loadRules();
    this.#awaitingConsent = this.#gate.isSettled ? [] : entries.filter(isFromProject);
    this.#warnOfSearchPath(admitted);
    this.#entries = admitted.toSorted((a, b) => orderOf(a) - orderOf(b));
    // One guard may stand in for several hooks.
    const planned = this.#entries.flatMap((entry) =>
      entry.standIn ? [entry, entry.standIn] : [entry],
    );
    this.#planned = [...new Set(planned)];
    this.#noteChange();
  }

  /** What was known of the hooks, and planned, no longer holds. */
  #noteChange(): void {
    this.known = knownOf(this.#planned, this.isSettled());
  }

  /**
   * The hooks of one event that may run, in order of priority.
   *
   * @throws HookRegistryNotInitializedError
   */
  getHooksForEvent(event: HookEventName): HookRegistryEntry[] {
    this.getAllHooks();
    return this.#planned.filter((entry) => entry.eventName === event && entry.enabled);
  }

  /**
   * Every registered hook as it is written now, also those that do not run. A guard that stands in for one is in its
   * `standIn`.
   *
   * @throws HookRegistryNotInitializedError
   */
  getAllHooks(): readonly HookRegistryEntry[] {
    if (!this.#entries) throw new HookRegistryNotInitializedError();
    return this.#entries;
  }

  /**
   * Whether any hook of an event may run.
   *
   * @throws HookRegistryNotInitializedError
   */
  hasHooksFor(event: HookEventName): boolean {
    this.getAllHooks();
    return this.known.events.has(event);
  }

  /**
   * Switches hooks on or off by identity (name, else command) until the next reload.
   *
   * @returns how many hooks have that identity
   */
  setHookEnabled(id: string, enabled: boolean): number {
    this.getAllHooks();
    const found = this.#planned.filter(
      ({ config, skipped }) =>
        hookIdentity(config) === id && skipped !== 'untrusted' && skipped !== 'refused',
    );
    for (const entry of found) {
      entry.enabled = enabled;
      entry.skipped = enabled ? undefined : 'disabled';
      entry.failures = 0;
    }
    this.#noteChange();
    return found.length;
  }

  /**
   * Counts failures in a row. A hook that has reached its `maxConsecutiveFailures` is switched off, with one
   * warning; a guard (`onFailure: "deny"`) never is.
   */
  noteOutcome(result: HookExecutionResult): void {
    const config = result.hookConfig;
    const limit = config.onFailure === 'deny' ? undefined : config.maxConsecutiveFailures;
    const entry = limit && this.#planned.find((each) => each.config === config);
    if (!entry) return;
    entry.failures = hasFailed(result) ? entry.failures + 1 : 0;
    if (entry.failures < limit || !entry.enabled) return;
    entry.enabled = false;
    entry.skipped = 'failing';
    this.#noteChange();
    this.#logger.warn(
      `The hook "${shortIdentity(config)}" failed ${entry.failures} times in a row and is switched off until the hooks are reloaded`,
      { event: entry.eventName },
    );
  }

  /**
   * A copy of the entry with `onFailure: "deny"`, for a hook that runs in the place of a guard with the same command.
   */
  asGuard(entry: HookRegistryEntry): HookRegistryEntry {
    const config = { ...entry.config, onFailure: 'deny' } as const;
    this.#gate.shareConsent(config, entry.config);
    return { ...entry, config };
  }

  /**
   * Why a hook must not be started now, as the end of "The hook …". Only looks: nothing is switched off, and nobody
   * warned. A `HookRunner` is given `enforceConsent` beside it, which does both where a hook is to start.
   */
  findObjection(config: CommandHookConfig): string | undefined | Promise<string | undefined> {
    return config.scope === 'project'
      ? this.#gate.findObjection(config, () => undefined)
      : undefined;
  }

  /**
   * Looks once more at a project's hook that is to start now. One that has changed since the user allowed it is switched off, with
   * one warning; a guard stays on, to deny.
   *
   * @returns why it must not be started, as the end of "The hook …"
   */
  enforceConsent(config: CommandHookConfig): string | undefined | Promise<string | undefined> {
    return this.#gate.findObjection(config, (reason, isLasting) => {
      const entry = this.#planned.find((each) => each.config === config);
      if (!entry?.enabled || failsClosed(config, entry.eventName)) return;
      if (isLasting) {
        entry.enabled = false;
        entry.skipped = 'untrusted';
        this.#noteChange();
      }
      this.#gate.warnSkipped(entry, reason);
    });
  }

  #switchOff(entries: readonly HookRegistryEntry[]): void {
    const disabled = readDisabled(this.config.getDisabledHooks(), entries);
    for (const entry of entries) {
      if (!entry.enabled || !disabled.has(entry)) continue;
      entry.enabled = false;
      entry.skipped = 'disabled';
    }
    for (const name of disabled.foreign) {
      this.#logger.warn(
        `"${name.slice(0, MAX_SHOWN)}" in disabledHooks of this project has no effect, as it is a hook of somebody else; to switch it off, name it in your own settings: hookstack disable`,
      );
    }
    for (const name of disabled.shared) {
      this.#logger.warn(
        `"${name.slice(0, MAX_SHOWN)}" in disabledHooks switches off the hook of this project alone, as other hooks have that name too: those run; to say whose is meant, run hookstack enable, then hookstack disable with --scope`,
      );
    }
    this.#warnOfDroppedGuards(entries.filter((entry) => !disabled.has(entry)));
  }

  /** A guard that is left out no longer protects, so it is named in a warning. */
  #warnOfDroppedGuards(entries: readonly HookRegistryEntry[]): void {
    const guards = entries.filter(
      ({ config, eventName, skipped }) => skipped === 'untrusted' && failsClosed(config, eventName),
    );
    const names = [...new Set(guards.map(({ config }) => `"${shortIdentity(config)}"`))];
    if (names.length === 0 || this.#hasWarnedOfGuards) return;
    this.#hasWarnedOfGuards = true;
    const shown = names.slice(0, MAX_NAMES).join(', ');
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
    this.#logger.warn(
      `Guards of this project (onFailure: "deny") do not run, as trustedFolder is false: ${shown}${more}; leave it out to have the user's consent decide`,
    );
  }

  #warnOfSearchPath(entries: readonly HookRegistryEntry[]): void {
    const relative = relativeEntries(hostEnvironment()['PATH']);
    if (relative.length === 0 || !entries.some(({ enabled }) => enabled)) return;
    this.#logger.warn(
      `PATH holds entries that are not absolute (${relative.map((entry) => JSON.stringify(entry)).join(', ')}): hooks do not get them, since a project could put its programs there`,
    );
  }

  /** One extension that cannot be read does not keep the others from being read. */
  #readExtension(extension: Extension): HookRegistryEntry[] {
    try {
      if (!extension.isActive) return [];
      const at = `extension ${extension.name}: hooks`;
      return this.#readSource(at, extension.hooks ?? {}, ConfigSource.Extensions, extension);
    } catch (error) {
      this.#logger.warn(
        `The hooks of the extension "${extension.name}" cannot be read and do not run: ${errorMessage(error)}`,
      );
      return [];
    }
  }

  #readSource(
    at: string,
    raw: unknown,
    source: ConfigSource,
    extension?: Extension,
  ): HookRegistryEntry[] {
    const { hooks, problems } = readGivenHooks(raw);
    for (const problem of problems) this.#logger.warn(formatGiven(at, problem));
    return Object.values(HookEventName).flatMap((eventName) =>
      (hooks[eventName] ?? []).flatMap((definition) =>
        definition.hooks.map((config) =>
          this.#register(config, definition, eventName, source, extension),
        ),
      ),
    );
  }

  #register(
    config: CommandHookConfig,
    definition: HookDefinition,
    eventName: HookEventName,
    source: ConfigSource,
    extension: Extension | undefined,
  ): HookRegistryEntry {
    const { hooks: _hooks, origin, ...group } = definition;
    const { matcher, sequential, when } = group;
    // What a host gives in code may come from the project as well.
    const given = { source, origin: origin ?? { scope: 'project' }, extension };
    const enabled = !isFromProject(given) || this.config.isTrustedFolder();
    const extensionPath = extension?.directory;
    const scope = scopeOf({ source, origin, extension });
    return {
      config: {
        ...(group.dialect === undefined ? config : inDialect(config, group.dialect)),
        ...(group.moment && { moment: group.moment }),
        ...(when !== undefined && { groupWhen: when }),
        ...(extensionPath !== undefined && { extensionPath }),
        ...(scope !== undefined && { scope }),
      },
      source,
      eventName,
      matcher,
      sequential,
      origin,
      group,
      extension,
      enabled,
      skipped: enabled ? undefined : 'untrusted',
      failures: 0,
    };
  }
}

function eventsOf(entries: readonly HookRegistryEntry[]): ReadonlySet<HookEventName> {
  return new Set(entries.map(({ eventName }) => eventName));
}

function knownOf(entries: readonly HookRegistryEntry[], isSettled: boolean): KnownHooks {
  const enabled = entries.filter((entry) => entry.enabled);
  const eventsWithMoments = eventsOf(entries.filter(hasMoments));
  return { isSettled, events: eventsOf(enabled), eventsWithMoments, plans: new Map() };
}

/** From here on, a timeout is in ms whatever the dialect. */
function inDialect(config: CommandHookConfig, dialect: DialectName): CommandHookConfig {
  const { ms } = dialects[dialect].timeoutUnit;
  const { timeout } = config;
  return { ...config, dialect, ...(timeout !== undefined && { timeout: timeout * ms }) };
}

function hasMoments({ config: { dialect }, eventName }: HookRegistryEntry): boolean {
  const known = dialect ? dialects[dialect].events : [];
  return known.some(({ event, moment }) => moment !== undefined && event === eventName);
}

/** Extensions of a project run first, so that they cannot undo changes of more trusted hooks. */
function orderOf(entry: HookRegistryEntry): number {
  const isOfProject = entry.source === ConfigSource.Extensions && isFromProject(entry);
  return isOfProject ? 0 : SOURCE_PRIORITY[entry.source];
}
