import { events } from '../protocol/events.js';
import { HookEventName, type EventFields } from '../protocol/types.js';

export type { EventFields } from '../protocol/types.js';

function validator<E extends HookEventName>(event: E) {
  return (input: unknown): input is EventFields<E> => events[event].check.is(input);
}

/** Each of these says whether a value has the fields of its event, and narrows its type accordingly. */
export const validateBeforeToolInput = validator(HookEventName.BeforeTool);
export const validateAfterToolInput = validator(HookEventName.AfterTool);
export const validateBeforeModelInput = validator(HookEventName.BeforeModel);
export const validateAfterModelInput = validator(HookEventName.AfterModel);
export const validateBeforeToolSelectionInput = validator(HookEventName.BeforeToolSelection);
export const validateBeforeAgentInput = validator(HookEventName.BeforeAgent);
export const validateAfterAgentInput = validator(HookEventName.AfterAgent);
export const validateSessionStartInput = validator(HookEventName.SessionStart);
export const validateSessionEndInput = validator(HookEventName.SessionEnd);
export const validatePreCompressInput = validator(HookEventName.PreCompress);
export const validateNotificationInput = validator(HookEventName.Notification);
export const validateSubagentStartInput = validator(HookEventName.SubagentStart);
export const validateSubagentStopInput = validator(HookEventName.SubagentStop);
export const validatePostCompressInput = validator(HookEventName.PostCompress);
export const validateModelErrorInput = validator(HookEventName.ModelError);
export const validateToolBatchEndInput = validator(HookEventName.ToolBatchEnd);
