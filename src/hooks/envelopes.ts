import { HookPipelineError, type FailureMeta, type PipelineStage } from './errors.js';
import { events } from './events.js';
import { blocksByFailing, denyForFailure, type HookFailure } from './hookFailure.js';
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
    finalOutput: denialOfGuards(fault),
    errors: [fault],
  };
}

function denialOfGuards({
  message,
  meta,
  stage,
}: HookPipelineError): DefaultHookOutput | undefined {
  const { plan } = meta;
  if (!plan) return undefined;
  const failure: HookFailure = {
    // What could not be translated is an input that cannot be put to any hook.
    kind: stage === 'translation' ? 'input' : 'refused',
    what: `could not be asked: ${message}`,
  };
  const { eventName, hookConfigs } = plan;
  const hook = hookConfigs.find((each) => blocksByFailing(each, eventName, failure));
  return hook && new events[eventName].Output(denyForFailure(hook, failure));
}
