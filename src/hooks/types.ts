/** What events, hooks and their answers are, where the specification has it; see `protocol/`. */
export * from '../protocol/types.js';
export type { AggregatedHookResult } from '../protocol/hookOutput.js';
