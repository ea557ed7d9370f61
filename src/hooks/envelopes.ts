import { HookPipelineError, type FailureMeta, type PipelineStage } from './errors.js';
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
 * The result of an event whose processing itself failed. It has no output, so the operation goes on.
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
  return { ...makeEmptySuccessResult(), success: false, errors: [fault] };
}
