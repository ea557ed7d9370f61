/** Where the specification has it. */
export { HookAggregator } from '../../middleware/aggregator.js';
