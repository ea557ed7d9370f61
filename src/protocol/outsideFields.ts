import { isTooDeep, TOO_DEEP } from '../util/records.js';
import { events } from './events.js';
import { defaultHookTranslator, type LLMRequest, type LLMResponse } from './hookTranslator.js';
import type { EventFields } from './hookValidators.js';
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

/** Requests and responses of the model, as hooks read them. */
interface ReadByHooks extends Readonly<Record<string, unknown>> {
  readonly llm_request?: LLMRequest;
  readonly llm_response?: LLMResponse;
}

/**
 * The fields that a hook reads, with requests and responses as the model has them.
 *
 * @throws Error for a request or a response that is none
 */
export function toModelFields(read: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { llm_request: request, llm_response: response, ...fields } = read as ReadByHooks;
  return {
    ...fields,
    ...(request && { llm_request: defaultHookTranslator.fromHookLLMRequest(request) }),
    ...(response && { llm_response: defaultHookTranslator.fromHookLLMResponse(response) }),
  };
}
