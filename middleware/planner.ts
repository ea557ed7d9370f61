import type { Next } from '../src/compose.js';
import type { AnyHookContext, HookContext } from '../src/context.js';
import type { DebugLogger } from '../src/debugLogger.js';
import { dialects, theirToolNames } from '../src/dialects/words.js';
import { events, type EventDefinition } from '../src/hooks/events.js';
import { failsClosed } from '../src/hooks/hookFailure.js';
import type { HookRegistry, HookRegistryEntry, Match } from '../src/hooks/hookRegistry.js';
import { isFromProject, shortIdentity } from '../src/hooks/identity.js';
import { findGuards, findSubstitutes } from '../src/hooks/sameCommand.js';
import type { HookDefinition, HookEventName, HookExecutionPlan } from '../src/hooks/types.js';
import { isTimeout, MATCH_LIMIT_MS, testWithLimit } from '../src/hooks/testWithLimit.js';
import { startStopwatch } from '../src/util/stopwatch.js';

/** What matchers are tested against. Model events have no context: all their hooks run. */
export interface PlanContext {
  readonly toolName?: string;
  /** What matchers of dialects are tested against, at events without a tool. */
  readonly subject?: string;
}

/** Anything that plans; usually a `HookPlanner`. */
export interface Planner {
  createExecutionPlan(event: HookEventName, context?: PlanContext): HookExecutionPlan | null;
}

/** Second stage: finds the hooks to run. Nothing to run → the rest of the stack does not run. */
export function planner(plans: Planner) {
  return async function planner(ctx: AnyHookContext, next: Next): Promise<void> {
    ctx.plan = plans.createExecutionPlan(ctx.event, planContext(ctx));
    if (ctx.plan) await next();
  };
}

/** The context in which an event is planned: the tool's name, or what else matchers may be tested against. */
export function planContext<E extends HookEventName>(
  fired: Pick<HookContext<E>, 'event' | 'payload'>,
): PlanContext | undefined {
  const { matchOn, dialectsMatchOn }: EventDefinition<E> = events[fired.event];
  if (matchOn) return { toolName: matchOn(fired.payload) };
  return dialectsMatchOn && { subject: dialectsMatchOn(fired.payload) };
}

/**
 * Which hooks run, in which order: those that match, each command once (the first, which comes from the source of the
 * highest priority, but never a project's in place of another). One sequential group makes the whole event sequential.
 *
 * @returns `null` when there is nothing to run
 */
export function createExecutionPlan(
  registry: HookRegistry,
  logger: DebugLogger,
  event: HookEventName,
  context?: PlanContext,
): HookExecutionPlan | null {
  const budget = new MatcherBudget();
  const matching = registry
    .getHooksForEvent(event)
    .filter((entry) => isConcerned(registry, entry, context, logger, budget));
  const entries = withoutDuplicates(registry, matching);
  if (entries.length === 0) return null;
  return {
    eventName: event,
    hookConfigs: entries.map((entry) => entry.config),
    sequential: entries.some((entry) => entry.sequential === true),
  };
}

/** Runs each command once; a guard among the duplicates makes the one that runs a guard. */
function withoutDuplicates(
  registry: HookRegistry,
  entries: readonly HookRegistryEntry[],
): HookRegistryEntry[] {
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
  #isTold = false;

  /** Does what counts, unless the time is up. */
  spend(tryIt: () => Match, logger: DebugLogger, name: string): Match {
    if (this.#spentMs >= PROJECT_LIMIT_MS) {
      if (!this.#isTold) {
        logger.warn(
          `The matchers of this project took longer than ${PROJECT_LIMIT_MS} ms for the tool "${name.slice(0, 100)}": hooks whose matcher was not tried do not run, and guards do; simplify them`,
        );
      }
      this.#isTold = true;
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
export function isConcerned(
  registry: HookRegistry,
  entry: HookRegistryEntry,
  context: PlanContext | undefined,
  logger: DebugLogger,
  budget = new MatcherBudget(),
): boolean {
  const names = namesToMatch(entry, context);
  return !names || names.some((name) => matches(registry, entry, name, logger, budget));
}

/**
 * Whether the matcher of a group matches a tool, for those who look at settings and run nothing. One that cannot be
 * decided counts as not matching.
 */
export function matchesTool(
  { matcher, dialect }: Pick<HookDefinition, 'matcher' | 'dialect'>,
  toolName: string,
): boolean {
  if (matchesAll(matcher)) return true;
  const spoken = dialect && dialects[dialect];
  const names = spoken ? theirToolNames(spoken, toolName) : [toolName];
  const isWhole = spoken?.matches === 'whole';
  return names.some((name) => tryMatcher(matcher, name, isWhole, () => undefined) === 'yes');
}

/** Missing, empty and `*` match everything. */
export function matchesAll(matcher: string | undefined): matcher is undefined | '' | '*' {
  return matcher === undefined || matcher === '' || matcher === '*';
}

/** The names that a hook's matcher is tested against; without one, the hook runs in any case. */
function namesToMatch(
  { config }: HookRegistryEntry,
  { toolName, subject }: PlanContext = {},
): readonly string[] | undefined {
  const dialect = config.dialect && dialects[config.dialect];
  if (toolName !== undefined) return dialect ? theirToolNames(dialect, toolName) : [toolName];
  return dialect && subject !== undefined ? [dialect.subjects[subject] ?? subject] : undefined;
}

/** A matcher that cannot be decided counts as not matching, except for a guard, which is there to be asked. */
function matches(
  registry: HookRegistry,
  entry: HookRegistryEntry,
  name: string,
  logger: DebugLogger,
  budget: MatcherBudget,
): boolean {
  const { matcher, config, eventName } = entry;
  if (matchesAll(matcher)) return true;
  const isWhole = config.dialect !== undefined && dialects[config.dialect].matches === 'whole';
  const tryIt = () =>
    tryMatcher(matcher, name, isWhole, (problem) => {
      const quoted = JSON.stringify(matcher.slice(0, 200));
      logger.warn(`The matcher ${quoted} of the hook "${shortIdentity(config)}" ${problem}`, {
        event: eventName,
      });
    });
  const isOfProject = isFromProject(entry);
  // What a project has used up must not count for another's hook with the same matcher.
  const key = `${isOfProject ? 'project' : 'own'} ${isWhole ? 'whole' : 'part'} ${matcher}`;
  const match = registry.cachedMatch(key, name, () =>
    isOfProject ? budget.spend(tryIt, logger, name) : tryIt(),
  );
  return match === 'yes' || (match === 'undecided' && failsClosed(config, eventName));
}

/** Tests a matcher as a regular expression; one that is not valid is compared as literal text. */
function tryMatcher(
  matcher: string,
  name: string,
  isWhole: boolean,
  warn: (problem: string) => void,
): Match {
  try {
    // What is valid only between the anchors is no expression of its own.
    const { source } = new RegExp(matcher);
    return testWithLimit(isWhole ? `^(?:${source})$` : source, '', name) ? 'yes' : 'no';
  } catch (error) {
    if (isTimeout(error)) {
      warn(
        `took longer than ${MATCH_LIMIT_MS} ms for the tool "${name.slice(0, 100)}": simplify it`,
      );
      return 'undecided';
    }
    warn('is no valid regular expression and is compared as literal text');
    return matcher === name ? 'yes' : 'no';
  }
}
