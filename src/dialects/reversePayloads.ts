import { defaultHookTranslator } from '../protocol/hookTranslator.js';
import {
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type HookEventName,
  type HookPayload,
} from '../protocol/types.js';
import { isRecord } from '../util/records.js';
import { recordOf } from './answers.js';
import type { Fields } from './dialect.js';
import { foreignMoment, theirSubject } from './dialects.js';
import { ourArguments } from './reverseArguments.js';
import type { ReverseDialect } from './reverseTypes.js';
import { ourToolName, withToolNames } from './translate.js';

/** What an event is read from, and in whose words. */
interface Source {
  readonly reverse: ReverseDialect;
  readonly theirEvent: string;
  readonly fields: Fields;
}

/** Each gives the payload, or what is missing for it. */
const readers: {
  readonly [E in HookEventName]: (source: Source) => HookPayload<E> | string;
} = {
  BeforeTool: (source) => {
    const call = toolCallOf(source);
    const { reverse, theirEvent } = source;
    const isAsked = foreignMoment(reverse.spoken, theirEvent)?.moment === 'asked';
    // Each of these agents asks its user itself.
    return typeof call === 'string' ? call : { ...call, canAsk: true, ...(isAsked && { isAsked }) };
  },
  AfterTool: (source) => {
    const call = toolCallOf(source);
    if (typeof call === 'string') return call;
    const { reverse, fields } = source;
    const duration = fields['duration_ms'];
    return {
      ...call,
      toolResponse: reverse.toolResponse(fields, call.toolName),
      ...(typeof duration === 'number' && { durationMs: duration }),
    };
  },
  BeforeModel: requestOf,
  BeforeToolSelection: requestOf,
  AfterModel: (source) => {
    const request = requestOf(source);
    const response = source.fields['llm_response'];
    if (typeof request === 'string') return request;
    if (!isRecord(response)) return '"llm_response"';
    return { ...request, llmResponse: defaultHookTranslator.fromHookLLMResponse(response) };
  },
  BeforeAgent: ({ fields }) => {
    const prompt = fields['prompt'];
    return typeof prompt === 'string' ? { prompt } : '"prompt"';
  },
  AfterAgent: ({ fields }) => ({
    prompt: textField(fields, 'prompt') ?? '',
    promptResponse:
      textField(fields, 'prompt_response') ?? textField(fields, 'last_assistant_message') ?? '',
    stopHookActive: fields['stop_hook_active'] === true,
  }),
  SessionStart: (source) => ({
    source: subjectOf(source, 'source', SessionStartSource, SessionStartSource.Startup),
  }),
  SessionEnd: (source) => ({
    reason: subjectOf(source, 'reason', SessionEndReason, SessionEndReason.Other),
  }),
  PreCompress: (source) => ({
    trigger: subjectOf(source, 'trigger', PreCompressTrigger, PreCompressTrigger.Auto),
  }),
  Notification: (source) => ({
    notificationType: subjectOf(
      source,
      'notification_type',
      NotificationType,
      NotificationType.Other,
    ),
    message: textField(source.fields, 'message') ?? '',
    details: detailsOf(source.fields),
  }),
};

/** @returns a text that says what is missing, where the event cannot be read */
export function readPayload(
  reverse: ReverseDialect,
  event: HookEventName,
  theirEvent: string,
  fields: Fields,
): HookPayload<HookEventName> | string {
  return readers[event]({ reverse, theirEvent, fields });
}

export function textField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function toolCallOf({ reverse, fields }: Source) {
  const { spoken } = reverse;
  const name = textField(fields, 'tool_name');
  const theirInput = fields['tool_input'];
  if (name === undefined) return '"tool_name"';
  if (!isRecord(theirInput)) return 'an object as "tool_input"';
  const toolName = reverse.toolName(fields, ourToolName(spoken, name));
  const callId = textField(fields, 'tool_use_id');
  return {
    toolName,
    toolInput: ourArguments(spoken, toolName, theirInput),
    ...(callId !== undefined && { callId }),
  };
}

function requestOf({ reverse, fields }: Source) {
  const ours = (name: string) => ourToolName(reverse.spoken, name);
  const request = withToolNames(fields['llm_request'], ours);
  if (!isRecord(request)) return '"llm_request"';
  return { llmRequest: defaultHookTranslator.fromHookLLMRequest(request) };
}

/** Our word for what an agent says of an event; `otherwise` for a word that we do not have. */
function subjectOf<S extends string>(
  { reverse, fields }: Source,
  field: string,
  ours: Readonly<Record<string, S>>,
  otherwise: S,
): S {
  const theirs = textField(fields, field) ?? '';
  const { ourSubjects, spoken } = reverse;
  const word = Object.hasOwn(ourSubjects, theirs) ? ourSubjects[theirs] : theirs;
  const words = Object.values(ours);
  const known = words.find((each) => each === word);
  return known ?? words.find((each) => theirSubject(spoken, each) === theirs) ?? otherwise;
}

/** The agent's own word and title, which our words do not hold. */
function detailsOf(fields: Fields): Record<string, unknown> {
  const { notification_type: type, title } = fields;
  const own = { ...(typeof type === 'string' && { type }), ...(title !== undefined && { title }) };
  return isRecord(fields['details']) ? { ...recordOf(fields['details']) } : own;
}
