import type { Next } from '../src/compose.js';
import type { AnyHookContext, HookContext } from '../src/context.js';
import { DebugLogger } from '../src/util/debugLogger.js';
import type { MatcherReading } from '../src/dialects/dialect.js';
import type {
  DialectName,
  CommandHookConfig,
  HookEventName,
  HookExecutionPlan,
  Moment,
} from '../src/protocol/types.js';
import { dialects, readMatcher, theirSubject } from '../src/dialects/dialects.js';
import {
  events,
  type EventDefinition,
  failsClosed,
  isAsync,
  isConditional,
} from '../src/protocol/events.js';
import { theirToolNames } from '../src/dialects/translate.js';
import { isFromProject, shortIdentity } from '../src/protocol/identity.js';
import { findGuards, findSubstitutes, type Startable } from '../src/run/sameCommand.js';
import { isTimeout, MATCH_LIMIT_MS, testWithLimit } from '../src/util/limitedRegExp.js';
import { loadedRules } from '../src/rules/load.js';
import type { KnownCall } from '../src/rules/types.js';
import { startStopwatch } from '../src/util/stopwatch.js';

/** What the gate asks: both answers are synchronous and cost no I/O. */
interface Enablement {
  isEnabled(): boolean;
  hasHooksFor(event: HookEventName): boolean;
}

/** First stage: with hooks off, or none for this event, the rest of the stack does not run. */
export function enablementGate(enablement: Enablement) {
  return async function enablementGate(ctx: AnyHookContext, next: Next): Promise<void> {
    if (!enablement.isEnabled()) return;
    if (ctx.plan || enablement.hasHooksFor(ctx.event)) await next();
  };
}

/** What matchers are tested against. Model events have no context: all their hooks run. */
export interface PlanContext {
  readonly toolName?: string;
  /** At events of a sub-agent, its kind. */
  readonly agentType?: string;
  /** What matchers of dialects are tested against, at events without a tool. */
  readonly subject?: string;
  /** The moment of the event, where other agents tell it apart. */
  readonly moment?: Moment;
}

/** Finds the hooks that run for an event; usually a `HookPlanner`. */
export interface Planner {
  createExecutionPlan(event: HookEventName, context?: PlanContext): HookExecutionPlan | null;
}

/**
 * Second stage: finds the hooks to run. Nothing to run → the rest of the stack does not run.
 *
 * @param isAlone whether no custom middleware stands before it. Only then can a plan that is already there be trusted:
 *   anybody else's could leave guards out. Default false
 */
export function planner(plans: Planner, isAlone = false) {
  return async function planner(ctx: AnyHookContext, next: Next): Promise<void> {
    const plan = isAlone ? ctx.plan : undefined;
    ctx.plan = plan ?? plans.createExecutionPlan(ctx.event, planContext(ctx));
    if (ctx.plan) await next();
  };
}

/**
 * The context in which an event is planned: the tool's name, or what else matchers may be tested against.
 *
 * @param hasMoments whether the moment matters; to know it, the result of a tool is looked at. Default true
 */
export function planContext<E extends HookEventName>(
  { event, payload }: Pick<HookContext<E>, 'event' | 'payload'>,
  hasMoments = true,
): PlanContext | undefined {
  const { matchOn, dialectsMatchOn, momentOf }: EventDefinition<E> = events[event];
  if (matchOn !== 'toolName') return otherContext(payload, matchOn, dialectsMatchOn);
  const moment = hasMoments ? momentOf?.(payload) : undefined;
  return { toolName: payload[matchOn] as string, moment };
}

/** The same at an event without a tool. */
function otherContext<P>(
  payload: P,
  matchOn: keyof P | undefined,
  dialectsMatchOn: keyof P | undefined,
): PlanContext | undefined {
  if (matchOn) return { agentType: payload[matchOn] as string };
  return dialectsMatchOn && { subject: payload[dialectsMatchOn] as string };
}

/** What came of trying a matcher. `undecided`: it took too long, or is no expression. */
export type Match = 'yes' | 'no' | 'undecided';

/** A registered hook, as far as planning needs to know it. */
export interface PlannedHook extends Startable {
  readonly eventName: HookEventName;
  readonly matcher?: string;
  readonly sequential?: boolean;
}

/** What is known of the hooks of a host, until something of it changes. */
export interface KnownHooks {
  /** Whether the hooks have been read, and it is known which of the project's are allowed. */
  readonly isSettled: boolean;
  /** The events of which a hook may run. */
  readonly events: ReadonlySet<HookEventName>;
  /** The events of which a hook's agent tells moments apart. */
  readonly eventsWithMoments: ReadonlySet<HookEventName>;
  /** The plans that were made: by event and moment, and then by what matchers are tested against. */
  readonly plans: Map<string, Map<string, HookExecutionPlan | null>>;
}

/** The hooks of a host, as far as planning needs to know them. */
export interface PlannedHooks {
  readonly known: KnownHooks;
  /** The hooks of one event that may run, in order of priority. */
  getHooksForEvent(event: HookEventName): readonly PlannedHook[];
  /** What came of trying matchers, by matcher and tool. */
  readonly matches: Map<string, Match>;
  /** The same hook as a guard, for one that stands for a guard as well. */
  asGuard(entry: PlannedHook): PlannedHook;
}

/** Plans events over the hooks of a host. A plan for the same event and tool is made once. */
export class HookPlanner implements Planner {
  readonly #logger: DebugLogger;

  constructor(
    private readonly registry: PlannedHooks,
    logger = new DebugLogger('llxprt:core:hooks:planner'),
    /** Whether hooks that are waited for are left out. */
    private readonly isAsyncOnly = false,
  ) {
    this.#logger = DebugLogger.safe(logger);
  }

  /**
   * Which hooks run for an event.
   *
   * @param context the tool's name for tool events, nothing for others
   * @returns `null` when there is nothing to run
   */
  createExecutionPlan(event: HookEventName, context: PlanContext = {}): HookExecutionPlan | null {
    const { plans, eventsWithMoments } = this.registry.known;
    // No hooks run where a call was asked about already, but those that are for that.
    const isApart = context.moment === 'asked' || eventsWithMoments.has(event);
    const moment = isApart ? context.moment : undefined;
    // A text that is made for each event would have to be hashed for each.
    const when = moment === undefined ? event : `${event} ${moment}`;
    const key = context.toolName ?? context.agentType ?? context.subject ?? '';
    const plan = plans.get(when)?.get(key);
    return plan === undefined ? this.#make(event, { ...context, moment }, when, key) : plan;
  }

  #make(event: HookEventName, context: PlanContext, when: string, key: string) {
    const { plans } = this.registry.known;
    const all = createExecutionPlan(this.registry, this.#logger, event, context);
    const plan = all && this.isAsyncOnly ? { ...all, hookConfigs: [] } : all;
    const made = plans.get(when) ?? new Map<string, HookExecutionPlan | null>();
    cacheUpTo(made, key, plan);
    plans.set(when, made);
    return plan;
  }
}

/** At most this many plans and matches are kept; names of tools come from a model and have no bound. */
const MAX_CACHED = 10_000;

function cacheUpTo<T>(cache: Map<string, T>, key: string, value: T): void {
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(key, value);
}

/**
 * Which hooks run, in which order: those that match, each command once (the first, which comes from the source of the
 * highest priority, but never a project's in place of another). One sequential group makes the whole event sequential.
 *
 * @returns `null` when there is nothing to run
 */
export function createExecutionPlan(
  registry: PlannedHooks,
  logger: DebugLogger,
  event: HookEventName,
  context?: PlanContext,
): HookExecutionPlan | null {
  const budget = new MatcherBudget();
  const matching = registry
    .getHooksForEvent(event)
    .filter((entry) => matcherLetsRun(registry, entry, context, logger, budget));
  const entries = withoutDuplicates(registry, matching);
  if (entries.length === 0) return null;
  const hooks = entries.map((entry) => entry.config);
  const background = hooks.filter((hook) => isAsync(hook, event));
  return {
    eventName: event,
    hookConfigs: hooks.filter((hook) => !background.includes(hook)),
    ...(background.length > 0 && { background }),
    // What one takes out of a text must not be back in what another made of the same text.
    sequential: entries.some(({ sequential, config }) => sequential === true || !!config.redact),
    ...(hooks.every(isConditional) && { isConditional: true }),
    ...(hooks.every(answersAtOnce) && { isInstant: true }),
  };
}

/** Expressions are loaded, and the consent to a project's hooks is read. */
function answersAtOnce({ type, expr, scope }: CommandHookConfig): boolean {
  return type === 'rule' && expr === undefined && scope !== 'project';
}

/**
 * The same plan, or `null` where the conditions of all its hooks leave them out of a call. Where only one lets its hook run,
 * it may change the call, so that the others have to be tried again.
 *
 * @param isLast whether nobody changes the call before the hooks read it, so that they need not be tried again for it
 */
export function withConditions(
  plan: HookExecutionPlan,
  call: KnownCall,
  isLast: boolean,
): HookExecutionPlan | null {
  const rules = loadedRules();
  if (!rules) return plan;
  const { eventName, hookConfigs, background, sequential, isInstant } = plan;
  const runs = (hook: CommandHookConfig) => rules.findMatch(hook, eventName, call) !== undefined;
  if (!hookConfigs.some(runs) && !background?.some(runs)) return null;
  return isLast ? { eventName, hookConfigs, background, sequential, isInstant, call } : plan;
}

/** Runs each command once; a guard among the duplicates makes the one that runs a guard. */
function withoutDuplicates(registry: PlannedHooks, entries: readonly PlannedHook[]): PlannedHook[] {
  const substitutes = findSubstitutes(entries);
  const guards = findGuards(substitutes);
  return entries
    .filter((entry) => substitutes.get(entry) === entry)
    .map((entry) =>
      guards.has(entry) && entry.config.onFailure !== 'deny' ? registry.asGuard(entry) : entry,
    );
}

/** Processor time that all matchers of a project may take for one event, in ms. */
const PROJECT_LIMIT_MS = 250;

/** What is left of the time in which the matchers of a project's hooks are tried, for one event. */
export class MatcherBudget {
  #spentMs = 0;
  #hasWarned = false;

  /** Tests a matcher and counts the time that takes; `undecided` once the time is used up. */
  spend(tryIt: () => Match, logger: DebugLogger, name: string): Match {
    if (this.#spentMs >= PROJECT_LIMIT_MS) {
      if (!this.#hasWarned) {
        logger.warn(
          `The matchers of this project took longer than ${PROJECT_LIMIT_MS} ms for the tool "${name.slice(0, 100)}": hooks whose matcher was not tried do not run, and guards do; simplify them`,
        );
      }
      this.#hasWarned = true;
      return 'undecided';
    }
    const spentMs = startStopwatch();
    const match = tryIt();
    this.#spentMs += spentMs();
    return match;
  }
}

/**
 * Whether a hook's matcher lets it run.
 *
 * @param budget what the matchers of a project's hooks share
 */
export function matcherLetsRun(
  registry: PlannedHooks,
  entry: PlannedHook,
  context: PlanContext | undefined,
  logger: DebugLogger,
  budget = new MatcherBudget(),
): boolean {
  const { config, eventName, matcher } = entry;
  const { dialect } = config;
  if (!isOfMoment(config, context?.moment)) return false;
  const names = namesToMatch(dialect, context);
  const reading = readMatcher({ matcher, dialect }, eventName);
  if (!names || reading === 'all') return true;
  return names.some((name) => matches(registry, entry, reading, name, logger, budget));
}

/**
 * Whether a hook runs at a moment of its event. To hooks of an agent that has no event of its own for it, and to ours,
 * the moment makes no difference; but what was asked already is not asked again.
 */
export function isOfMoment(
  { dialect, moment: own }: Pick<CommandHookConfig, 'dialect' | 'moment'>,
  moment: Moment | undefined,
): boolean {
  const isApart =
    moment && dialect && dialects[dialect].events.some((each) => each.moment === moment);
  return own || isApart ? own === moment : moment !== 'asked';
}

/** The names that a matcher is tested against; without one, the hook runs in any case. */
export function namesToMatch(
  dialect: DialectName | undefined,
  { toolName, agentType, subject }: PlanContext = {},
): readonly string[] | undefined {
  if (agentType !== undefined) return [agentType];
  const spoken = dialect && dialects[dialect];
  if (toolName !== undefined) return spoken ? theirToolNames(spoken, toolName) : [toolName];
  return spoken && subject !== undefined ? [theirSubject(spoken, subject)] : undefined;
}

/** A matcher that takes too long, or is no expression, counts as not matching; for a guard, as matching. */
function matches(
  registry: PlannedHooks,
  entry: PlannedHook,
  reading: Exclude<MatcherReading, 'all'>,
  name: string,
  logger: DebugLogger,
  budget: MatcherBudget,
): boolean {
  if ('names' in reading) return reading.names.includes(name);
  const { config, eventName } = entry;
  const { expression, otherwise } = reading;
  const tryIt = () =>
    testMatcher(reading, name, (problem) => {
      const quoted = JSON.stringify(expression.slice(0, 200));
      logger.warn(`The matcher ${quoted} of the hook "${shortIdentity(config)}" ${problem}`, {
        event: eventName,
      });
    });
  const isOfProject = isFromProject(entry);
  // The time that a project's hooks have used must not count against other hooks with the same matcher.
  const key = `${isOfProject ? 'project' : 'own'} ${otherwise} ${expression}`;
  const cacheKey = `${key}\0${name}`;
  let match = registry.matches.get(cacheKey);
  if (match === undefined) {
    match = isOfProject ? budget.spend(tryIt, logger, name) : tryIt();
    cacheUpTo(registry.matches, cacheKey, match);
  }
  return match === 'yes' || (match === 'undecided' && failsClosed(config, eventName));
}

/** Tests a matcher. An invalid expression has no known meaning; it was reported when the settings were read. */
export function testMatcher(
  reading: Exclude<MatcherReading, 'all'>,
  name: string,
  warn: (problem: string) => void,
): Match {
  if ('names' in reading) return reading.names.includes(name) ? 'yes' : 'no';
  const { expression, otherwise } = reading;
  try {
    return testWithLimit(expression, '', name) ? 'yes' : 'no';
  } catch (error) {
    if (isTimeout(error)) {
      warn(
        `took longer than ${MATCH_LIMIT_MS} ms for the tool "${name.slice(0, 100)}": simplify it`,
      );
    } else if (otherwise === 'itself' && expression === name) return 'yes';
    return 'undecided';
  }
}
