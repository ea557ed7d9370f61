import type { Next } from '../src/compose.js';
import type { AnyHookContext, HookContext } from '../src/context.js';
import { events, isConditional, type CallFacts } from '../src/protocol/events.js';
import { shortIdentity } from '../src/protocol/identity.js';
import { withResponseInPlace } from '../src/protocol/hookOutput.js';
import {
  HookEventName,
  type CommandHookConfig,
  type HookEventInput,
  type HookExecutionResult,
  type HookInput,
  type HookOutput,
  type ToolOutput,
} from '../src/protocol/types.js';
import { loadedRules, loadRules } from '../src/rules/load.js';
import { McpHooks } from '../src/mcp/mcpHooks.js';
import { PersistentHooks } from '../src/process/persistent/persistentHooks.js';
import { prepareInput, type PreparedInput, type SessionFields } from '../src/run/preparedInput.js';
import { isWithinSession, type AsyncSession } from '../src/run/asyncSession.js';
import { NOTHING_LATE, type LateAnswer, type LookedForLate } from '../src/protocol/lateAnswer.js';
import { StartAhead } from '../src/run/startAhead.js';
import { DebugLogger } from '../src/util/debugLogger.js';
import { createSpecificHookOutput } from './aggregator.js';
import { rerunGuards, type RunHooks } from './askAgain.js';
import type { AsyncHooks } from './asyncHooks.js';
import { runHook, type RunOptions } from './runHook.js';

/** Fourth stage: runs the plan, all hooks at once or one after the other. */
export function runner(hooks: Runner) {
  return async function runner(ctx: AnyHookContext, next: Next): Promise<void> {
    const { plan, event, payload, input, signal } = ctx as HookContext;
    if (!plan || !input) return;
    const facts = payload as object as CallFacts;
    const late = plan.background && (await hooks.startAsync?.(plan.background, ctx));
    const run: RunHooks = (some, read) =>
      plan.sequential
        ? hooks.executeHooksSequential(some, event, read, signal, facts, plan.call)
        : hooks.executeHooksParallel(some, event, read, signal, facts, plan.call);
    ctx.results = await run(plan.hookConfigs, input);
    if (plan.hookConfigs.length > 1) ctx.results = await rerunGuards(ctx as HookContext, run);
    if (late) ctx.results = [...ctx.results, ...late];
    await next();
  };
}

/** Anything that runs plans; usually a `HookRunner`. */
export type Runner = Pick<HookRunner, 'executeHooksParallel' | 'executeHooksSequential'> &
  Partial<Pick<HookRunner, 'startAsync' | 'endSession'>>;

/** What all runs of one host have in common. */
interface HostRunOptions extends RunOptions {
  /** Processes at a time; the others wait, and their timeouts with them. */
  readonly maxParallelHooks: number;
  /** Async hooks at a time; some more wait. */
  readonly maxAsyncHooks: number;
  /** Called with the result of each async hook. */
  readonly onAsyncEnd?: ((result: HookExecutionResult) => void) | undefined;
  readonly asyncHooks: AsyncMode;
  /** Makes ready for the next event. */
  readonly ahead: Pick<StartAhead, 'prepare' | 'prestart' | 'forget' | 'stop'>;
}

/**
 * What becomes of async hooks: they are started; waited for all the same, so that somebody sees what they do; run by
 * somebody else; or they are all that runs.
 */
export type AsyncMode = 'start' | 'wait' | 'only' | DetachHooks;

/** Has somebody else run so many async hooks of an event, as this process cannot wait for them. Never rejects. */
export type DetachHooks = (
  event: Pick<HookContext, 'event' | 'payload' | 'session'> & { readonly hooks: number },
) => Promise<void>;

/** What a host says of how its hooks run. A hook system names all of it, so that no setting is left at a default. */
export type RunSettings = Required<
  Omit<
    HostRunOptions,
    | 'logger'
    | 'signal'
    | 'facts'
    | 'probe'
    | 'warned'
    | 'ahead'
    | 'persistent'
    | 'mcp'
    | 'textBound'
    | 'onAsyncEnd'
  >
>;

interface SharedAsync {
  hooks: AsyncHooks | undefined;
  /** Whose settings count, and who ends them. */
  owner: HookRunner;
}

/** Runs hooks as processes. Nothing that a hook does makes a method reject. */
export class HookRunner {
  readonly #options: HostRunOptions;
  /** As they are until they change, for the runs that begin meanwhile. */
  #asNow: HostRunOptions | undefined;
  /** Shared with runners that this one replaces, or that replace it. */
  #shared: SharedAsync = { hooks: undefined, owner: this };

  /**
   * @param options what differs from the defaults: all of the environment, 16 processes at a time, 16 async ones, nothing
   *   that is started ahead, and no process that starts hooks
   */
  constructor(
    logger = new DebugLogger('llxprt:core:hooks:runner'),
    options: Partial<Omit<HostRunOptions, 'logger' | 'signal'>> = {},
  ) {
    const given = {
      logger: DebugLogger.safe(logger),
      environment: {},
      maxParallelHooks: 16,
      maxAsyncHooks: 16,
      asyncHooks: 'start' as const,
      warmShells: 0,
      warned: new Set<string>(),
      persistent: new PersistentHooks(),
      mcp: new McpHooks(),
      ...options,
    };
    this.#options = Object.assign(given, { ahead: options.ahead ?? new StartAhead(given) });
  }

  /** Takes over what the host says now of how hooks run. What runs already goes on as it began. */
  adopt(
    settings: Partial<
      Pick<HostRunOptions, 'environment' | 'maxParallelHooks' | 'maxAsyncHooks' | 'textBound'>
    >,
  ): void {
    Object.assign(this.#options, settings);
    this.#asNow = undefined;
  }

  /** The options of one event. They inherit the others, as a copy of so many takes longer than a rule. */
  #optionsOf(event: Pick<RunOptions, 'signal' | 'facts'>): HostRunOptions {
    this.#asNow ??= { ...this.#options };
    return Object.assign(Object.create(this.#asNow) as HostRunOptions, event);
  }

  /**
   * Runs one hook.
   *
   * @param facts of the call, which hooks of other agents read beside the input: what `callFactsOf` takes from the
   *   payload. Without them, those hooks get no `tool_use_id` and no `duration_ms`
   */
  executeHook(
    hookConfig: CommandHookConfig,
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
    facts?: CallFacts,
  ): Promise<HookExecutionResult> {
    const options = this.#optionsOf({ signal, facts });
    return runHook(hookConfig, eventName, prepareInput(input, options), options);
  }

  /**
   * Runs all hooks at once on the same input.
   *
   * @param facts as for `executeHook`
   * @param call what is known of it already, of the plan
   * @returns one result for each hook whose conditions match, in the given order
   */
  async executeHooksParallel(
    hookConfigs: readonly CommandHookConfig[],
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
    facts?: CallFacts,
    call?: object,
  ): Promise<HookExecutionResult[]> {
    const options = this.#optionsOf({ signal, facts });
    const prepared = prepareInput(input, options, call);
    const running = hookConfigs.some(isConditional)
      ? await withMatchingConditions(hookConfigs, eventName, prepared)
      : hookConfigs;
    const [only] = running;
    const results =
      only && running.length === 1
        ? [await runHook(only, eventName, prepared, options)]
        : await runSideBySide(running, eventName, prepared, options);
    this.#prepareForNext(results, hookConfigs, input);
    return results;
  }

  /**
   * Runs hooks one after the other. What a healthy hook changed is what the next one reads; a block or a stop ends
   * the chain, that of a project's hook for the project's others. Rules that redact run all the same: what a tool gave is
   * read also where a hook objects to it.
   *
   * @param facts as for `executeHook`
   * @param call as for `executeHooksParallel`
   * @returns one result for each hook that ran
   */
  async executeHooksSequential(
    hookConfigs: readonly CommandHookConfig[],
    eventName: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
    facts?: CallFacts,
    call?: object,
  ): Promise<HookExecutionResult[]> {
    const results: HookExecutionResult[] = [];
    const options = this.#optionsOf({ signal, facts });
    let current = input;
    let ended: 'project' | 'all' | undefined;
    for (const hook of hookConfigs) {
      const isLeftOut = ended === 'all' || (ended && hook.scope === ended);
      if (isLeftOut && !hook.redact) continue;
      const prepared = prepareInput(current, options, call);
      if (isConditional(hook)) {
        const [matching] = await withMatchingConditions([hook], eventName, prepared);
        if (!matching) continue;
      }
      const result = await runHook(hook, eventName, prepared, options);
      results.push(result);
      const { output, success } = result;
      if (!output) continue;
      if (endsChain(output, eventName)) {
        // A block by a project's hook ends the chain for the project's hooks only.
        ended = hook.scope === 'project' ? (ended ?? 'project') : 'all';
      } else if (success) current = this.applyHookOutputToInput(current, output, eventName);
    }
    this.#prepareForNext(results, hookConfigs, input);
    return results;
  }

  /**
   * Starts the async hooks of an event, and waits for none of them.
   *
   * @returns their results, where the host waits for them all the same
   */
  async startAsync(
    hookConfigs: readonly CommandHookConfig[],
    ctx: Pick<HookContext, 'event' | 'payload' | 'session' | 'input'>,
  ): Promise<readonly HookExecutionResult[] | undefined> {
    const { event, payload, session, input } = ctx;
    const options = { ...this.#options, facts: payload as object as CallFacts };
    const prepared = prepareInput(input as HookInput, options);
    const meant = hookConfigs.some(isConditional)
      ? await withMatchingConditions(hookConfigs, event, prepared)
      : hookConfigs;
    if (meant.length === 0) return undefined;
    const { asyncHooks: mode } = options;
    if (typeof mode === 'function') {
      await mode({ event, payload, session, hooks: meant.length });
      return undefined;
    }
    const module = await import('./asyncHooks.js');
    if (mode === 'wait') {
      return (await runSideBySide(meant, event, prepared, options)).map(module.asLate);
    }
    const own = { ...session, sessionId: prepared.input.session_id };
    const hooks = (this.#shared.hooks ??= new module.AsyncHooks(this.#shared.owner.#options));
    for (const hook of meant) hooks.start(hook, event, prepared, options, own);
    return undefined;
  }

  /**
   * Goes on with the async hooks of a runner that is to end, with those that it still starts, and with what sessions have
   * used of the budget of prompts.
   */
  continueFrom(replaced: HookRunner): void {
    const { prompts } = replaced.#options;
    if (prompts) this.#options.prompts?.continueFrom(prompts);
    this.#shared = replaced.#shared;
    this.#shared.owner = this;
    this.#shared.hooks?.follow(this.#options);
  }

  get #async(): AsyncHooks | undefined {
    return this.#shared.hooks;
  }

  /** Waits until no async hook runs, or waits for its turn. */
  async untilAsyncEnded(): Promise<void> {
    await this.#async?.untilEnded();
  }

  /** See `LookedForLate`. */
  lookForLate(session: AsyncSession): LookedForLate {
    const hooks = this.#async;
    if (!hooks) return NOTHING_LATE;
    const [isThere, wakes] = [hooks.has(session), hooks.wakes(session)];
    return { isThere, wakes, mayCome: hooks.areRunning(session) };
  }

  /** What async hooks of a session have said since it was asked last. Synchronous. */
  takeLate(session: AsyncSession): readonly LateAnswer[] {
    return this.#async?.take(session) ?? [];
  }

  /** The model has not read it after all. */
  giveBackLate(session: AsyncSession, answers: readonly LateAnswer[]): void {
    this.#async?.giveBack(session, answers);
  }

  /**
   * Waits for the async hooks of a session that may send its agent back to work; see `AsyncHooks`.
   *
   * @returns what the model is to read then
   */
  async untilWoken(session: AsyncSession, signal?: AbortSignal): Promise<readonly LateAnswer[]> {
    return (await this.#async?.untilWoken(session, signal)) ?? [];
  }

  /** Ends the async hooks of a session after a short grace, and waits for that. */
  async endSession(session: AsyncSession): Promise<void> {
    if (!isWithinSession(session)) this.#options.prompts?.endSession(session.sessionId);
    await this.#async?.endSession(session);
  }

  /** Ends all async hooks, for good. */
  async endAsync(): Promise<void> {
    if (this.#shared.owner === this) await this.#async?.dispose();
  }

  /** What the next hook of a chain reads after `output`. The same input where the event does not chain. */
  applyHookOutputToInput(
    input: HookInput,
    output: HookOutput,
    eventName: HookEventName,
  ): HookInput {
    const chain = events[eventName].chain as
      | ((input: HookInput, output: HookOutput) => HookEventInput<HookEventName>)
      | undefined;
    return chain ? chain(input, output) : input;
  }

  /** Makes ready for the next event, unless no hook was started: a result without a process has no stdout. */
  #prepareForNext(
    results: readonly HookExecutionResult[],
    hookConfigs: readonly CommandHookConfig[],
    input: HookInput,
  ): void {
    for (const { stdout } of results) {
      if (stdout !== undefined) return this.#options.ahead.prepare(hookConfigs, input);
    }
  }

  /**
   * Makes ready for hooks that may come next: starts those that say `prestart`, and shells for the others. Every run
   * does so for its own hooks.
   */
  prepare(hookConfigs: readonly CommandHookConfig[], input: SessionFields): void {
    this.#options.ahead.prepare(hookConfigs, input);
    // `ahead.prepare` starts those of the ordinary hooks that say `prestart`, and none of the persistent ones.
    this.#options.ahead.prestart(
      hookConfigs.filter(({ persistent }) => persistent),
      input,
    );
  }

  /** Starts the hooks that say `prestart`, and nothing else. */
  prestart(hookConfigs: readonly CommandHookConfig[], input: SessionFields): void {
    this.#options.ahead.prestart(hookConfigs, input);
  }

  /** Ends what was started ahead in a directory, because other hooks count now. */
  forgetPrestarted(cwd: string): void {
    this.#options.ahead.forget(cwd);
    this.#options.persistent?.forget();
    void this.endServers();
  }

  /** Ends the MCP servers that are kept. The next event that needs one starts it anew. */
  async endServers(): Promise<void> {
    await this.#options.mcp?.stop();
  }

  /** Prepares nothing any more, and lets go of what waits in a directory. */
  stopPreparing(cwd: string): void {
    this.#options.ahead.stop(cwd);
    this.#options.persistent?.stop();
  }
}

/** The hooks whose conditions match what they would read. */
async function withMatchingConditions(
  hookConfigs: readonly CommandHookConfig[],
  event: HookEventName,
  prepared: PreparedInput,
): Promise<readonly CommandHookConfig[]> {
  const { callOf, findMatch } = loadedRules() ?? (await loadRules());
  const call = callOf(prepared);
  return hookConfigs.filter((hook) => !isConditional(hook) || findMatch(hook, event, call));
}

async function runSideBySide(
  hookConfigs: readonly CommandHookConfig[],
  event: HookEventName,
  prepared: PreparedInput,
  options: HostRunOptions,
): Promise<HookExecutionResult[]> {
  const results: HookExecutionResult[] = [];
  const waiting = hookConfigs.entries();
  const work = async () => {
    for (const [index, hook] of waiting) {
      results[index] = await runHook(hook, event, prepared, options);
    }
  };
  const workers = Math.min(Math.max(1, options.maxParallelHooks), hookConfigs.length);
  await Promise.all(Array.from({ length: workers }, work));
  warnOfLostOutputs(results, event, options);
  return results;
}

/** Each of them read what the tool gave, so that what one has filtered out is back in what the other made of it. */
function warnOfLostOutputs(
  results: readonly HookExecutionResult[],
  event: HookEventName,
  { logger, warned }: RunOptions,
): void {
  if (event !== HookEventName.AfterTool || results.length < 2) return;
  const replacing = results.filter(outputOf);
  const isLost = replacing.some((result) => !outputOf(result)?.isDenial);
  if (replacing.length < 2 || !isLost) return;
  const names = replacing.map(({ hookConfig }) => `"${shortIdentity(hookConfig)}"`).join(', ');
  const message = `${event}: several hooks replaced the same result at the same time (${names}), and one replacement counts: that of a denial, else the last; add "sequential": true to their group, so that each reads what the one before it left`;
  if (!warned?.has(message)) logger.warn(message);
  warned?.add(message);
}

function outputOf({ output }: HookExecutionResult): ToolOutput | undefined {
  return output && withResponseInPlace(output).foreign?.toolOutput;
}

function endsChain(output: HookOutput, event: HookEventName): boolean {
  const verdict = createSpecificHookOutput(output, event);
  return verdict.isBlockingDecision() || verdict.shouldStopExecution();
}
