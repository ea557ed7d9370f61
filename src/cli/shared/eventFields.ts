import { events } from '../../protocol/events.js';
import type { EventFields } from '../../protocol/hookValidators.js';
import { readEventFields } from '../../protocol/outsideFields.js';
import { HookEventName, type HookPayload, type Moment } from '../../protocol/types.js';
import { isRecord } from '../../util/records.js';
import { suggestName } from '../../util/suggestName.js';
import { DEFAULT_MODEL, DEFAULT_PROMPT, DEFAULT_TOOL } from './options.js';
import { UsageError } from './usageError.js';

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
  const fields = sources[event].fieldsOf(given);
  if (events[event].matchOn) return checkFields(event, fields);
  return checkFields(event, withOwnFields(event, fields, given.input, '--input'));
}

/** @throws UsageError for a field that the event does not have, or a value that it does not take */
export function completeFields<E extends HookEventName>(event: E, fields: object): EventFields<E> {
  return checkFields(event, withOwnFields(event, sources[event].fieldsOf({}), fields, 'input'));
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

export function usedBy(event: HookEventName): readonly (keyof Given)[] {
  return sources[event].uses;
}

interface FieldSource {
  readonly uses: readonly (keyof Given)[];
  readonly fieldsOf: (given: Given) => object;
}

const sources: { readonly [E in HookEventName]: FieldSource } = {
  [HookEventName.BeforeTool]: { uses: ['tool', 'input'], fieldsOf: toolFields },
  [HookEventName.AfterTool]: {
    uses: ['tool', 'input', 'response'],
    fieldsOf: ({ response = { llmContent: '', returnDisplay: '' }, ...given }) => ({
      ...toolFields(given),
      tool_response: response,
    }),
  },
  [HookEventName.BeforeModel]: { uses: ['request', 'prompt'], fieldsOf: requestFields },
  [HookEventName.AfterModel]: {
    uses: ['request', 'response', 'prompt'],
    fieldsOf: ({ response = answer(DEFAULT_PROMPT), ...given }) => ({
      ...requestFields(given),
      llm_response: response,
    }),
  },
  [HookEventName.BeforeToolSelection]: { uses: ['request', 'prompt'], fieldsOf: requestFields },
  [HookEventName.BeforeAgent]: {
    uses: ['input', 'prompt'],
    fieldsOf: ({ prompt = DEFAULT_PROMPT }) => ({ prompt }),
  },
  [HookEventName.AfterAgent]: {
    uses: ['input', 'prompt', 'response'],
    fieldsOf: ({ prompt = DEFAULT_PROMPT, response = '' }) => ({
      prompt,
      prompt_response: response,
    }),
  },
  [HookEventName.SessionStart]: { uses: ['input'], fieldsOf: () => ({ source: 'startup' }) },
  [HookEventName.SessionEnd]: { uses: ['input'], fieldsOf: () => ({ reason: 'exit' }) },
  [HookEventName.PreCompress]: { uses: ['input'], fieldsOf: () => ({ trigger: 'manual' }) },
  [HookEventName.Notification]: {
    uses: ['input'],
    fieldsOf: () => ({ notification_type: 'Other', message: DEFAULT_PROMPT, details: {} }),
  },
};

function toolFields({ tool = DEFAULT_TOOL, input = {} }: Given): object {
  return { tool_name: tool, tool_input: input };
}

function requestFields({ prompt = DEFAULT_PROMPT, request = {} }: Given): object {
  const defaults = { model: DEFAULT_MODEL, contents: prompt };
  return { llm_request: isRecord(request) ? { ...defaults, ...request } : request };
}

/** A misspelt field would otherwise be ignored silently. */
function withOwnFields(
  event: HookEventName,
  defaults: object,
  input: unknown = {},
  where: string,
): object {
  if (!isRecord(input)) throw new UsageError(`${where} of ${event} must be a JSON object`);
  const known = Object.keys(events[event].fields.schema);
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
