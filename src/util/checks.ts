import { inspect } from 'node:util';
import { optional, Struct, type } from 'superstruct';
import { isRecord } from './records.js';
import { suggestName } from './suggestName.js';

/** Where a value stands inside another: `['BeforeTool', 1, 'hooks', 0, 'timeout']`. */
export type Path = readonly (string | number)[];

/** Writes a path as one would in code: `hooks.BeforeTool[1].hooks[0].timeout`. `''` for an empty path. */
export function formatPath(path: Path): string {
  return path
    .map((step, depth) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w$-]{1,60}$/.test(step)) return `[${describe(step)}]`;
      return depth === 0 ? step : `.${step}`;
    })
    .join('');
}

/** JSON Schema, as far as it is written here. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A check of one value, which carries the JSON Schema that says the same. */
export type Check<T> = Struct<T, JsonSchema>;

// The type of a check is used in both directions, so that no other type holds all checks.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyCheck = Struct<any, any>;

/** A check of an object, field by field, which carries the checks of its fields. */
export type Shape<T> = Struct<T, Readonly<Record<string, AnyCheck>>>;

/** An object whose fields may all be missing. Others are let through. */
export function shapeOf<T extends object>(fields: {
  readonly [K in keyof T]-?: AnyCheck;
}): Shape<Partial<T>> {
  const shape: AnyCheck = type(allOptional(fields));
  // Whoever reads an answer field by field has no missing ones.
  shape.schema = fields;
  return shape;
}

function allOptional(fields: object): Record<string, AnyCheck> {
  const checks = Object.entries<AnyCheck>(fields as Record<string, AnyCheck>);
  return Object.fromEntries(checks.map(([key, check]) => [key, optional(check)]));
}

/** The checks of an object's fields; `undefined` where it is checked as a whole. */
export function fieldsOf(check: AnyCheck): Readonly<Record<string, AnyCheck>> | undefined {
  return check.type === 'type' ? (check as Shape<object>).schema : undefined;
}

/**
 * Kinds of problem. A `value` of a wrong shape and an `unknown-event` are ignored, and so are an `unknown-key` and a
 * `misplaced-key`, which are rather a slip; an `unlikely-value` counts, and one with `no-effect` has none here. What is
 * `unsupported` would make a hook do something else than was meant, and so the hook is left out. A matcher that is
 * `matcher-invalid` is kept, and so is a hook that is `unusable`, which fails wherever it is to run, so that a guard
 * denies what it guards.
 */
export type ProblemKind =
  | 'value'
  | 'unsupported'
  | 'unknown-event'
  | 'unknown-key'
  | 'misplaced-key'
  | 'repeated-key'
  | 'unlikely-value'
  | 'no-effect'
  | 'matcher-invalid'
  | 'unusable';

/** A message, or what makes it, where that takes long and nobody may want it. */
export type Message = string | (() => string);

export function textOf(message: Message): string {
  return typeof message === 'string' ? message : message();
}

/** Receives what is wrong with the value at `path`. Default kind: `value`. */
export type Report = (path: Path, message: Message, kind?: ProblemKind) => void;

/** How one key of an object is checked. */
export interface Field<T> {
  readonly struct: Check<T>;
  /** The object makes no sense without this key. */
  readonly required?: boolean;
  /** A bad value takes the whole object with it, not only the field. Implied by `required`. */
  readonly vital?: boolean;
  /** What to say about a value that is valid, and kept, but hardly meant. */
  readonly advise?: (value: T) => string | undefined;
}

/** One `Field` for every key of `T`, in the order in which they are checked. */
export type FieldTable<T> = {
  readonly [K in keyof T]-?: Field<NonNullable<T[K]>> &
    (Partial<Pick<T, K>> extends Pick<T, K> ? unknown : { readonly required: true });
};

/**
 * Reads the keys of `raw` that `table` knows, each checked by itself: a bad field is left out and
 * reported, its neighbours stay. Never copies any other key.
 *
 * @param entry what `raw` is called in messages, such as `hook`
 * @returns the good fields, or undefined when a required or vital one is bad
 */
export function readFields<T extends object>(
  raw: Record<string, unknown>,
  table: FieldTable<T>,
  entry: string,
  report: Report,
): T | undefined {
  const fields: Partial<T> = {};
  for (const key of keysOf(table)) {
    const field: Field<NonNullable<T[typeof key]>> = table[key];
    const value = Object.hasOwn(raw, key) ? raw[key] : undefined;
    if (value === undefined && !field.required) continue;

    const [failure, good] = field.struct.validate(value);
    if (failure !== undefined) {
      const isVital = field.required === true || field.vital === true;
      report([key], `${failure.message}; ${isVital ? `the whole ${entry}` : 'it'} is ignored`);
      if (isVital) return undefined;
      continue;
    }
    fields[key] = good;
    const advice = field.advise?.(good);
    if (advice !== undefined) report([key], advice, 'unlikely-value');
  }
  return fields as T;
}

/** Reports every key of `raw` that is not in `table`, with the nearest one that is. */
export function reportUnknownKeys(
  raw: Record<string, unknown>,
  table: Record<string, unknown>,
  report: Report,
): void {
  for (const key of Object.keys(raw)) {
    if (Object.hasOwn(table, key)) continue;
    const message = () => `unknown key, ignored; ${suggestName(key, Object.keys(table))}`;
    report([key], message, 'unknown-key');
  }
}

/** `value` as it may appear in a message: short, on one line, without control characters. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return 'an object';
  return inspect(value, { maxStringLength: 60, breakLength: Infinity });
}

// superstruct's own structs print the received value into their message with a template literal,
// which throws for the prototype-less objects of a parsed settings file. These do not.

/**
 * A struct for the values that `accepts`.
 *
 * @param what completes "expected …"
 * @param schema accepts the same values; `{}` where nothing can be said
 * @param describeFault what to say of a value in place of what it is, where that says more
 */
export function expecting<T>(
  what: string,
  accepts: (value: unknown) => boolean,
  schema: JsonSchema = {},
  describeFault: (value: unknown) => string = describeGot,
): Check<T> {
  const check: Check<T> = new Struct({
    type: what,
    schema,
    validator: (value) => accepts(value) || `expected ${what}, ${describeFault(value)}`,
  });
  // For most answers of hooks this is all that is asked, and a struct's own takes many times as long.
  check.is = accepts as Check<T>['is'];
  return check;
}

function describeGot(value: unknown): string {
  return `got ${describe(value)}`;
}

export const text = expecting<string>('a string', (value) => typeof value === 'string', {
  type: 'string',
});

export const nonBlankText = expecting<string>(
  'a string that is not empty',
  (value) => typeof value === 'string' && value.trim() !== '',
  { type: 'string', pattern: String.raw`\S` },
);

export const flag = expecting<boolean>('true or false', (value) => typeof value === 'boolean', {
  type: 'boolean',
});

export const anyObject = expecting<Record<string, unknown>>('an object', isRecord, {
  type: 'object',
});

export const list = expecting<readonly unknown[]>('an array', Array.isArray, { type: 'array' });

export const listOfText = expecting<readonly string[]>(
  'an array of strings',
  (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  { type: 'array', items: text.schema },
);

export const count = expecting<number>(
  'a whole number of 0 or more',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
);

export const positiveCount = expecting<number>(
  'a whole number of 1 or more',
  (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  { ...count.schema, minimum: 1 },
);

export function oneOf<T extends string>(...choices: readonly T[]): Check<T> {
  const known = new Set<unknown>(choices);
  const what = choices.map(describe).join(' or ');
  return expecting<T>(what, known.has.bind(known), { enum: choices });
}

/**
 * An object, each of whose `fields`, where it is there, is of its kind.
 *
 * @param options.isClosed whether there must be no other keys. Default false
 */
export function objectOf<T extends object>(
  what: string,
  fields: { readonly [K in keyof T]-?: Check<NonNullable<T[K]>> },
  { isClosed = false } = {},
): Check<T> {
  const shape = type(allOptional(fields));
  const checks = Object.entries<AnyCheck>(fields);
  const names = Object.keys(fields);
  const findUnknown = (value: object) =>
    isClosed ? Object.keys(value).find((key) => !names.includes(key)) : undefined;
  return expecting<T>(
    what,
    (value) => isRecord(value) && shape.is(value) && findUnknown(value) === undefined,
    {
      type: 'object',
      properties: Object.fromEntries(checks.map(([key, { schema }]) => [key, schema])),
      ...(isClosed && { additionalProperties: false }),
    },
    (value) => {
      const unknown = isRecord(value) ? findUnknown(value) : undefined;
      if (unknown === undefined) return describeGot(value);
      return `which has no key ${describe(unknown)}; ${suggestName(unknown, names)}`;
    },
  );
}

export function keysOf<T extends object>(table: FieldTable<T>): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}
