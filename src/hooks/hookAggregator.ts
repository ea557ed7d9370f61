import type { AggregatedHookResult } from '../protocol/hookOutput.js';
import { aggregateResults, type Aggregator } from '../../middleware/aggregator.js';
import type { HookEventName, HookExecutionResult } from '../protocol/types.js';

/** Makes one result of what all hooks of an event said. */
export class HookAggregator implements Aggregator {
  /** @param results in plan order */
  aggregateResults(
    results: readonly HookExecutionResult[],
    eventName: HookEventName,
  ): AggregatedHookResult {
    return aggregateResults(results, eventName);
  }
}
