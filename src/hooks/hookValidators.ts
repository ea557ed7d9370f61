import {
  any,
  array,
  boolean,
  define,
  enums,
  optional,
  record,
  string,
  type,
  unknown,
  type Infer,
} from 'superstruct';
import type { ContentListUnion } from '@google/genai';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
} from './types.js';

const jsonObject = record(string(), unknown());

const contents = define<ContentListUnion>(
  'contents',
  (value) =>
    typeof value === 'string' ||
    (typeof value === 'object' && value !== null) ||
    `Expected text, a content or a list of contents, but received: ${String(value)}`,
);

const sdkRequest = type({ model: string(), contents, config: optional(jsonObject) });
const sdkResponse = type({ candidates: optional(array(any())) });

/**
 * The fields of each event as they come from outside the process: over the message bus, or from a command
 * line. Requests and responses of the model are those of the SDK; unknown fields are let through.
 */
export const eventFields = {
  [HookEventName.BeforeTool]: type({ tool_name: string(), tool_input: jsonObject }),
  [HookEventName.AfterTool]: type({
    tool_name: string(),
    tool_input: jsonObject,
    tool_response: jsonObject,
  }),
  [HookEventName.BeforeModel]: type({ llm_request: sdkRequest }),
  [HookEventName.AfterModel]: type({ llm_request: sdkRequest, llm_response: sdkResponse }),
  [HookEventName.BeforeToolSelection]: type({ llm_request: sdkRequest }),
  [HookEventName.BeforeAgent]: type({ prompt: string() }),
  [HookEventName.AfterAgent]: type({
    prompt: string(),
    prompt_response: string(),
    stop_hook_active: optional(boolean()),
  }),
  [HookEventName.SessionStart]: type({ source: enums(Object.values(SessionStartSource)) }),
  [HookEventName.SessionEnd]: type({ reason: enums(Object.values(SessionEndReason)) }),
  [HookEventName.PreCompress]: type({ trigger: enums(Object.values(PreCompressTrigger)) }),
  [HookEventName.Notification]: type({
    notification_type: enums(Object.values(NotificationType)),
    message: string(),
    details: optional(jsonObject),
  }),
};

/** The checked fields of one event. */
export type EventFields<E extends HookEventName> = Infer<(typeof eventFields)[E]>;
