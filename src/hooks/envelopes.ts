import {
  aggregateResults,
  listOf,
  makeEmptySuccessResult,
  resolveResult,
} from '../../middleware/aggregator.js';
import type { HookHost } from './host.js';
import type { AggregatedHookResult } from '../protocol/hookOutput.js';
import { parseHookDefinitions } from './hookSettings.js';
import { ALLOW, type HookContext } from '../context.js';
import { HookPipelineError, type FailureMeta, type PipelineStage } from './errors.js';
import type { Extension } from './entry.js';
import { events, failsClosed } from '../protocol/events.js';
import { denyForFailure, type HookFailure } from '../run/hookFailure.js';
import { readDisabled, type PlacedHook } from './disabledHooks.js';
import { hookIdentity, isFromProject, type Provenance } from '../protocol/identity.js';
import { isRecord } from '../util/records.js';
import {
  ConfigSource,
  type HookEventName,
  type HookExecutionPlan,
  type HookExecutionResult,
  type HookOutput,
} from '../protocol/types.js';

/**
 * The result of an event whose processing itself failed. What was decided before stands. Else it has no output, so the
 * operation goes on, unless a guard (`onFailure: "deny"`) was to be asked.
 *
 * @param error what was thrown
 * @param stage what was being done, unless the error says so itself
 * @param meta what is known of the event
 */
export function buildFailureEnvelope(
  error: unknown,
  stage: PipelineStage,
  meta: FailureMeta = {},
): AggregatedHookResult {
  const fault =
    error instanceof HookPipelineError ? error : new HookPipelineError(error, stage, meta);
  return {
    ...makeEmptySuccessResult(),
    success: false,
    ...decisionBesides(fault),
    errors: [fault],
  };
}

/** Earlier decisions stay, and what a guard had to see is withheld in addition. */
function decisionBesides(fault: HookPipelineError): FailureMeta['decided'] {
  const { decided, plan } = fault.meta;
  const denial = denialOfGuards(fault);
  if (!decided || !denial || !plan) return decided ?? denial;
  const { Output, canBlock } = events[plan.eventName];
  if (canBlock) return decided;
  const said: HookOutput = decided.finalOutput ?? {};
  const { decision, reason, foreign, hookSpecificOutput }: HookOutput = denial.finalOutput ?? {};
  const withheld = { decision, reason, foreign, hookSpecificOutput };
  return { ...decided, finalOutput: new Output({ ...said, ...withheld }) };
}

/**
 * What had been decided when an event failed: by a middleware, and by hooks that have answered.
 *
 * @returns `undefined` where nobody objected, and nobody replaced a tool's result. Never throws
 */
export function decidedSoFar(ctx: HookContext): FailureMeta['decided'] {
  const { event } = ctx;
  const verdict = isRecord(ctx.verdict) ? ctx.verdict : ALLOW;
  const aggregated = attempt(() => aggregateResults(resultsOf(ctx), event), undefined);
  const decided = attempt(() => resolveResult({ event, verdict, aggregated }), undefined);
  const { finalOutput, decidedBy } = decided ?? {};
  const counts =
    finalOutput?.isBlockingDecision() ||
    finalOutput?.shouldStopExecution() ||
    finalOutput?.foreign?.toolOutput;
  return counts ? { finalOutput, ...(decidedBy && { decidedBy }) } : undefined;
}

/** What became of the hooks of an event, as far as that is known. */
export function resultsOf({
  results,
}: Pick<HookContext, 'results'>): readonly HookExecutionResult[] {
  return listOf(results).filter(isRecord);
}

/**
 * The guards (`onFailure: "deny"`) that are configured for an event, whatever their matchers say: for when the hooks
 * themselves cannot be read, or not be planned. Those of a project count only where all of it is trusted, or a clone
 * could stop the agent.
 *
 * @returns `undefined` when there are none. Never throws
 */
export function planOfGuards(
  config: HookHost,
  event: HookEventName,
): HookExecutionPlan | undefined {
  const isTrusted = attempt(() => !config.needsConsent() && config.isTrustedFolder(), false);
  const placed: readonly PlacedHook[] = [
    ...attempt(() => hooksOf(config.getHooks(), event, { source: ConfigSource.Project }), []),
    ...attempt(() => config.getExtensions(), []).flatMap((each) =>
      attempt(() => hooksOfExtension(each, event), []),
    ),
  ];
  const disabled = attempt(() => readDisabled(config.getDisabledHooks(), placed), undefined);
  const guards = placed
    .filter((hook) => isTrusted || !isFromProject(hook))
    .filter((hook) => failsClosed(hook.config, event) && !disabled?.has(hook))
    .map((hook) => hook.config);
  return guards.length === 0
    ? undefined
    : { eventName: event, hookConfigs: guards, sequential: false };
}

/** Its scope is read here, as an object of a host may throw. */
function hooksOfExtension({ isActive, scope, hooks }: Extension, event: HookEventName) {
  const place = { source: ConfigSource.Extensions, extension: { scope } };
  return isActive ? hooksOf(hooks, event, place) : [];
}

function hooksOf(raw: unknown, event: HookEventName, place: Provenance) {
  const groups = parseHookDefinitions(raw).hooks[event] ?? [];
  return groups.flatMap(({ hooks, origin }) =>
    hooks.map((config) => ({ ...place, origin, config })),
  );
}

/** The result of `work`, or `otherwise` where it throws. */
export function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

function denialOfGuards({
  message,
  meta,
  stage,
}: HookPipelineError): Pick<AggregatedHookResult, 'finalOutput' | 'decidedBy'> | undefined {
  const { plan } = meta;
  if (!plan) return undefined;
  const failure: HookFailure = {
    kind: stage === 'translation' ? 'input' : 'refused',
    what: `could not be asked: ${message}`,
  };
  const { eventName, hookConfigs } = plan;
  const hook = hookConfigs.find((each) => failsClosed(each, eventName));
  return (
    hook && {
      finalOutput: new events[eventName].Output(denyForFailure(hook, eventName, failure)),
      decidedBy: [hookIdentity(hook)],
    }
  );
}
