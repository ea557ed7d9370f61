import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Extension } from '../hooks/entry.js';
import {
  requireOptions,
  tokenVariablesOf,
  type AfterModelDisplay,
  type ConfigOptions,
} from './configOptions.js';
import {
  modelStages,
  toolStages,
  type FireHook,
  type ModelStages,
} from '../../middleware/callerEffects.js';
import type { AsyncMode } from '../../middleware/runner.js';
import type { Middleware } from '../compose.js';
import { Approvals } from '../approvals/approvals.js';
import { questionOf, type AskPerson } from '../approvals/question.js';
import { DebugLogger } from '../util/debugLogger.js';
import type { HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import { fireHook, hasGuards, mayBeRead, skipIdle } from '../hooks/fireHook.js';
import type { HookGate, HookHost } from '../hooks/host.js';
import { HookSystem } from '../hooks/hookSystem.js';
import { ConsentGate } from '../trust/consentGate.js';
import type { PromptMemory, PromptModel } from '../prompts/promptModel.js';
import {
  HookEventName,
  type AskModel,
  type CommandHookConfig,
  type PromptBudget,
  type WrittenHooks,
} from '../protocol/types.js';
import type { HookConsent } from '../trust/consent.js';
import { openConsent } from '../trust/openConsent.js';
import {
  buildStack,
  checkRegistration,
  listLayers,
  type Registration,
  type Stack,
} from '../stack.js';
import type { StackContexts } from '../context.js';
import type { Position, StackName, StageName } from '../protocol/stages.js';
import type { SessionTextBound } from '../../middleware/runHook.js';
import { MAX_HOOK_TEXT } from '../protocol/sanitizeText.js';
import type { LongTexts } from '../run/longTexts.js';
import type { ReloadedOptions, SettingsWatch, WatchOptions } from './settingsWatch.js';

export type { AfterModelDisplay, ConfigOptions } from './configOptions.js';
export type { ReloadedOptions, WatchOptions } from './settingsWatch.js';

/**
 * What the hook system knows of its host. Reads nothing from disk but what the user has allowed, and that only for
 * hooks that came with a project; see `loadSettings` for the rest.
 */
export class Config implements HookHost {
  #options: ConfigOptions;
  #sessionId: string | undefined;
  #transcriptPath: string | undefined;
  #hookSystem: HookSystem | undefined;
  #offeredModel: AskModel | undefined;
  readonly #registrations: { [S in StackName]: Registration<S>[] } = {
    tool: [],
    model: [],
    hook: [],
  };
  #toolStack: Stack<'tool'> | undefined;
  #modelStack: Stack<'model'> | undefined;
  #closed = false;
  #logger: DebugLogger | undefined;
  #approvals: Approvals | undefined;
  #consent: Promise<HookConsent> | undefined;
  /** Always the same object, since environments are cached by it. */
  #hookEnvironment: HookEnvironmentPolicy | undefined;
  #watch: SettingsWatch | undefined;
  #longTexts: LongTexts | undefined;
  /** Folders outside of the working directory whose files the agent's tools may read: they hold long texts of hooks. */
  readonly readableFolders = new Set<string>();

  /**
   * @throws TypeError for an option that does not exist, or of another kind, and for hooks of which a part would be left
   *   out or have no effect. What `loadSettings` has read and reported is no reason
   * @throws RangeError when a limit makes no sense
   */
  constructor(options: ConfigOptions = {}) {
    requireOptions(options);
    this.#options = options;
    this.#sessionId = options.sessionId;
    this.#transcriptPath = options.transcriptPath;
    // A request on the bus may come before any event of the host, and is answered also while hooks are off.
    if (options.messageBus) this.#hookSystem = this.#openHookSystem();
    if (options.enableHooks === undefined && Object.keys(this.getHooks()).length > 0) {
      this.getDebugLogger().warn(
        'Hooks are configured and none of them runs: pass enableHooks: true to Config, or false to leave them off',
      );
    }
  }

  /** Whether hooks run at all. Default false. */
  getEnableHooks(): boolean {
    return this.#options.enableHooks === true;
  }

  /** The hook system, made at the first call. `undefined` while hooks are off. Nothing is read or started yet. */
  getHookSystem(): HookSystem | undefined {
    if (!this.getEnableHooks() && !this.hasChanged()) return undefined;
    return (this.#hookSystem ??= this.#openHookSystem());
  }

  /**
   * Follows the settings files, the extensions and what the user has allowed: what has changed counts at the next event.
   * What a file said stays in force where it cannot be read, where something wrong in it would cost a guard, and where one of
   * user or system with guards is gone, or an extension; so do `enableHooks: true` and allowed guards that a project
   * takes back; each with a warning; an event that runs ends with the
   * hooks that it began with. Middleware stays as it is, as do options that no hook is run by.
   *
   * @returns what ends it, as `dispose` does. Rejects where the module could not be loaded
   */
  async watch(options: WatchOptions = {}): Promise<() => void> {
    const { SettingsWatch: Watch } = await import('./settingsWatch.js');
    const logger = this.getDebugLogger();
    const watch = new Watch({ workingDir: this.getWorkingDir(), logger }, options);
    const isReplaced = this.#take(await watch.read(this.#options));
    this.#watch = watch;
    const system = (this.#hookSystem ??= this.#openHookSystem());
    system.watch();
    if (isReplaced && system.isInitialized()) await system.reload();
    return () => {
      if (this.#watch === watch) this.#watch = undefined;
    };
  }

  /** Whether a file that is followed may say something else than when it was read. */
  hasChanged(): boolean {
    return this.#watch?.hasChanged() === true;
  }

  /**
   * Reads the files anew that are followed.
   *
   * @returns whether something of the hooks is another one. Never rejects
   */
  async refresh(): Promise<boolean> {
    const options = await this.#watch?.read(this.#options);
    return this.#take(options);
  }

  #take(options: ReloadedOptions | undefined): boolean {
    if (!options) return false;
    const { approvals } = this.#options;
    this.#options = { ...this.#options, ...options };
    this.#hookEnvironment = undefined;
    // What a person has allowed for the session stays allowed, unless it is treated in another way from now on.
    if (!isDeepStrictEqual(approvals, this.#options.approvals)) this.#approvals = undefined;
    if (!this.#options.consent) this.#consent = undefined;
    return true;
  }

  #openHookSystem(): HookSystem {
    return new HookSystem(this, this.#options.messageBus, this.getDebugLogger());
  }

  /**
   * Ends what the hook system holds: its subscription on the message bus, and what was started ahead. The same as
   * `getHookSystem()?.dispose()`, but also where hooks are off. May be called more than once.
   */
  async dispose(): Promise<void> {
    this.#watch = undefined;
    await this.#hookSystem?.dispose();
    if (this.#options.longHookTexts !== 'stay') this.#longTexts?.dispose();
  }

  /** The hooks of all settings files, merged, by event. */
  getHooks(): WrittenHooks {
    return this.#options.hooks ?? {};
  }

  getExtensions(): readonly Extension[] {
    return this.#options.extensions ?? [];
  }

  /** Names (or commands) of hooks that are switched off. */
  getDisabledHooks(): readonly string[] {
    return this.#options.disabledHooks ?? [];
  }

  /** Whether the project's own hooks may run. Default true: a host that passes hooks in code means them. */
  isTrustedFolder(): boolean {
    return this.#options.trustedFolder ?? true;
  }

  /** Whether hooks that came with the project need the user's consent: unless `trustedFolder` says all or none. */
  needsConsent(): boolean {
    return this.#options.trustedFolder === undefined;
  }

  /**
   * What the user has allowed of the project; read at the first call, unless the host has passed it.
   *
   * @returns rejects when that cannot be found out; the next call tries again
   */
  getConsent(): Promise<HookConsent> {
    this.#consent ??= this.#options.consent
      ? Promise.resolve(this.#options.consent)
      : openConsent({ workingDir: this.getWorkingDir() }).catch((error: unknown) => {
          this.#consent = undefined;
          throw error;
        });
    return this.#consent;
  }

  /** What lets hooks of the project run only as the user has allowed them. */
  openGate(logger: DebugLogger): HookGate {
    return new ConsentGate(this, logger);
  }

  /** Identifies the session in every hook's input. Default a random UUID. */
  getSessionId(): string {
    return (this.#sessionId ??= randomUUID());
  }

  /** Absolute path in which hooks run. Default the current directory of the process. */
  getWorkingDir(): string {
    return this.#options.workingDir ?? process.cwd();
  }

  /** Absolute path of the session's transcript, for hooks to read; `undefined` where there is none. */
  getTranscriptPath(): string | undefined {
    return this.#transcriptPath;
  }

  /** Says where the transcript is from now on; `undefined` that there is none. */
  setTranscriptPath(file: string | undefined): void {
    this.#transcriptPath = file;
  }

  /**
   * Where the hook system and its users write. Default: the namespace `llxprt:core:hooks`. It never throws, whatever
   * the host's own does.
   */
  getDebugLogger(): DebugLogger {
    this.#logger ??= DebugLogger.safe(
      this.#options.debugLogger ?? new DebugLogger('llxprt:core:hooks'),
    );
    return this.#logger;
  }

  /** Which variables of this process reach its hooks, and which are masked. Default: all, and tokens of remote hooks. */
  getHookEnvironment(): HookEnvironmentPolicy {
    return (this.#hookEnvironment ??= {
      ...this.#options.hookEnvironment,
      tokenVariables: tokenVariablesOf(this.#options),
    });
  }

  /** Hook processes that may run at a time for one event; the others wait. Default 16. */
  getMaxParallelHooks(): number {
    return this.#options.maxParallelHooks ?? 16;
  }

  /** Async hooks that may run at a time; some more wait. Default 16. */
  getMaxAsyncHooks(): number {
    return this.#options.maxAsyncHooks ?? 16;
  }

  /** What becomes of async hooks. Default `start`. */
  getAsyncHooks(): AsyncMode {
    return this.#options.asyncHooks ?? 'start';
  }

  /**
   * How many hooks may be started ahead of their event, where bash reads them. Default 16, or what
   * `HOOKSTACK_WARM_SHELLS` says; 0 starts none.
   */
  getWarmShells(): number {
    return this.#options.hooksRunner?.warmShells ?? warmShellsFromEnvironment();
  }

  /**
   * Whether a helper process starts hooks, once the first one has run, so that no start waits for the memory of this
   * one. Default true, or what `HOOKSTACK_SPAWNER` says; `0` is false.
   */
  usesSpawner(): boolean {
    return this.#options.hooksRunner?.spawner ?? process.env['HOOKSTACK_SPAWNER'] !== '0';
  }

  /** Whether processes of hooks that say `persistent` stay for the events to come. Default true. */
  keepsHooks(): boolean {
    return this.#options.keepHooks ?? true;
  }

  /** How long texts of hooks may be, and what becomes of longer ones; `undefined` for the default. Never rejects. */
  getTextBound(): Promise<SessionTextBound> | undefined {
    const { maxHookText: max = MAX_HOOK_TEXT, longHookTexts = 'cut' } = this.#options;
    if (longHookTexts !== 'cut') return this.#keepLongTexts(max);
    return max === MAX_HOOK_TEXT ? undefined : Promise.resolve({ max });
  }

  async #keepLongTexts(max: number): Promise<SessionTextBound> {
    try {
      const { LongTexts: Texts } = await import('../run/longTexts.js');
      const warn = (message: string) => this.getDebugLogger().warn(message);
      const texts = (this.#longTexts ??= new Texts(this.readableFolders, warn));
      return { max, shorten: texts.shorten.bind(texts) };
    } catch {
      return { max };
    }
  }

  /**
   * Has the host's model judge hooks of the type `prompt`, unless the options name one. `runAgent` does so with its own.
   */
  offerModel(askModel: AskModel): void {
    this.#offeredModel = askModel;
  }

  /** The host's model for hooks of the type `prompt`, where it has one. */
  getAskModel(): AskModel | undefined {
    return this.#options.askModel ?? this.#offeredModel;
  }

  /** The model that settings name for those hooks, which comes first. */
  getPromptModel(): PromptModel | undefined {
    return this.#options.promptModel;
  }

  /** What those hooks may use. Default: 200,000 tokens a session, and 30 seconds each. */
  getPromptBudget(): PromptBudget | undefined {
    return this.#options.promptBudget;
  }

  /** Where it is kept what they have used. Default `process`. */
  getPromptMemory(): PromptMemory {
    return this.#options.promptMemory ?? 'process';
  }

  /** Default `stream`. */
  getAfterModelDisplay(): AfterModelDisplay {
    return this.#options.afterModelDisplay ?? 'stream';
  }

  /**
   * Whether an answer of the model is kept from the screen until AfterModel hooks have seen it: as `afterModelDisplay`
   * says, and where one of them is a guard (`onFailure: "deny"`), which may have to withhold it.
   */
  holdsAnswers(): boolean {
    return this.getAfterModelDisplay() === 'hold' || hasGuards(this, HookEventName.AfterModel);
  }

  /**
   * Adds a middleware to a stack. Without a position it stands outermost, so that hooks see what it rewrote.
   *
   * @throws RangeError when there is no such stack, or the position names no stage of it
   * @throws TypeError when the middleware is not a function
   * @throws Error when the first event has already been fired
   */
  use<S extends StackName>(
    stackName: S,
    middleware: Middleware<StackContexts[S]>,
    position: Position<S> = {},
  ): this {
    if (this.#closed) {
      throw new Error(
        `Middleware "${position.name ?? middleware.name}" comes too late: register it before the first event`,
      );
    }
    checkRegistration(stackName, middleware, position);
    const registrations: Registration<S>[] = this.#registrations[stackName];
    registrations.push({ ...position, middleware });
    return this;
  }

  /** The names of a stack's layers, from the outside in, as they are up to now. */
  stack(stackName: StackName): readonly string[] {
    return listLayers(stackName, this.#registrations[stackName]);
  }

  /** The custom middleware of a stack. Asking closes the registration, because a stack is composed once. */
  registrations<S extends StackName>(stackName: S): readonly Registration<S>[] {
    this.#closed = true;
    return this.#registrations[stackName];
  }

  /** The stack around every tool execution, composed at the first call. */
  getToolStack(): Stack<'tool'> {
    return (this.#toolStack ??= this.makeToolStack(this.#fire));
  }

  /** The same for a call whose hooks are asked in another way. */
  makeToolStack(fire: FireHook): Stack<'tool'> {
    const stages = toolStages(fire, {
      askPerson: this.askPerson,
      canAsk: this.#options.approver ? true : undefined,
      mayBeRead: mayBeRead.bind(undefined, this),
    });
    return this.#build('tool', stages);
  }

  /** The stack around every model call, composed at the first call. */
  getModelStack(): Stack<'model'> {
    return (this.#modelStack ??= this.#build('model', this.getModelStages()));
  }

  /** The stages of this stack: where hooks are asked about a model call, and the call itself. */
  getModelStages(): ModelStages {
    return modelStages(this.#fire, {
      skipIdle: (event) => skipIdle(this, event),
      mayBeRead: mayBeRead.bind(undefined, this),
      holdsAnswers: () => this.holdsAnswers(),
      takeLate: (session) => this.#hookSystem?.takeLate(session) ?? [],
      giveBackLate: (session, answers) => this.#hookSystem?.giveBackLate(answers, session),
      askPerson: this.askPerson,
      getDebugLogger: () => this.getDebugLogger(),
    });
  }

  /** Puts to the approver what hooks ask. */
  readonly askPerson: AskPerson = (event, aggregated, subject, options) => {
    const { approver, approvals = {} } = this.#options;
    this.#approvals ??= new Approvals(approver, approvals, this.getDebugLogger());
    return this.#approvals.ask(
      questionOf(event, aggregated, subject, this, options.session),
      options,
    );
  };

  /** Takes back questions that are open, by id: the answer to them is no. */
  takeBackQuestions(ids: Iterable<string>): void {
    this.#approvals?.takeBack(ids);
  }

  /** Where a hook of this configuration was written: `user`, `project` and others; `host` where none says so. */
  sourceOf(hook: CommandHookConfig): string {
    const found = this.#hookSystem
      ?.getAllHooks()
      .find(({ config, standIn }) => config === hook || standIn?.config === hook);
    // With a prefix, since an extension may be called "user".
    if (found?.extension) return `extension ${found.extension.name}`;
    return found?.origin?.scope ?? 'host';
  }

  readonly #fire = fireHook.bind(undefined, this) as FireHook;

  #build<S extends StackName>(
    name: S,
    stages: Record<StageName<S>, Middleware<StackContexts[S]>>,
  ): Stack<S> {
    const sessionId = () => this.getSessionId();
    return buildStack(name, stages, this.registrations(name), this.getDebugLogger(), sessionId);
  }
}

function warmShellsFromEnvironment(): number {
  const count = Number(process.env['HOOKSTACK_WARM_SHELLS'] ?? '16');
  return Number.isSafeInteger(count) && count >= 0 ? count : 16;
}
