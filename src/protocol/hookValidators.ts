import type { ContentListUnion } from '@google/genai';
import { optional, refine, type, type Infer } from 'superstruct';
import { describe, expecting, flag, oneOf, text } from '../util/checks.js';
import { isRecord } from '../util/records.js';
import { answerText, type Answer } from './response.js';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
} from './types.js';

const jsonObject = expecting<Record<string, unknown>>('an object', isRecord, { type: 'object' });

const contents = expecting<ContentListUnion>(
  'text, a content, or a list of contents',
  (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
);

const sdkRequest = type({ model: text, contents, config: optional(jsonObject) });

const candidates = expecting<Answer['candidates']>(
  'an array of candidates of the SDK, whose parts are objects such as { text }',
  (value) => Array.isArray(value) && value.every(isCandidate),
  {},
  (value) => `got ${Array.isArray(value) ? 'others' : describe(value)}`,
);

// What hooks have as texts would be left out of what they read, and guards would look past it.
const sdkResponse = refine(
  type({ candidates: optional(candidates) }),
  'SDK response',
  (response: Answer & { readonly text?: unknown }) =>
    !Object.hasOwn(response, 'text') ||
    !response.text ||
    answerText(response) !== '' ||
    'expected a response of the SDK, got a text that is in no candidate',
);

/**
 * The fields of each event as they come from outside the process: over the message bus, or from a command
 * line. Requests and responses of the model are those of the SDK; unknown fields are let through.
 */
export const eventFields = {
  [HookEventName.BeforeTool]: type({ tool_name: text, tool_input: jsonObject }),
  [HookEventName.AfterTool]: type({
    tool_name: text,
    tool_input: jsonObject,
    tool_response: jsonObject,
  }),
  [HookEventName.BeforeModel]: type({ llm_request: sdkRequest }),
  [HookEventName.AfterModel]: type({ llm_request: sdkRequest, llm_response: sdkResponse }),
  [HookEventName.BeforeToolSelection]: type({ llm_request: sdkRequest }),
  [HookEventName.BeforeAgent]: type({ prompt: text }),
  [HookEventName.AfterAgent]: type({
    prompt: text,
    prompt_response: text,
    stop_hook_active: optional(flag),
  }),
  [HookEventName.SessionStart]: type({ source: oneOf(...Object.values(SessionStartSource)) }),
  [HookEventName.SessionEnd]: type({ reason: oneOf(...Object.values(SessionEndReason)) }),
  [HookEventName.PreCompress]: type({ trigger: oneOf(...Object.values(PreCompressTrigger)) }),
  [HookEventName.Notification]: type({
    notification_type: oneOf(...Object.values(NotificationType)),
    message: text,
    details: optional(jsonObject),
  }),
};

/**
 * The fields of one event as they come from outside. The fields common to all events are not among them: the hook
 * system fills them in from its `Config`, whatever a request says.
 */
export type EventFields<E extends HookEventName> = Infer<(typeof eventFields)[E]>;

function isCandidate(candidate: unknown): boolean {
  if (!isRecord(candidate)) return isAbsent(candidate);
  const { content } = candidate;
  if (!isRecord(content)) return isAbsent(content);
  const { parts } = content;
  if (!Array.isArray(parts)) return isAbsent(parts);
  return parts.every((part) => isRecord(part) || isAbsent(part));
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function validator<E extends HookEventName>(event: E) {
  return (input: unknown): input is EventFields<E> => eventFields[event].is(input);
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
