import { type, type Struct } from 'superstruct';
import type { AnyCheck } from '../util/checks.js';
import { isRecord, isTooDeep, TOO_DEEP } from '../util/records.js';
import type {
  AnswerFieldWords,
  EventFieldTable,
  EventRow,
  FieldHandling,
  MergeStrategy,
  OutputClass,
} from './defineEvent.js';
import { eventTable } from './eventTable.js';
import { asText, DefaultHookOutput, isBlocking } from './hookOutput.js';
import {
  HookEventName,
  type CommandHookConfig,
  type EventFields,
  type HookEventInput,
  type HookInput,
  type HookOutput,
  type HookPayload,
} from './types.js';

/** What follows from a row. */
interface Derived<E extends HookEventName> {
  /** The class of the aggregated output. */
  readonly Output: OutputClass;
  readonly canBlock: boolean;
  readonly merge: MergeStrategy;
  /** Checks fields that come from outside. */
  readonly check: Struct<EventFields<E>, Readonly<Record<string, AnyCheck>>>;
  /** The fields that a script reads besides the common ones. */
  readonly encode: (payload: HookPayload<E>) => Omit<HookEventInput<E>, keyof HookInput>;
  /** The payload that checked fields stand for. */
  readonly decode: (fields: EventFields<E>) => HookPayload<E>;
}

/** Everything that differs between events. */
export type EventDefinition<E extends HookEventName> = Derived<E> &
  EventRow<EventFieldTable, object, AnswerFieldWords, HookPayload<E>, HookEventInput<E>>;

/** The table of events, with what follows from its rows. */
export const events = Object.fromEntries(
  Object.entries(eventTable).map(([event, row]) => [
    event,
    { canBlock: false, merge: 'or', ...row, ...derive(row) },
  ]),
) as unknown as { readonly [E in HookEventName]: EventDefinition<E> };

/** A field by both of its names. */
interface Column extends FieldHandling {
  readonly name: string;
  readonly payloadName: string;
}

/** What the types of the fields say, the compiler cannot follow through their names. */
function derive(row: { readonly fields: EventFieldTable; readonly Output?: OutputClass }) {
  const { fields, Output = DefaultHookOutput } = row;
  const columns = Object.entries(fields).map(([name, [, , how]]): Column => ({
    name,
    payloadName: name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
    ...how,
  }));
  const checks = Object.entries(fields).map(([name, [check]]) => [name, check] as const);
  const check = type<Record<string, AnyCheck>>(Object.fromEntries(checks));
  // A struct's own takes many times as long.
  check.is = (value): value is Record<string, unknown> =>
    isRecord(value) && checks.every(([name, each]) => each.is(value[name]));
  return {
    Output,
    check,
    encode: encode.bind(undefined, columns),
    decode: decode.bind(undefined, columns),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function encode(columns: readonly Column[], payload: Fields): Fields {
  const fields: Record<string, unknown> = {};
  for (const { name, payloadName, toHook } of columns) {
    const given = payload[payloadName];
    fields[name] = toHook ? toHook(given) : given;
  }
  return fields;
}

function decode(columns: readonly Column[], fields: Fields): Fields {
  const payload: Record<string, unknown> = {};
  for (const { name, payloadName, otherwise } of columns) {
    payload[payloadName] = fields[name] ?? otherwise?.();
  }
  return payload;
}

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
  const { check }: EventDefinition<E> = events[event];
  if (check.is(input)) return { fields: input };
  const [failure, checked] = check.validate(input);
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

/** Facts about a tool call that hooks of other agents read and ours do not: its id, and how long its tool took. */
export type CallFacts = Readonly<
  Pick<HookPayload<HookEventName.BeforeTool>, 'callId' | 'canAsk'> &
    Pick<HookPayload<HookEventName.AfterTool>, 'durationMs'>
>;

/** The facts that a payload has, for a host that runs hooks by a `HookRunner` of its own. */
export function callFactsOf<E extends HookEventName>(event: E, payload: HookPayload<E>): CallFacts {
  return events[event].facts ? payload : {};
}

/** Whether the reason of a block is read by somebody: it prevents something, or the model reads it. */
export function isBlockRead(event: HookEventName, output: HookOutput = {}): boolean {
  return canPrevent(event, output) || events[event].tellsBlock === true;
}

/** Whether an event is about the call of a tool, so that matchers and conditions are for tools. */
export function isOfTool(event: HookEventName): boolean {
  return events[event].matchOn === 'toolName';
}

/** Whether a block prevents the operation: by the event, or as the agent means it for which the hook was written. */
export function canPrevent(event: HookEventName, { foreign }: HookOutput): boolean {
  return events[event].canBlock || foreign?.prevents === true;
}

/** Whether a hook is a guard whose failure blocks, or withholds what it was to see, where the event has either. */
export function failsClosed({ onFailure }: OnFailure, event: HookEventName): boolean {
  return onFailure === 'deny' && (events[event].canBlock || 'withhold' in events[event]);
}

/**
 * Whether nobody waits for a hook of this event. What a guard says has to be waited for. Other agents know such hooks at
 * all events: what one says that was written for them decides nothing.
 */
export function isAsync(
  hook: Pick<CommandHookConfig, 'async' | 'asyncRewake' | 'onFailure' | 'dialect'>,
  event: HookEventName,
): boolean {
  const isMeant = hook.async === true || hook.asyncRewake === true;
  const isKnown = events[event].canBeAsync === true || hook.dialect !== undefined;
  return isMeant && isKnown && hook.onFailure !== 'deny';
}

/** Whether a hook has conditions, so that it may not run for a call whose tool it matches. */
export function isConditional({
  when,
  groupWhen,
}: Pick<CommandHookConfig, 'when' | 'groupWhen'>): boolean {
  return when !== undefined || groupWhen !== undefined;
}

type OnFailure = Pick<CommandHookConfig, 'onFailure'>;

/** An output with what a failed guard withholds in its place, where one does. */
export function withWithheld(event: HookEventName, output: HookOutput): HookOutput {
  const text = output.foreign?.withheld;
  const withheld = text === undefined ? undefined : events[event].withhold?.(text);
  if (!withheld) return output;
  return { ...output, ...withheld, foreign: { ...output.foreign, ...withheld.foreign } };
}

/** Narrows text from outside to the name of an event. Names are case-sensitive. */
export function isHookEventName(name: unknown): name is HookEventName {
  return typeof name === 'string' && Object.hasOwn(events, name);
}

/**
 * Wraps a hook's output in the class of its event.
 *
 * A BeforeTool output gets the plain class here, which looks at the top-level `decision` only. The aggregated
 * output of the event is a {@link BeforeToolHookOutput}, which understands `permissionDecision` too.
 */
export function createHookOutput(eventName: string, data: HookOutput): DefaultHookOutput {
  if (!isHookEventName(eventName) || eventName === HookEventName.BeforeTool) {
    return new DefaultHookOutput(data);
  }
  return new events[eventName].Output(data);
}

/**
 * What an output means, as plain data that nobody has to interpret: a block has its reason in `reason`, a stop in
 * `stopReason`, and neither is ever empty. What has no effect is left out. Resolving twice changes nothing.
 */
export function resolveOutput(event: HookEventName, output: HookOutput): HookOutput {
  const { effective, Output } = events[event];
  const counting = new Output(output.hookSpecificOutput ? (effective?.(output) ?? output) : output);
  const fields: HookOutput = counting;
  const { decision, reason, stopReason } = fields;
  return {
    ...fields,
    decision: decision ?? undefined,
    systemMessage: asText(fields.systemMessage),
    reason: isBlocking(decision) ? counting.getBlockReason() : asText(reason),
    stopReason: fields.continue === false ? counting.getStopReason() : asText(stopReason),
  };
}
