import type { AggregatedHookResult } from './types.js';

/** An aggregated result with the fields that mean the same for every event. */
export interface ProcessedHookResult {
  readonly aggregated: AggregatedHookResult;
  /** Whether the agent loop must end. */
  readonly shouldStop: boolean;
  /** Why, where it must. */
  readonly stopReason: string | undefined;
  /** Text for the model, never for the user. */
  readonly systemMessage: string | undefined;
  /** Whether the operation's output is kept from the user. */
  readonly suppressOutput: boolean;
}

/** The one place that reads the fields common to all events; callers use what it returns. */
export function processCommonHookOutputFields(
  aggregated: AggregatedHookResult,
): ProcessedHookResult {
  const output = aggregated.finalOutput;
  const shouldStop = output?.shouldStopExecution() ?? false;
  return {
    aggregated,
    shouldStop,
    stopReason: shouldStop ? output?.getEffectiveReason() : undefined,
    systemMessage: output?.systemMessage || undefined,
    suppressOutput: output?.suppressOutput === true,
  };
}
