import {
  aggregateResults,
  listOf,
  makeEmptySuccessResult,
  resolveResult,
} from '../../middleware/aggregator.js';
import type { Extension } from '../protocol/entry.js';
import type { HookHost } from './host.js';
import type { AggregatedHookResult } from '../protocol/hookOutput.js';
import { parseHookDefinitions } from './hookSettings.js';
import { ALLOW, type HookContext } from '../context.js';
import { HookPipelineError, type FailureMeta, type PipelineStage } from './errors.js';
import { events, failsClosed } from '../protocol/events.js';
import { blocksByFailing, denyForFailure, type HookFailure } from '../run/hookFailure.js';
import { hookIdentity } from '../protocol/identity.js';
import { isRecord } from '../util/records.js';
import type {
  HookDefinition,
  HookEventName,
  HookExecutionPlan,
  HookExecutionResult,
} from '../protocol/types.js';

/**
 * The result of an event whose processing itself failed. What was decided before stands. Else it has no output, so the
 * operation goes on, unless a guard (`onFailure: "deny"`) was to be asked, or any hook about an input that could not be
 * made one that hooks read.
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
    ...(fault.meta.decided ?? denialOfGuards(fault)),
    errors: [fault],
  };
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
  const disabled = attempt(() => config.getDisabledHooks(), []);
  const extensions = attempt(() => config.getExtensions(), []).filter((extension) =>
    attempt(() => extension.isActive && (isTrusted || extension.scope !== 'project'), false),
  );
  const groups = [
    ...attempt(() => groupsOf(config.getHooks(), event), []).filter(
      ({ origin }) => isTrusted || origin?.scope !== 'project',
    ),
    ...extensions.flatMap((extension: Extension) =>
      attempt(() => groupsOf(extension.hooks, event), []),
    ),
  ];
  const guards = groups
    .flatMap(({ hooks }) => hooks)
    .filter((hook) => failsClosed(hook, event) && !disabled.includes(hookIdentity(hook)));
  return guards.length === 0
    ? undefined
    : { eventName: event, hookConfigs: guards, sequential: false };
}

function groupsOf(raw: unknown, event: HookEventName): readonly HookDefinition[] {
  return parseHookDefinitions(raw).hooks[event] ?? [];
}

/** What some work gives, or what counts where it throws. */
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
    // What could not be translated is an input that cannot be put to any hook.
    kind: stage === 'translation' ? 'input' : 'refused',
    what: `could not be asked: ${message}`,
  };
  const { eventName, hookConfigs } = plan;
  const hook = hookConfigs.find((each) => blocksByFailing(each, eventName, failure));
  return (
    hook && {
      finalOutput: new events[eventName].Output(denyForFailure(hook, failure)),
      decidedBy: [hookIdentity(hook)],
    }
  );
}
