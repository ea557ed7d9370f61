import type { OutsideOf, PayloadOf, ReadOf } from './defineEvent.js';
import type { eventTable } from './eventTable.js';
import type { SpecificAnswer } from './hookAnswer.js';
import type { HookEventName } from './names.js';

export * from './names.js';
export type * from './hookConfig.js';
export type { CallSession, HookInput } from './hookInput.js';
export type { ForeignEffects, HookDecision, HookOutput, ToolOutput } from './hookAnswer.js';
export type { HookExecutionPlan, HookExecutionResult, ProcessAge } from './hookOutput.js';

type Rows = typeof eventTable;

/** What a caller hands in per event (`payload`), and what a script reads on stdin (`input`). */
export type HookEventTypes = {
  [E in keyof Rows]: {
    payload: PayloadOf<Rows[E]['fields'], Rows[E]['facts']>;
    input: ReadOf<Rows[E]['fields']>;
  };
};

export type HookPayload<E extends HookEventName> = HookEventTypes[E]['payload'];
export type HookEventInput<E extends HookEventName> = HookEventTypes[E]['input'];

/** What a hook may say in `hookSpecificOutput`, by event: the fields that have an effect there. */
export type HookSpecificOutputs = {
  [E in keyof Rows]: keyof Rows[E]['answers'] extends never
    ? unknown
    : { [K in keyof Rows[E]['answers'] & keyof SpecificAnswer]?: SpecificAnswer[K] };
};

/**
 * The fields of one event as they come from outside. The fields common to all events are not among them: the hook
 * system fills them in from its `Config`, whatever a request says.
 */
export type EventFields<E extends HookEventName> = OutsideFields[E];
type OutsideFields = { [E in keyof Rows]: OutsideOf<Rows[E]['fields']> };

export type BeforeToolInput = HookEventInput<HookEventName.BeforeTool>;
export type AfterToolInput = HookEventInput<HookEventName.AfterTool>;
export type BeforeModelInput = HookEventInput<HookEventName.BeforeModel>;
export type AfterModelInput = HookEventInput<HookEventName.AfterModel>;
export type BeforeToolSelectionInput = HookEventInput<HookEventName.BeforeToolSelection>;
export type BeforeAgentInput = HookEventInput<HookEventName.BeforeAgent>;
export type AfterAgentInput = HookEventInput<HookEventName.AfterAgent>;
export type SessionStartInput = HookEventInput<HookEventName.SessionStart>;
export type SessionEndInput = HookEventInput<HookEventName.SessionEnd>;
export type PreCompressInput = HookEventInput<HookEventName.PreCompress>;
export type NotificationInput = HookEventInput<HookEventName.Notification>;
