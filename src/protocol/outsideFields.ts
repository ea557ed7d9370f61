import type { GenerateContentParameters } from '@google/genai';
import { isRecord, isTooDeep, TOO_DEEP } from '../util/records.js';
import { events } from './events.js';
import { defaultHookTranslator, type LLMRequest, type LLMResponse } from './hookTranslator.js';
import type { EventFields } from './hookValidators.js';
import { outputShape, type Shape } from './readHookOutput.js';
import type { HookEventName } from './types.js';

/** What is wrong with one field. */
export interface FieldFault {
  /** Such as `tool_input`; empty where it is all of them. */
  readonly path: string;
  readonly message: string;
}

/** Checks fields of an event that come from outside of the process. Unknown ones are let through. */
export function readEventFields<E extends HookEventName>(
  event: E,
  input: unknown,
): { readonly fields: EventFields<E> } | { readonly faults: readonly FieldFault[] } {
  const [failure, checked] = events[event].fields.validate(input);
  if (!failure) return { fields: checked };
  const faults = failure
    .failures()
    .map(({ path, message }) => ({ path: path.join('.'), message }) satisfies FieldFault);
  return { faults };
}

/** @returns which field hooks could not read, and why; `undefined` where they can */
export function findTooDeepField(fields: object): string | undefined {
  const deep = Object.entries(fields).find(([, value]) => isTooDeep(value));
  return deep && `${deep[0]} is ${TOO_DEEP}`;
}

const { llm_request: REQUEST, llm_response: RESPONSE } = outputShape.hookSpecificOutput.fields;

/**
 * The fields that a hook reads, with requests and responses as the model has them.
 *
 * @throws Error for a request or a response that no hook can have read
 */
export function toModelFields(read: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { llm_request: request, llm_response: response, ...fields } = read;
  check('llm_request', request, REQUEST);
  check('llm_response', response, RESPONSE);
  return {
    ...fields,
    ...(request !== undefined && { llm_request: asModelRequest(request as LLMRequest) }),
    ...(response !== undefined && {
      llm_response: defaultHookTranslator.fromHookLLMResponse(response as LLMResponse),
    }),
  };
}

/** What hooks may only read is not taken over from their answers; here it is what they are to read. */
function asModelRequest(request: LLMRequest): GenerateContentParameters {
  const { tools, systemInstruction } = request;
  const config = {
    ...(tools && { tools: [{ functionDeclarations: tools }] }),
    ...(systemInstruction !== undefined && { systemInstruction }),
  };
  const base = Object.keys(config).length > 0 ? { model: '', contents: [], config } : undefined;
  return defaultHookTranslator.fromHookLLMRequest(request, base);
}

function check(at: string, value: unknown, expected: Shape[string]): void {
  if (value === undefined) return;
  if ('is' in expected) {
    if (!expected.is(value)) throw new Error(`${at} is not ${expected.type}`);
  } else {
    if (!isRecord(value)) throw new Error(`${at} is not an object`);
    for (const [key, field] of Object.entries(expected.fields)) {
      check(`${at}.${key}`, value[key], field);
    }
  }
}
