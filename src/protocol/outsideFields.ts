import { isTooDeep, TOO_DEEP } from '../util/records.js';
import { events } from './events.js';
import type { EventFields, HookEventName } from './types.js';

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
  const [failure, checked] = events[event].check.validate(input);
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
