import { dialects, foreignEvent, foreignMoment } from '../../dialects/dialects.js';
import { events, isHookEventName, readEventFields } from '../../protocol/events.js';
import {
  DIALECT_NAMES,
  HookEventName,
  NotificationType,
  type EventFields,
  type HookPayload,
  type Moment,
} from '../../protocol/types.js';
import type { JsonSchema } from '../../util/checks.js';
import { isRecord } from '../../util/records.js';
import { suggestName } from '../../util/suggestName.js';
import { DEFAULT_AGENT_TYPE, DEFAULT_MODEL, DEFAULT_PROMPT, DEFAULT_TOOL } from './options.js';
import { UsageError } from './usageError.js';

/**
 * @returns a moment of an event where only another agent has one of this name
 * @throws UsageError when neither we nor another agent has such an event
 */
export function requireNamedEvent(name: string): { event: HookEventName; moment?: Moment } {
  for (const dialect of DIALECT_NAMES) {
    const found = foreignMoment(dialects[dialect], name);
    if (found) return found;
  }
  if (isHookEventName(name)) return { event: name };
  const foreign = foreignEvent(name);
  if (foreign) throw new UsageError(`"${name}" is not an event here; use '${foreign.ours}'`);
  const hint = suggestName(name, Object.values(HookEventName));
  throw new UsageError(`There is no event "${name}"; ${hint}`);
}

export interface Given {
  readonly tool?: string;
  /** The input of the tool; for other events, fields of the event. */
  readonly input?: unknown;
  readonly request?: unknown;
  readonly response?: unknown;
  readonly prompt?: string;
}

/** @throws UsageError that names the path of what the event does not take */
export function makeFields<E extends HookEventName>(event: E, given: Given): EventFields<E> {
  const fields = fieldsOf(event, given);
  if (!takesFields(event)) return checkFields(event, fields);
  return checkFields(event, withOwnFields(event, fields, given.input, '--input'));
}

/** @throws UsageError for a field that the event does not have, or a value that it does not take */
export function completeFields<E extends HookEventName>(event: E, fields: object): EventFields<E> {
  return checkFields(event, withOwnFields(event, fieldsOf(event, {}), fields, 'input'));
}

/** @throws UsageError */
export function checkFields<E extends HookEventName>(event: E, fields: object): EventFields<E> {
  const read = readEventFields(event, fields);
  if ('fields' in read) return read.fields;
  const faults = read.faults.map(({ path, message }) => `${path}: ${message}`);
  throw new UsageError(`These are not fields of ${event}: ${faults.join('; ')}`);
}

export function decodeFields<E extends HookEventName>(
  event: E,
  fields: EventFields<E>,
  moment?: Moment,
): HookPayload<E> {
  const payload = events[event].decode(fields);
  return moment === 'asked' ? { ...payload, isAsked: true } : payload;
}

/** Which options say something about an event. */
export function usedBy(event: HookEventName): readonly (keyof Given)[] {
  const options = fieldNames(event).flatMap((field) => sources[field]?.options ?? []);
  return takesFields(event) ? ['input', ...options] : options;
}

/** Whether `--input` has fields of the event, as those of a call have options of their own. */
function takesFields(event: HookEventName): boolean {
  return !fieldNames(event).some((field) => field === 'tool_input' || field === 'llm_request');
}

function fieldNames(event: HookEventName): string[] {
  return Object.keys(events[event].fields);
}

/** Where a field's value comes from, and what it is where nobody says. */
interface FieldSource {
  readonly options: readonly (keyof Given)[];
  readonly valueOf: (given: Given) => unknown;
}

/** A failure that may pass. */
const DEFAULT_FAULT = { message: 'The model is overloaded.', status: 503 };

const sources: { readonly [field: string]: FieldSource | undefined } = {
  tool_name: { options: ['tool'], valueOf: ({ tool = DEFAULT_TOOL }) => tool },
  tool_input: { options: ['input'], valueOf: ({ input = {} }) => input },
  tool_response: {
    options: ['response'],
    valueOf: ({ response = { llmContent: '', returnDisplay: '' } }) => response,
  },
  llm_request: { options: ['request', 'prompt'], valueOf: requestOf },
  llm_response: {
    options: ['response'],
    valueOf: ({ response = answer(DEFAULT_PROMPT) }) => response,
  },
  prompt: { options: ['prompt'], valueOf: ({ prompt = DEFAULT_PROMPT }) => prompt },
  prompt_response: { options: ['response'], valueOf: ({ response = '' }) => response },
  agent_type: { options: [], valueOf: () => DEFAULT_AGENT_TYPE },
  error: { options: ['response'], valueOf: ({ response = DEFAULT_FAULT }) => response },
  notification_type: { options: [], valueOf: () => NotificationType.Other },
};

function fieldsOf(event: HookEventName, given: Given): object {
  const entries = Object.entries(events[event].fields).map(([name, [check, , how]]) => [
    name,
    (sources[name]?.valueOf ?? how?.otherwise ?? (() => sampleOf(check.schema as JsonSchema)))(
      given,
    ),
  ]);
  return Object.fromEntries(entries) as object;
}

/** Any value that passes the check of this schema. */
function sampleOf({ type, enum: choices }: JsonSchema): unknown {
  if (Array.isArray(choices)) return choices[0];
  return type === 'string' ? DEFAULT_PROMPT : {};
}

function requestOf({ prompt = DEFAULT_PROMPT, request = {} }: Given): unknown {
  const defaults = { model: DEFAULT_MODEL, contents: prompt };
  return isRecord(request) ? { ...defaults, ...request } : request;
}

/** A misspelt field would otherwise be ignored silently. */
function withOwnFields(
  event: HookEventName,
  defaults: object,
  input: unknown = {},
  where: string,
): object {
  if (!isRecord(input)) throw new UsageError(`${where} of ${event} must be a JSON object`);
  const known = fieldNames(event);
  const unknown = Object.keys(input).find((name) => !known.includes(name));
  if (unknown === undefined) return { ...defaults, ...input };
  throw new UsageError(
    `${where}: ${event} has no field "${unknown}"; ${suggestName(unknown, known)}`,
  );
}

function answer(reply: string): object {
  const content = { role: 'model', parts: [{ text: reply }] };
  return { candidates: [{ content, finishReason: 'STOP' }] };
}

/**
 * The fields that a hook reads, with requests and responses as the model has them.
 *
 * @throws Error for a request or a response that no hook can have read
 */
export function toModelFields(
  event: HookEventName,
  read: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const fields = { ...read };
  for (const [name, [, , how]] of Object.entries(events[event].fields)) {
    const value = read[name];
    if (value === undefined || !how?.fromHook) continue;
    const [failure, checked] = how.reads?.shape.validate(value) ?? [undefined, value];
    if (failure) throw new Error(`${[name, ...failure.path].join('.')}: ${failure.message}`);
    fields[name] = how.fromHook(checked);
  }
  return fields;
}
