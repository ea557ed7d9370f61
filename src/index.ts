export {
  Config,
  type AfterModelDisplay,
  type ConfigOptions,
  type ReloadedOptions,
  type WatchOptions,
} from './config/config.js';
export type { Extension, ConsentReview, ExtensionMiddleware } from './hooks/entry.js';
export type { ConsentOptions, HookConsent } from './trust/consent.js';
export { openConsent } from './trust/openConsent.js';
export {
  useExtensionMiddleware,
  type ExtensionModule,
  type FactoryContext,
  type MiddlewareFactory,
  type ModuleRefusal,
  type UseExtensionMiddlewareOptions,
} from './extensions/extensionMiddleware.js';
export {
  loadExtensions,
  type LoadedExtensions,
  type LoadExtensionsOptions,
} from './extensions/extensions.js';
export { loadSettings, loadSettingsFile, type LoadedSettings } from './config/settings/settings.js';
export { type Settings } from './config/settings/settingsKeys.js';
export { formatProblem, type FileProblem } from './util/fileProblem.js';
export { answerConfirmations, BusApprover } from './approvals/busApprover.js';
export type {
  Answer,
  Approval,
  ApprovalObserver,
  ApprovalRequest,
  ApprovalSettings,
  Approver,
  AskingHook,
} from './protocol/approval.js';
export { InProcessMessageBus } from './confirmation-bus/messageBus.js';
export {
  MessageBusType,
  type MessageBus,
  type MessageBusMessage,
  type MessageHandler,
  type MessageOf,
  type Unsubscribe,
} from './confirmation-bus/types.js';
export { compose, type Middleware, type Next } from './compose.js';
export type {
  AnyHookContext,
  CallOptions,
  Decision,
  HookContext,
  HookObserver,
  ModelCall,
  ToolCall,
  Verdict,
} from './context.js';
export { AgentError, runAgent, type AgentOptions } from './agent/agent.js';
export { referenceSubagents, type Subagent } from './agent/subagents.js';
export type {
  AgentEvent,
  AgentResult,
  HookRecord,
  ModelCallRecord,
  Usage,
} from './agent/agentEvents.js';
export {
  executeToolWithHooks,
  fireAfterToolHook,
  fireBeforeToolHook,
  openToolCall,
  ToolCallAbandonedError,
  type OpenToolCall,
  type RefusedToolCall,
} from './core/coreToolHookTriggers.js';
export {
  CoreToolScheduler,
  toFunctionResponse,
  type CompletedToolCall,
  type CoreToolSchedulerOptions,
  type ScheduleOptions,
  type ToolCallRecord,
  type ToolCallStatus,
} from './core/coreToolScheduler.js';
export { GeminiChat, type ChatEvent, type GeminiChatOptions } from './core/geminiChat.js';
export { decideReceived as decideEvent } from './core/decideReceived.js';
export {
  receive as receiveEvent,
  reply as replyToEvent,
  UnreadableEvent,
} from './dialects/reverse.js';
export type { Received, ReceivedIdentity, Reply, ReplyVerdict } from './protocol/received.js';
export { callModelWithHooks, type ModelCallOptions, type ModelTurn } from './core/modelCall.js';
export {
  fireAfterModelHook,
  fireBeforeModelHook,
  fireBeforeToolSelectionHook,
} from './core/geminiChatHookTriggers.js';
export type {
  BeforeToolSelectionHookResult,
  AfterModelHookResult,
  BeforeModelHookResult,
} from './core/geminiChatHookTriggers.js';
export { readRecordedModel, type RecordedModel } from './agent/recordedModel.js';
export { DebugLogger } from './util/debugLogger.js';
export * from './hooks/index.js';
export type { HookMiddleware, ModelMiddleware, ToolMiddleware } from './stack.js';
export type { Position, StageName, StackName } from './protocol/stages.js';
export { referenceTools } from './agent/tools/referenceTools.js';
export { toSpanRecord, type SpanRecord } from './trace/record.js';
export type {
  Span,
  SpanChange,
  SpanFacts,
  SpanKind,
  SpanOutcome,
  SpanVerdict,
} from './trace/span.js';
export { traceToFile, type TraceFile, type TraceFileOptions } from './trace/traceFile.js';
export { ToolErrorType, type Tool, type ToolContext, type ToolResult } from './tools/tools.js';
export type { LateAnswer, LookedForLate } from './protocol/lateAnswer.js';
