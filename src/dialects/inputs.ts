import { events, type CallFacts } from '../protocol/events.js';
import type { BatchedCall } from '../protocol/toolBatch.js';
import { defaultHookTranslator } from '../protocol/hookTranslator.js';
import { withToolNames } from '../protocol/renameTools.js';
import { HookEventName, type HookInput, type HookPayload, type Moment } from '../protocol/types.js';
import { isRecord } from '../util/records.js';
import { hostEnvironment } from '../util/requester.js';
import { placed, recordOf, resultOfText, textOf, valueAt } from './answers.js';
import type { Dialect, EventWords, FieldNames, Fields, OurCall } from './dialect.js';
import { dialects, eventWords, sentEvent, theirSubject } from './dialects.js';
import type { Received } from '../protocol/received.js';
import {
  ourArguments,
  ourCalls,
  ourToolName,
  theirArguments,
  theirResponse,
  theirToolNames,
  toolOutputText,
} from './translate.js';

interface Batch {
  readonly tool_calls: readonly BatchedCall[];
}

/** Fields with the subject of an event, and what it is where an agent's word is none of ours. */
const SUBJECTS: Readonly<Record<string, string>> = {
  source: 'startup',
  reason: 'other',
  trigger: 'auto',
  notification_type: 'Other',
};

/** What a hook of a dialect reads for an event. */
export function theirInput(
  spoken: Dialect,
  event: HookEventName,
  moment: Moment | undefined,
  input: HookInput,
  facts: CallFacts,
): Record<string, unknown> {
  const words = eventWords(spoken, event, moment, toolOf(input)?.name);
  const { callId: tool_use_id, durationMs: duration_ms } = facts;
  const hook_event_name = words?.sentAs ?? words?.name ?? event;
  const ours: Fields = { ...withDialectNames(spoken, input), hook_event_name };
  const own = words?.fields
    ? pick(words.fields, { ...ours, tool_use_id, duration_ms })
    : withoutCommon(ours);
  return {
    ...pick(spoken.common, ours),
    ...spoken.constants,
    ...(words?.toInput?.(own) ?? own),
    ...words?.constants,
  };
}

/** An input by our names of the fields, with the dialect's names of tools, arguments and subjects. */
export function withDialectNames(spoken: Dialect, input: HookInput): HookInput {
  const theirs = (name: string) => theirToolNames(spoken, name)[0];
  if ('llm_request' in input) {
    return { ...input, llm_request: withToolNames(input.llm_request, theirs) } as HookInput;
  }
  if ('tool_calls' in input) {
    const { cwd, tool_calls: calls } = input as HookInput & Pick<Batch, 'tool_calls'>;
    const theirCalls = calls.map((call) => ({
      ...call,
      tool_name: theirs(call.tool_name),
      tool_input: theirArguments(spoken, call.tool_name, { ...call.tool_input }, cwd),
    }));
    return { ...input, tool_calls: theirCalls } as HookInput;
  }
  const tool = toolOf(input);
  if (!tool) return { ...input, ...theirSubjectOf(spoken, { ...input }) };
  const tool_input = theirArguments(spoken, tool.name, tool.input, input.cwd);
  const response: unknown = 'tool_response' in input ? input.tool_response : undefined;
  return {
    ...input,
    tool_name: theirs(tool.name),
    tool_input,
    ...(isRecord(response) && {
      tool_response: theirResponse(spoken, tool.name, response, tool_input),
    }),
  } as HookInput;
}

export function toolOf(
  input: HookInput,
): { name: string; input: Record<string, unknown> } | undefined {
  if (!('tool_name' in input && 'tool_input' in input)) return undefined;
  const { tool_name: name, tool_input: args } = input;
  return typeof name === 'string' && isRecord(args) ? { name, input: args } : undefined;
}

function theirSubjectOf(spoken: Dialect, input: Fields): Fields {
  const name = Object.keys(SUBJECTS).find((each) => typeof input[each] === 'string');
  return name === undefined ? {} : { [name]: theirSubject(spoken, String(input[name])) };
}

/** The fields of the event itself. */
function withoutCommon({
  session_id: _session,
  cwd: _cwd,
  timestamp: _timestamp,
  hook_event_name: _event,
  transcript_path: _transcript,
  ...own
}: Fields): Record<string, unknown> {
  return own;
}

function pick(names: readonly FieldNames[], ours: Fields): Record<string, unknown> {
  const pairs = names.map((each) => (typeof each === 'string' ? ([each, each] as const) : each));
  return placed(pairs.map(([our, theirs]) => [theirs, ours[our]]));
}

export function theirField(names: readonly FieldNames[] = [], ours: string): string {
  const pair = names.find((each) => typeof each !== 'string' && each[0] === ours);
  return pair?.[1] ?? ours;
}

/** A field by the agent's name of it, by ours, or by ours in one word: versions of an agent differ. */
export function fieldOf(fields: Fields, names: readonly FieldNames[] = [], ours: string): unknown {
  const oneWord = ours.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
  const values = [theirField(names, ours), ours, oneWord].map((name) => valueAt(fields, name));
  return values.find((value) => value !== undefined && value !== null);
}

/** The arguments of a tool as an agent sent them. */
export function givenInput({ dialect, theirEvent, fields }: Received): Fields {
  const words = sentEvent(dialects[dialect], theirEvent);
  return recordOf(fieldOf(fields, words?.fields, 'tool_input'));
}

/** What an event is read from, and in whose words. */
interface Source {
  readonly spoken: Dialect;
  readonly words: EventWords;
  readonly fields: Fields;
  /** Of a call, by our names. */
  readonly call: OurCall;
}

/** Our fields, each made of what an agent has in its place. */
const READERS: Readonly<Record<string, (value: unknown, source: Source, name: string) => unknown>> =
  {
    tool_name: (_name, { call }) => call.tool,
    tool_input: (_input, { call }) => call.input,
    tool_response: (response, { spoken, words, fields, call: { tool } }) => {
      const text = toolOutputText(spoken, tool, {}, response ?? '') ?? '';
      return words.toResponse?.(fields, tool, text) ?? resultOfText(text);
    },
    llm_request: (request, { spoken }) => {
      const described = withToolNames(request, (name) => ourToolName(spoken, name));
      return defaultHookTranslator.fromHookLLMRequest(recordOf(described));
    },
    tool_calls: (calls, { spoken }) =>
      Array.isArray(calls) ? calls.map(recordOf).flatMap((call) => batched(spoken, call)) : [],
    llm_response: (response) => defaultHookTranslator.fromHookLLMResponse(recordOf(response)),
    error: (error) => error,
    summary: textOf,
    agent_id: textOf,
    agent_type: textOf,
    prompt: textOf,
    prompt_response: textOf,
    message: textOf,
    stop_hook_active: (isActive) => isActive === true,
    details: (_details, { fields }) => detailsOf(fields),
    ...Object.fromEntries(Object.keys(SUBJECTS).map((name) => [name, ourSubject])),
  };

/**
 * @returns what has happened here: several calls where the agent's tool does the work of several; a text that says what is
 *   missing, where the event cannot be read
 */
export function readPayloads(
  spoken: Dialect,
  words: EventWords,
  fields: Fields,
): readonly HookPayload<HookEventName>[] | string {
  const { event } = words;
  const told = words.toCall?.(fields);
  const own = words.toOurs?.(fields) ?? {};
  const valueOf = (name: string) => own[name] ?? fieldOf(fields, words.fields, name);
  const names = Object.keys(events[event].fields);
  const missing = names.find((name) => !told && isMissing(name, valueOf(name), event));
  if (missing !== undefined) {
    const their = `"${theirField(words.fields, missing)}"`;
    return missing === 'tool_input' ? `an object as ${their}` : their;
  }
  const calls = told
    ? [told]
    : names.includes('tool_name')
      ? callsOf(spoken, fields, valueOf)
      : [NO_CALL];
  if (!calls) return `a form of "${theirField(words.fields, 'tool_input')}" that can be read`;
  return calls.map((call) => {
    const source = { spoken, words, fields, call };
    const ours = names.map((name) => [name, READERS[name]?.(valueOf(name), source, name)]);
    const payload = events[event].decode(Object.fromEntries(ours) as never);
    return { ...payload, ...factsOf(spoken, words, valueOf) };
  });
}

/** One call of a batch, or several where the agent's tool does the work of several; one that cannot be read stays its own. */
function batched(spoken: Dialect, fields: Fields): BatchedCall[] {
  const { tool_name: called, tool_input: given, tool_use_id: id, tool_response: response } = fields;
  const name = textOf(called);
  const calls = ourCalls(spoken, name, recordOf(given)) ?? [{ tool: name, input: recordOf(given) }];
  return calls.map(({ tool, input }) => ({
    tool_name: tool,
    tool_input: { ...input },
    tool_response: resultOfText(toolOutputText(spoken, tool, {}, response ?? '') ?? ''),
    ...(typeof id === 'string' && { call_id: id }),
  }));
}

const NO_CALL: OurCall = { tool: '', input: {} };

function callsOf(
  spoken: Dialect,
  fields: Fields,
  valueOf: (name: string) => unknown,
): readonly OurCall[] | undefined {
  const input = recordOf(valueOf('tool_input'));
  const tool = spoken.toolName?.(fields);
  if (tool !== undefined) return [{ tool, input: ourArguments(spoken, tool, input) }];
  return ourCalls(spoken, textOf(valueOf('tool_name')), input);
}

/** Whether a field is not there without which hooks could not judge. */
function isMissing(name: string, value: unknown, event: HookEventName): boolean {
  if (name === 'tool_name') return typeof value !== 'string' || value === '';
  if (name === 'prompt') return event === HookEventName.BeforeAgent && typeof value !== 'string';
  return ['tool_input', 'llm_request', 'llm_response'].includes(name) && !isRecord(value);
}

function factsOf(
  spoken: Dialect,
  { event, moment }: EventWords,
  valueOf: (name: string) => unknown,
) {
  const isBefore = event === HookEventName.BeforeTool;
  if (!isBefore && event !== HookEventName.AfterTool) return {};
  const callId = valueOf('tool_use_id');
  const durationMs = valueOf('duration_ms');
  return {
    ...(typeof callId === 'string' && callId !== '' && { callId }),
    // Each of these agents asks its user itself.
    ...(isBefore && { canAsk: spoken.isAttended?.(hostEnvironment()) ?? true }),
    ...(moment === 'asked' && { isAsked: true }),
    ...(!isBefore && typeof durationMs === 'number' && { durationMs }),
  };
}

/** Our word for what an agent says of an event; a usual one for a word that we do not have. */
function ourSubject(value: unknown, { spoken, words }: Source, name: string): string {
  const theirs = textOf(value);
  const { otherSubjects = {} } = spoken;
  const word = Object.hasOwn(otherSubjects, theirs) ? otherSubjects[theirs] : theirs;
  const { subjects = [] } = events[words.event];
  const known = subjects.find((each) => each === word);
  return (
    known ??
    subjects.find((each) => theirSubject(spoken, each) === theirs) ??
    String(SUBJECTS[name])
  );
}

/** The agent's own word and title, which our words do not hold. */
function detailsOf(fields: Fields): Record<string, unknown> {
  const { notification_type: type, title } = fields;
  const own = { ...(typeof type === 'string' && { type }), ...(title !== undefined && { title }) };
  return isRecord(fields['details']) ? { ...recordOf(fields['details']) } : own;
}
