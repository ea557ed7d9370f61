import { dialectOfMatcher } from '../../hooks/foreignKeys.js';
import {
  createExecutionPlan,
  matcherLetsRun,
  isOfMoment,
  MatcherBudget,
  planContext,
  type PlanContext,
} from '../../../middleware/planner.js';
import type { SettingsOrigins } from '../../config/settings/settings.js';
import { theirSubject, theirEventName, dialects } from '../../dialects/dialects.js';
import type { HookRegistry } from '../../hooks/hookRegistry.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import { environmentOf } from '../../process/command/runningCommand.js';
import { DEFAULT_APPROVAL_TIMEOUT_MS } from '../../protocol/approval.js';
import { events, isConditional, isOfTool } from '../../protocol/events.js';
import { commandLine, hookIdentity, isAsked } from '../../protocol/identity.js';
import { makeCall } from '../../rules/call.js';
import { loadedRules } from '../../rules/load.js';
import type { KnownCall } from '../../rules/types.js';
import type { Config } from '../../config/config.js';
import { findGuards, findSubstitutes } from '../../run/sameCommand.js';
import type { HookEventName, HookPayload } from '../../protocol/types.js';
import { buildHookEnvironment, startOptions } from '../../run/preparedInput.js';
import { engineOf } from '../../hooks/fireHook.js';
import { asWord } from '../../util/quoteWord.js';
import { CliLogger } from './cliLogger.js';
import { toVisible } from './terminal.js';
import {
  conditionText,
  listsOf,
  describeEntry,
  findReason,
  isChangedGuard,
} from './hookColumns.js';
import { openRegistry, type Workspace } from './workspace.js';
import { hostEnvironment } from '../../util/requester.js';

export type Explanation = Awaited<ReturnType<typeof explainEvent>>;

export type ExplainedHook = Explanation['hooks'][number];

/** Why the hooks of an event do not run, each by itself; for all commands that say so. */
export function findReasons(
  registry: HookRegistry,
  origins: SettingsOrigins,
  event: HookEventName,
  context: PlanContext | undefined,
  call?: KnownCall,
) {
  const logger = plannerLogger();
  const entries = registry
    .getAllHooks()
    .filter(({ eventName, standIn }) => eventName === event || standIn?.eventName === event);
  const budget = new MatcherBudget();
  const substitutes = findSubstitutes(
    registry
      .getHooksForEvent(event)
      .filter((entry) => matcherLetsRun(registry, entry, context, logger, budget)),
  );
  const reasons = entries.map((entry) => {
    /** Whatever the call is. */
    const always = findReason(entry, true, origins);
    const reason =
      always ??
      whyNotNow(entry, context) ??
      whyNotItself(entry, substitutes.get(entry), context) ??
      whyNotThis(entry, call);
    const { standIn = isChangedGuard(entry) ? entry : undefined } = entry;
    /** A guard that has changed since it was allowed, so that it denies unasked. */
    const blocks = standIn !== undefined && substitutes.get(standIn) === standIn;
    return { entry, reason, isOff: always !== null, blocks };
  });
  return { reasons, substitutes };
}

/**
 * @param context what matchers are tested against; without it, hooks count as matching
 * @param call what conditions are tried with; without it, they count as matching
 */
export async function explainEvent(
  { config, settings, origins, problems }: Workspace,
  event: HookEventName,
  context: PlanContext | undefined,
  call?: KnownCall,
) {
  const registry = await openRegistry(config);
  const { reasons, substitutes } = findReasons(registry, origins, event, context, call);
  const workingDir = config.getWorkingDir();
  const environment = buildHookEnvironment(config.getHookEnvironment(), workingDir);
  const guards = findGuards(substitutes);
  const hooks = reasons.map(({ entry, reason, blocks }) => ({
    ...explainHook(entry, reason, guards.has(entry), workingDir, environment),
    /** Which pattern lets it run for this call, and what of the call; `null` where it has no condition, or none is tried. */
    match: (reason === null && matchOf(entry, call)) || null,
    /** While hooks are on, though it does not run. */
    blocks,
  }));
  const running = hooks.filter(({ runs }) => runs);
  const common = namesOf(environmentOf({ env: environment }, ''));
  return {
    event,
    /** Of another agent's event. */
    moment: context?.moment ?? null,
    /** `null` where none is given, or the event has none. */
    tool: context?.toolName ?? null,
    /** What matchers of other agents are tested against, at an event without a tool. */
    subject: context?.subject ?? null,
    enableHooks: settings.enableHooks,
    enableHooksFile: origins.enableHooks?.file ?? null,
    /** What becomes of questions to a person; `null` where no settings say, or the event asks none. */
    approvals: events[event].canAsk ? explainApprovals(settings, origins) : null,
    sequential: createExecutionPlan(registry, plannerLogger(), event, context)?.sequential ?? false,
    /** Those that run, in their order from 1, then the others. */
    hooks: [
      ...running.map((hook, index) => ({ ...hook, order: index + 1 })),
      ...hooks.filter(({ runs }) => !runs).map((hook) => ({ ...hook, order: null })),
    ],
    /** A hook that is missing may be in a part that was left out. */
    problems,
    /** Variables that all hooks get. */
    environment: common,
    /** Variables of this process that hooks do not get. */
    withheld: namesOf(hostEnvironment()).filter((name) => !common.includes(name)),
  };
}

function explainApprovals({ approvals }: Workspace['settings'], origins: SettingsOrigins) {
  if (!approvals) return null;
  return {
    /** `null` where it depends on the hook: a guard that asks denies. */
    whenNobody: approvals.whenNobody ?? null,
    timeoutMs: approvals.timeout ?? DEFAULT_APPROVAL_TIMEOUT_MS,
    file: origins.approvals?.file ?? null,
  };
}

function plannerLogger(): CliLogger {
  return new CliLogger('llxprt:core:hooks:planner');
}

function whyNotNow(
  { config, eventName }: HookRegistryEntry,
  context: PlanContext | undefined,
): string | null {
  if (isOfMoment(config, context?.moment)) return null;
  const spoken = config.dialect && dialects[config.dialect];
  if (!spoken) return `runs at ${eventName} alone`;
  return `runs at ${theirEventName(spoken, eventName, config.moment)} of ${spoken.agent} alone`;
}

/** @param substitute what runs where the hook matches: the hook itself, or one with the same command */
function whyNotItself(
  entry: HookRegistryEntry,
  substitute: HookRegistryEntry | undefined,
  { toolName, agentType, subject = '' }: PlanContext = {},
): string | null {
  if (substitute === entry) return null;
  if (substitute)
    return `runs once, as "${hookIdentity(substitute.config)}": it is the same command`;
  const { matcher = '', config } = entry;
  const spoken = config.dialect && dialects[config.dialect];
  const tested = toolName ?? agentType ?? (spoken ? theirSubject(spoken, subject) : subject);
  const hint = spoken || toolName === undefined ? undefined : dialectOfMatcher(matcher);
  const advice = hint === undefined ? '' : `; ${hint}`;
  return `its matcher ${JSON.stringify(matcher)} does not match ${tested}${advice}`;
}

/** The pattern that matches, and what of the call does. */
function matchOf({ config, eventName }: HookRegistryEntry, call: KnownCall | undefined) {
  return call && isConditional(config) ? loadedRules()?.findMatch(config, eventName, call) : null;
}

function whyNotThis(entry: HookRegistryEntry, call: KnownCall | undefined): string | null {
  if (matchOf(entry, call) !== undefined) return null;
  return `its condition does not match this call: ${conditionText(listsOf(entry.config))}`;
}

/** The call that conditions are tried with. */
export function callOf<E extends HookEventName>(
  config: Config,
  event: E,
  payload: HookPayload<E>,
): KnownCall | undefined {
  if (!isOfTool(event)) return undefined;
  const project = config.getWorkingDir();
  const { toolName: tool, toolInput: input } = payload as HookPayload<HookEventName.BeforeTool>;
  return makeCall(tool, input, project);
}

function explainHook(
  entry: HookRegistryEntry,
  reason: string | null,
  isGuard: boolean,
  workingDir: string,
  environment: NodeJS.ProcessEnv,
) {
  const { enabled: _, duplicateOf: __, sequential: ___, ...columns } = describeEntry(entry);
  const { extraEnv, ...started } = startOptions(entry.config, {
    input: { cwd: workingDir, session_id: '' },
    directory: workingDir,
    env: environment,
  });
  const asks = isAsked(entry.config);
  const isRule = entry.config.type === 'rule';
  return {
    ...columns,
    /** While hooks are on. */
    runs: reason === null,
    reason,
    /** What the shell is given, the words of a program, or what is asked. */
    resolvedCommand: isRule
      ? hookIdentity(entry.config)
      : commandLine(asks ? entry.config : started),
    /** Also `deny` for one that runs in the place of a guard. */
    onFailure: isGuard ? 'deny' : (entry.config.onFailure ?? 'allow'),
    /** Whether it is started before its event comes. */
    prestart: entry.config.prestart ?? false,
    /** Besides those of all hooks. */
    environment: asks || isRule ? [] : Object.keys(extraEnv ?? {}).toSorted(),
  };
}

function namesOf(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) => env[name] !== undefined)
    .toSorted();
}

/** A hook of an event that did not run for it. */
interface NotRun {
  readonly hook: string;
  readonly reason: string;
  /** Whatever the call is: it is disabled, or not allowed. */
  readonly isOff: boolean;
}

interface Idleness {
  /** All that are configured for the event. */
  readonly hooks: readonly string[];
  readonly notRun: readonly NotRun[];
}

/** Which hooks did not run for an event, and why: the reasons of `explain`. */
export async function findNotRun<E extends HookEventName>(
  { config, origins }: Workspace,
  event: E,
  payload: HookPayload<E>,
): Promise<Idleness> {
  // The one that the event was fired with: what reading the hooks warns of was told then.
  const registry = engineOf(config.getHookSystem())?.registry ?? (await openRegistry(config));
  const call = callOf(config, event, payload);
  const { reasons } = findReasons(registry, origins, event, planContext({ event, payload }), call);
  const notRun = reasons.flatMap(({ entry, reason, isOff }) =>
    reason === null ? [] : { hook: hookIdentity(entry.config), reason, isOff },
  );
  return { hooks: reasons.map(({ entry }) => hookIdentity(entry.config)), notRun };
}

/** Says of an event for which no hook ran which of the three it is, and where there is more to read. */
export function describeNothingRan<E extends HookEventName>(
  event: E,
  payload: HookPayload<E>,
  { hooks, notRun }: Idleness,
): string {
  const { toolName } = planContext({ event, payload }) ?? {};
  const of = toolName === undefined ? event : `${event} of ${toVisible(toolName)}`;
  const tool = toolName === undefined ? '' : ` --tool ${toVisible(asWord(toolName))}`;
  return [
    `No hook ran for ${of}: ${whichOfThree(event, hooks.length, notRun)}.`,
    ...notRun.map(({ hook, reason }) => `  ${toVisible(hook)}: ${toVisible(reason)}`),
    `More: hookstack explain ${event}${tool}`,
  ].join('\n');
}

function whichOfThree(event: HookEventName, configured: number, notRun: readonly NotRun[]): string {
  if (configured === 0) return `none is configured for ${event}`;
  if (notRun.length < configured) return 'something before the hooks has ended the event';
  const off = notRun.filter(({ isOff }) => isOff).length;
  if (off === 0) return 'none matches';
  return off === configured ? 'none is on and allowed' : 'none is on, allowed and matching';
}
