import { HookPipelineError, type FailureMeta, type PipelineStage } from './errors.js';
import { events } from './events.js';
import { denyForFailure, failsClosed } from './hookFailure.js';
import type { DefaultHookOutput } from './hookOutput.js';
import type { AggregatedHookResult } from './types.js';

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
 * (`onFailure: "deny"`) was to be asked.
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
    finalOutput: denialOfGuards(fault),
    errors: [fault],
  };
}

function denialOfGuards({ message, meta }: HookPipelineError): DefaultHookOutput | undefined {
  const { plan } = meta;
  const guard = plan?.hookConfigs.find((hook) => failsClosed(hook, plan.eventName));
  if (!plan || !guard) return undefined;
  const failure = { kind: 'refused', what: `could not be asked: ${message}` } as const;
  return new events[plan.eventName].Output(denyForFailure(guard, failure));
}
