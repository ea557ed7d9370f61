import type { OutsideOf, PayloadOf, ReadOf } from './defineEvent.js';
import type { eventTable } from './eventTable.js';
import type { SpecificAnswer } from './hookAnswer.js';
import type { HookEventName } from './names.js';

export * from './names.js';
export type * from './hookConfig.js';
export type * from './mcpServer.js';
export type * from './modelQuestion.js';
export type { CallSession, HookInput } from './hookInput.js';
export type { ModelFault } from './modelFault.js';
export type { BatchedCall } from './toolBatch.js';
export type { ForeignEffects, HookDecision, HookOutput, ToolOutput } from './hookAnswer.js';
export type { HookExecutionPlan, HookExecutionResult, ProcessAge } from './hookOutput.js';

type Rows = typeof eventTable;

/** What a caller hands in per event (`payload`), and what a script reads on stdin (`input`). */
export type HookEventTypes = {
  [E in keyof Rows]: {
    payload: PayloadOf<Rows[E]['fields'], Rows[E]['facts']>;
    input: EventInputs[E];
  };
};

export type HookPayload<E extends HookEventName> = HookEventTypes[E]['payload'];
export type HookEventInput<E extends HookEventName> = HookEventTypes[E]['input'];

/** What a hook may say in `hookSpecificOutput`, by event: the fields that have an effect there. */
export type HookSpecificOutputs = {
  [E in keyof Rows]: keyof Rows[E]['answers'] extends never
    ? unknown
    : Partial<Pick<SpecificAnswer, keyof Rows[E]['answers'] & keyof SpecificAnswer>>;
};

/**
 * The fields of one event as they come from outside. The fields common to all events are not among them: the hook
 * system fills them in from its `Config`, whatever a request says.
 */
export type EventFields<E extends HookEventName> = OutsideFields[E];
type OutsideFields = { [E in keyof Rows]: OutsideOf<Rows[E]['fields']> };

/** What a script reads, by event: with a name each, which editors and the compiler show. */
interface EventInputs {
  BeforeTool: BeforeToolInput;
  AfterTool: AfterToolInput;
  BeforeModel: BeforeModelInput;
  AfterModel: AfterModelInput;
  BeforeToolSelection: BeforeToolSelectionInput;
  BeforeAgent: BeforeAgentInput;
  AfterAgent: AfterAgentInput;
  SessionStart: SessionStartInput;
  SessionEnd: SessionEndInput;
  PreCompress: PreCompressInput;
  Notification: NotificationInput;
  SubagentStart: SubagentStartInput;
  SubagentStop: SubagentStopInput;
  PostCompress: PostCompressInput;
  ModelError: ModelErrorInput;
  ToolBatchEnd: ToolBatchEndInput;
}

type Input<E extends keyof Rows> = ReadOf<Rows[E]['fields']>;

export interface BeforeToolInput extends Input<'BeforeTool'> {}
export interface AfterToolInput extends Input<'AfterTool'> {}
export interface BeforeModelInput extends Input<'BeforeModel'> {}
export interface AfterModelInput extends Input<'AfterModel'> {}
export interface BeforeToolSelectionInput extends Input<'BeforeToolSelection'> {}
export interface BeforeAgentInput extends Input<'BeforeAgent'> {}
export interface AfterAgentInput extends Input<'AfterAgent'> {}
export interface SessionStartInput extends Input<'SessionStart'> {}
export interface SessionEndInput extends Input<'SessionEnd'> {}
export interface PreCompressInput extends Input<'PreCompress'> {}
export interface NotificationInput extends Input<'Notification'> {}
export interface SubagentStartInput extends Input<'SubagentStart'> {}
export interface SubagentStopInput extends Input<'SubagentStop'> {}
export interface PostCompressInput extends Input<'PostCompress'> {}
export interface ModelErrorInput extends Input<'ModelError'> {}
export interface ToolBatchEndInput extends Input<'ToolBatchEnd'> {}
