import type { AggregatedHookResult } from '../protocol/hookOutput.js';
import { errorMessage } from '../util/errorMessage.js';
import type { HookExecutionPlan } from '../protocol/types.js';

/** `getRegistry()` or `getEventHandler()` was called before `initialize()` had finished. */
export class HookSystemNotInitializedError extends Error {
  override readonly name = 'HookSystemNotInitializedError';
  constructor(message = 'The hook system is not initialized: await hookSystem.initialize() first') {
    super(message);
  }
}

/** The registry was asked for hooks before `initialize()` had finished. */
export class HookRegistryNotInitializedError extends Error {
  override readonly name = 'HookRegistryNotInitializedError';
  constructor(message = 'The hook registry is not initialized: await registry.initialize() first') {
    super(message);
  }
}

/** What the hook system was doing when it failed, and the code under which that is reported. */
export const PIPELINE_ERROR_CODES = {
  initialization: 'HOOK_INITIALIZATION_FAILED',
  correlation: 'HOOK_CORRELATION_REFUSED',
  routing: 'HOOK_UNKNOWN_EVENT',
  validation: 'HOOK_INVALID_PAYLOAD',
  planning: 'HOOK_PLANNING_FAILED',
  translation: 'HOOK_TRANSLATION_FAILED',
  execution: 'HOOK_EXECUTION_FAILED',
  aggregation: 'HOOK_AGGREGATION_FAILED',
  formatting: 'HOOK_FORMATTING_FAILED',
} as const;

export type PipelineStage = keyof typeof PIPELINE_ERROR_CODES;

/** What is known of the event that failed. */
export interface FailureMeta {
  readonly event?: string;
  /** What was to run. */
  readonly plan?: HookExecutionPlan;
  /** What hooks and middleware had decided by then. */
  readonly decided?: Pick<AggregatedHookResult, 'finalOutput' | 'decidedBy'>;
  readonly details?: unknown;
}

/** The hook system itself failed, as opposed to one of the hooks. */
export class HookPipelineError extends Error {
  override readonly name = 'HookPipelineError';
  readonly code: (typeof PIPELINE_ERROR_CODES)[PipelineStage];

  constructor(
    cause: unknown,
    readonly stage: PipelineStage,
    readonly meta: FailureMeta = {},
  ) {
    super(`${meta.event ?? 'Hook event'}: ${stage} failed: ${errorMessage(cause)}`, { cause });
    this.code = PIPELINE_ERROR_CODES[stage];
  }
}
