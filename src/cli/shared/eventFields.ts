import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { validate, type Struct, type StructError } from 'superstruct';
import { suggestName } from '../util/suggestName.js';
import { events } from '../protocol/events.js';
import type { EventFields } from '../protocol/hookValidators.js';
import { isRecord } from '../util/records.js';
import { HookEventName, type HookPayload, type Moment } from '../protocol/types.js';
import { DEFAULT_MODEL, DEFAULT_PROMPT, DEFAULT_TOOL } from './defaults.js';
import { printNotice } from './terminal.js';
import { UsageError } from './usageError.js';

/** What an event is made of, as it stands on the command line. JSON may be `@FILE`, or `-` for stdin. */
export interface PayloadOptions {
  readonly tool?: string;
  readonly input?: string;
  readonly request?: string;
  readonly response?: string;
  readonly prompt?: string;
}

/**
 * Makes the fields of an event from the command line, with made-up values for what is not given. Tells on stderr
 * of options that the event has no use for.
 *
 * @throws UsageError when a value cannot be read, or is not what the event takes; the message names its path
 */
export async function readFields<E extends HookEventName>(
  event: E,
  options: PayloadOptions,
  moment?: Moment,
): Promise<EventFields<E>> {
  const { uses, fieldsOf } = sources[event];
  for (const option of OPTIONS) {
    if (options[option] === undefined || uses.includes(option)) continue;
    printNotice('note', 'cyan', `--${option} has no effect on ${event}`);
  }
  const given = await readGiven(event, options, uses);
  return checkFields(event, fieldsOf(moment === 'failed' ? withFailure(given) : given));
}

/**
 * Completes the fields of an event with made-up values.
 *
 * @throws UsageError when there is a field that the event does not have, or one is not what the event takes
 */
export function completeFields<E extends HookEventName>(event: E, fields: object): EventFields<E> {
  return checkFields(event, ownFields(event, sources[event].fieldsOf({}), fields, 'input'));
}

/**
 * The fields of an event of which there is a payload in JSON.
 *
 * @throws UsageError when the payload is not what the event takes
 */
export function recordedFields<E extends HookEventName>(
  event: E,
  payload: Record<string, unknown>,
): EventFields<E> {
  const names = Object.keys(events[event].fields.schema);
  const fields = names.map((name) => [name, payload[toCamelCase(name)]] as const);
  return checkFields(event, Object.fromEntries(fields.filter(([, value]) => value !== undefined)));
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The payload that fields of an event stand for, at a moment of it. */
export function decodeFields<E extends HookEventName>(
  event: E,
  fields: EventFields<E>,
  moment?: Moment,
): HookPayload<E> {
  const payload = events[event].decode(fields);
  return moment === 'asked' ? { ...payload, isAsked: true } : payload;
}

/** The response of a tool that failed, where none is given that says so. */
function withFailure({ response, ...given }: Given): Given {
  const message = 'The tool failed';
  const failure = { llmContent: message, returnDisplay: message, error: { message } };
  return { ...given, response: isRecord(response) ? { ...failure, ...response } : failure };
}

function checkFields<E extends HookEventName>(event: E, fields: object): EventFields<E> {
  // The struct of an event is the one of its fields; TypeScript cannot see that through the generic.
  const struct = events[event].fields as unknown as Struct<EventFields<E>>;
  const [failure, checked] = validate(fields, struct);
  if (failure) throw new UsageError(describeFailure(event, failure));
  return checked;
}

/** Those of the command line. */
export const OPTIONS = ['tool', 'input', 'request', 'response', 'prompt'] as const;
type OptionName = (typeof OPTIONS)[number];

/** The options, with JSON parsed. */
interface Given {
  readonly tool?: string;
  readonly input?: unknown;
  readonly request?: unknown;
  readonly response?: unknown;
  readonly prompt?: string;
}

interface FieldSource {
  readonly uses: readonly OptionName[];
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
    fieldsOf: ({ prompt = DEFAULT_PROMPT, input }) =>
      ownFields(HookEventName.BeforeAgent, { prompt }, input),
  },
  [HookEventName.AfterAgent]: {
    uses: ['input', 'prompt', 'response'],
    fieldsOf: ({ prompt = DEFAULT_PROMPT, response = '', input }) =>
      ownFields(HookEventName.AfterAgent, { prompt, prompt_response: response }, input),
  },
  [HookEventName.SessionStart]: {
    uses: ['input'],
    fieldsOf: ({ input }) => ownFields(HookEventName.SessionStart, { source: 'startup' }, input),
  },
  [HookEventName.SessionEnd]: {
    uses: ['input'],
    fieldsOf: ({ input }) => ownFields(HookEventName.SessionEnd, { reason: 'exit' }, input),
  },
  [HookEventName.PreCompress]: {
    uses: ['input'],
    fieldsOf: ({ input }) => ownFields(HookEventName.PreCompress, { trigger: 'manual' }, input),
  },
  [HookEventName.Notification]: {
    uses: ['input'],
    fieldsOf: ({ input }) =>
      ownFields(
        HookEventName.Notification,
        { notification_type: 'Other', message: DEFAULT_PROMPT, details: {} },
        input,
      ),
  },
};

function toolFields({ tool = DEFAULT_TOOL, input = {} }: Given): object {
  return { tool_name: tool, tool_input: input };
}

function requestFields({ prompt = DEFAULT_PROMPT, request = {} }: Given): object {
  const defaults = { model: DEFAULT_MODEL, contents: prompt };
  return { llm_request: isRecord(request) ? { ...defaults, ...request } : request };
}

/** A misspelt field would otherwise leave the made-up value in its place, in silence. */
function ownFields(
  event: HookEventName,
  defaults: object,
  input: unknown = {},
  where = '--input',
): object {
  if (!isRecord(input)) throw new UsageError(`${where} of ${event} must be a JSON object`);
  const known = Object.keys(events[event].fields.schema);
  for (const name of Object.keys(input)) {
    if (known.includes(name)) continue;
    throw new UsageError(`${where}: ${event} has no field "${name}"; ${suggestName(name, known)}`);
  }
  return { ...defaults, ...input };
}

function answer(reply: string): object {
  const content = { role: 'model', parts: [{ text: reply }] };
  return { candidates: [{ content, finishReason: 'STOP' }] };
}

async function readGiven(
  event: HookEventName,
  options: PayloadOptions,
  uses: readonly OptionName[],
): Promise<Given> {
  const given = { tool: options.tool, prompt: options.prompt };
  const names = (['input', 'request', 'response'] as const).filter((name) => uses.includes(name));
  const fromStdin = names.filter((name) => options[name] === '-');
  if (fromStdin.length > 1) {
    const list = fromStdin.map((name) => `--${name}`).join(' and ');
    throw new UsageError(`Only one option can read stdin, and ${list} want to; use @FILE`);
  }
  const values = await Promise.all(
    names.map(async (name) => {
      const isText = name === 'response' && event === HookEventName.AfterAgent;
      const value = await readValue(`--${name}`, options[name]);
      return [name, isText || value === undefined ? value : parseJson(`--${name}`, value)];
    }),
  );
  return { ...given, ...(Object.fromEntries(values) as Partial<Given>) };
}

async function readValue(option: string, value: string | undefined): Promise<string | undefined> {
  if (value === '-') return text(process.stdin);
  if (!value?.startsWith('@')) return value;
  try {
    return await readFile(value.slice(1), 'utf8');
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`${option} ${value}: the file cannot be read (${detail})`, { cause });
  }
}

function parseJson(option: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(
      `${option} is not JSON (${detail}); write JSON, @FILE, or - to read it from stdin`,
      { cause },
    );
  }
}

function describeFailure(event: HookEventName, failure: StructError): string {
  const faults = failure.failures().map(({ path, message }) => `${path.join('.')}: ${message}`);
  return `These are no fields of ${event}: ${faults.join('; ')}`;
}
