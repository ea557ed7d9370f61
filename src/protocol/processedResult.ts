import { type AggregatedHookResult, asText } from './hookOutput.js';

/** An aggregated result with the fields that mean the same for every event; its author is in `decidedBy`. */
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
    stopReason: shouldStop ? output?.getStopReason() : undefined,
    systemMessage: asText(output?.systemMessage),
    suppressOutput: output?.suppressOutput === true,
  };
}
