export { HookPipelineError, HookRegistryNotInitializedError } from './errors.js';
export { callFactsOf, createHookOutput, type CallFacts } from '../protocol/events.js';
export { HookAggregator } from './hookAggregator.js';
export { HookEventHandler } from './hookEventHandler.js';
export type { HookGate, HookHost } from './host.js';
export {
  AfterModelHookOutput,
  AfterToolHookOutput,
  BeforeModelHookOutput,
  BeforeToolHookOutput,
  BeforeToolSelectionHookOutput,
  DefaultHookOutput,
  processCommonHookOutputFields,
  type ProcessedHookResult,
} from '../protocol/hookOutput.js';
export { HookPlanner } from './hookPlanner.js';
export { HookRegistry } from './hookRegistry.js';
export type { HookRegistryEntry } from './entry.js';
export { HookRunner } from './hookRunner.js';
export { HookSystem, HookSystemNotInitializedError } from './hookSystem.js';
export {
  defaultHookTranslator,
  HookTranslatorGenAIv1,
  type HookToolConfig,
  type LLMRequest,
  type LLMResponse,
  type LLMTool,
} from './hookTranslator.js';
export type { HookExecutionRequest, HookExecutionResponse } from './hookBusContracts.js';
export {
  validateAfterAgentInput,
  validateAfterModelInput,
  validateAfterToolInput,
  validateBeforeAgentInput,
  validateBeforeModelInput,
  validateBeforeToolInput,
  validateBeforeToolSelectionInput,
  validateModelErrorInput,
  validateNotificationInput,
  validatePostCompressInput,
  validatePreCompressInput,
  validateSessionEndInput,
  validateSessionStartInput,
  validateSubagentStartInput,
  validateSubagentStopInput,
  validateToolBatchEndInput,
  type EventFields,
} from './hookValidators.js';
export * from './types.js';
