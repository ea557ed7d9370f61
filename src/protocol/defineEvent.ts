import type { Infer, type } from 'superstruct';
import type { AnyCheck, Shape } from '../util/checks.js';
import type { HookOutput, SpecificAnswer } from './hookAnswer.js';
import type { HookInput } from './hookInput.js';
import type { DefaultHookOutput } from './hookOutput.js';
import type { Moment } from './names.js';

/**
 * A field that scripts read: the check of what comes from outside, over the bus or from a command line, and its words
 * for editors and pages.
 */
export type EventField = readonly [check: AnyCheck, words: string, how?: FieldHandling];

/* oxlint-disable typescript/no-explicit-any -- a field says itself what it takes */
export interface FieldHandling {
  /** What the payload has where this is missing outside. */
  readonly otherwise?: () => unknown;
  /** Makes what scripts read of what the payload has. Without it, they are the same. */
  readonly toHook?: (given: any) => unknown;
  /** The other way round, for what a script has read once. */
  readonly fromHook?: (read: any) => unknown;
  /** What scripts read, and which of its fields are always there. */
  readonly reads?: { readonly shape: Shape<any>; readonly always: readonly string[] };
}
/* oxlint-enable typescript/no-explicit-any */

export type EventFieldTable = Readonly<Record<string, EventField>>;

/** What hooks may say of an event in `hookSpecificOutput`, with its words: the fields that have an effect there. */
export type AnswerFieldWords = { readonly [K in keyof SpecificAnswer]?: string };

/** How the outputs of several hooks become one; see `middleware/aggregator.ts`. */
export type MergeStrategy = 'or' | 'replacement' | 'union';

/** What an event says for itself, once. */
export interface EventRow<Table, Facts, Answers, Payload, Input> {
  /** When it fires, in one sentence. */
  readonly summary: string;
  readonly fields: Table;
  /** What a caller may say besides, and only hooks of other agents read. */
  readonly facts?: Facts;
  readonly answers: Answers;
  /** The field that matchers are tested against; without it, every hook of the event runs. */
  readonly matchOn?: keyof NoInfer<Payload>;
  /** The one that only matchers of other agents are tested against. */
  readonly dialectsMatchOn?: keyof NoInfer<Payload>;
  /** The moment of it that other agents tell apart, where it is one. */
  readonly momentOf?: (payload: Payload) => Moment | undefined;
  /** All that `dialectsMatchOn` may be. */
  readonly subjects?: readonly string[];
  /** Whether a block prevents the operation. Elsewhere, as by default, it is reported and has no such effect. */
  readonly canBlock?: boolean;
  /** Whether the model reads the reason of a block that prevents nothing. */
  readonly tellsBlock?: boolean;
  /** Whether nobody has to wait for its hooks, so that they may be `async`. Default false. */
  readonly canBeAsync?: boolean;
  /** Whether hooks may have a person asked. */
  readonly canAsk?: boolean;
  /** Where there is something to withhold once a guard has failed: how a text takes its place, or the agent is stopped. */
  readonly withhold?: (text: string) => HookOutput;
  /** What that is, for messages. Default: its result is withheld. */
  readonly withheldAs?: string;
  /**
   * What the payload is after an output; the same one where that changes nothing. There where the operation goes on with
   * it, so that guards have to see it.
   */
  readonly changed?: (payload: Payload, output: HookOutput) => Payload;
  /** Default `or`. */
  readonly merge?: MergeStrategy;
  /** What the next hook of a chain reads after this output. Without it, all read the same. */
  readonly chain?: (input: Input, output: HookOutput) => Input;
  /** What of one hook's output counts, before it is merged. Without it, all. */
  readonly effective?: (output: HookOutput) => HookOutput;
  /** The class of the aggregated output. Default: the plain one. */
  readonly Output?: OutputClass;
}

export type OutputClass = new (data?: HookOutput) => DefaultHookOutput;

type Camel<S> = S extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest> & string>}`
  : S;

/** What comes from outside. */
export type OutsideOf<F extends EventFieldTable> = Infer<
  ReturnType<typeof type<{ [K in keyof F]: F[K][0] }>>
>;

type ToHook<Given, Read> = readonly [unknown, string, { toHook: (given: Given) => Read }];

/** What scripts read. */
export type ReadOf<F extends EventFieldTable> = Flat<HookInput & OwnOf<F>>;

type OwnOf<F extends EventFieldTable> = {
  [K in keyof F]: F[K] extends ToHook<never, infer Read>
    ? Read
    : Exclude<Infer<F[K][0]>, undefined>;
};

/** What a caller hands in. */
export type PayloadOf<F extends EventFieldTable, Facts> = Flat<
  GivenOf<F> & { [K in keyof Facts]?: Facts[K] extends AnyCheck ? Infer<Facts[K]> : never }
>;

type GivenOf<F extends EventFieldTable> = {
  [K in keyof F as Camel<K>]: F[K] extends ToHook<infer Given, unknown>
    ? Given
    : Exclude<Infer<F[K][0]>, undefined>;
};

/** The same, as editors are to show it. */
type Flat<T> = { [K in keyof T]: T[K] };

/** A row, typed by its own fields. */
export function defineEvent<
  Table extends EventFieldTable,
  Answers extends AnswerFieldWords,
  Facts extends object = object,
>(row: EventRow<Table, Facts, Answers, PayloadOf<Table, Facts>, ReadOf<Table>>) {
  return row;
}
