import type { Config, Extension } from '../config/config.js';
import { parseHookDefinitions } from '../config/hookSettings.js';
import { HookPipelineError, type FailureMeta, type PipelineStage } from './errors.js';
import { events } from './events.js';
import { blocksByFailing, denyForFailure, failsClosed, type HookFailure } from './hookFailure.js';
import { hookIdentity } from './identity.js';
import type {
  AggregatedHookResult,
  HookDefinition,
  HookEventName,
  HookExecutionPlan,
} from './types.js';

/** The result of an event for which nothing ran; always a fresh object, because callers own what they get. */
export function makeEmptySuccessResult(): AggregatedHookResult {
  return {
    success: true,
    finalOutput: undefined,
    allOutputs: [],
    errors: [],
    totalDuration: 0,
    results: [],
  };
}

/**
 * The result of an event whose processing itself failed. It has no output, so the operation goes on, unless a guard
 * (`onFailure: "deny"`) was to be asked, or any hook about an input that could not be made one that hooks read.
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
    ...denialOfGuards(fault),
    errors: [fault],
  };
}

/**
 * The guards (`onFailure: "deny"`) that are configured for an event, whatever their matchers say: for when the hooks
 * themselves cannot be read, or not be planned. Those of a project count only where all of it is trusted, or a clone
 * could stop the agent.
 *
 * @returns `undefined` when there are none. Never throws
 */
export function planOfGuards(config: Config, event: HookEventName): HookExecutionPlan | undefined {
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
