import type * as Cel from '@bufbuild/cel';
import { errorMessage } from '../util/errorMessage.js';
import {
  isTimeout,
  MATCH_LIMIT_MS,
  MAX_EXPRESSION_LENGTH,
  runWithinLimit,
} from '../util/limitedRegExp.js';
import { loadOptional } from '../util/optionalPackage.js';
import { isRecord } from '../util/records.js';
import { reckonMixed } from './mixedNumbers.js';

/** More brackets in brackets are refused: the time to read an expression cannot be limited. */
const MAX_DEPTH = 50;

/** Of an expression, in a message. */
const SHOWN_LENGTH = 100;

const PACKAGE = '@bufbuild/cel';
const INSTALLED = `${PACKAGE}@0.6`;

/** An expression is none, or gave no verdict: why, with its text and the place where. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

/** What reads expressions. */
export interface Expressions {
  /** @throws ExpressionError for a text that is no expression */
  compile(text: string): Expression;
}

/** An expression in the Common Expression Language, ready to be tried. */
export interface Expression {
  /** As it was written. */
  readonly text: string;
  /**
   * Whether it holds for an event. It sees a copy of the fields that it names, as the event may not change.
   *
   * @param input JSON, as a hook reads it
   * @throws ExpressionError when it names what is not there, gives neither `true` nor `false`, or takes longer than 50 ms
   *   of processor time
   */
  evaluate(input: object): boolean;
}

/**
 * Loads the package that reads expressions, which need not be installed.
 *
 * @throws Error that says what to install
 */
export async function loadExpressions(): Promise<Expressions> {
  const cel = await loadOptional<typeof Cel>(PACKAGE, '"expr" of a rule needs', INSTALLED);
  const env = cel.celEnv({ funcs: reckonMixed(cel) });
  return { compile: (text) => compile(text, cel, env) };
}

function compile(text: string, cel: typeof Cel, env: Cel.CelEnv): Expression {
  const problem = whyUnbounded(text);
  if (problem !== undefined) throw new ExpressionError(`${show(text)} ${problem}`);
  const parsed = parse(text, cel);
  const unknown = findUnknown(parsed.expr, env);
  const { positions } = parsed.sourceInfo ?? {};
  const placeOf = (id: bigint | undefined) => skipSpace(text, positions?.[String(id)]);
  if (unknown) {
    const place = formatPlace(placeOf(unknown.id));
    throw new ExpressionError(
      `${show(text)} calls ${unknown.name}${place}, which CEL does not have`,
    );
  }
  const run = cel.plan(env, parsed);
  const fail = (reason: string, id?: bigint) => {
    const place = placeOf(id);
    const told = reason === 'unresolved attribute' ? nameMissing(text, place) : reason;
    return new ExpressionError(`${show(text)} failed${formatPlace(place)}: ${told}`);
  };
  return {
    text,
    evaluate(input) {
      const result = runLimited(() => run(bind(input)), fail);
      if (cel.isCelError(result)) throw fail(result.message, result.exprId);
      if (typeof result === 'boolean') return result;
      throw fail(`it gives ${describe(result, cel)}, and has to give true or false`);
    },
  };
}

function whyUnbounded(text: string): string | undefined {
  if (text.length > MAX_EXPRESSION_LENGTH)
    return `is longer than ${MAX_EXPRESSION_LENGTH} characters: write several rules`;
  let depth = 0;
  for (const character of text) {
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    if (depth > MAX_DEPTH) return `has more than ${MAX_DEPTH} brackets in each other: simplify it`;
  }
  return undefined;
}

function parse(text: string, cel: typeof Cel): ReturnType<typeof Cel.parse> {
  try {
    return cel.parse(text);
  } catch (cause) {
    const place = isRecord(cause) && isRecord(cause['location']) ? cause['location']['start'] : {};
    const offset = isRecord(place) ? Number(place['offset']) : undefined;
    const reason = errorMessage(cause).replace(/^<input>:\d+:\d+: /, '');
    const told = `${show(text)} is no CEL expression${formatPlace(offset)}: ${reason}`;
    throw new ExpressionError(told, { cause });
  }
}

/** A call of a function that there is not would only be found when it is made. */
function findUnknown(
  node: unknown,
  env: Cel.CelEnv,
  id?: bigint,
): { readonly name: string; readonly id: bigint | undefined } | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const { id: own = id, function: name } = node as { id?: bigint; function?: unknown };
  // Operators have names of their own.
  if (typeof name === 'string' && /^\w+$/.test(name) && !env.funcs.find(name))
    return { name, id: own };
  for (const part of Object.values(node)) {
    const found = findUnknown(part, env, own);
    if (found) return found;
  }
  return undefined;
}

function runLimited<T>(work: () => T, fail: (reason: string) => ExpressionError): T {
  try {
    return runWithinLimit(work);
  } catch (error) {
    throw fail(isTimeout(error) ? `it took longer than ${MATCH_LIMIT_MS} ms` : errorMessage(error));
  }
}

/** Copies a field when it is first named. Maps have no fields of a prototype. */
function bind(input: object): Record<string, Cel.CelInput> {
  const copied = new Map<string, Cel.CelInput | undefined>();
  return new Proxy(Object.create(null) as Record<string, Cel.CelInput>, {
    get(_target, name) {
      if (typeof name !== 'string') return undefined;
      if (!copied.has(name)) {
        const given = Object.hasOwn(input, name);
        copied.set(name, given ? toCel((input as Record<string, unknown>)[name]) : undefined);
      }
      return copied.get(name);
    },
  });
}

function toCel(value: unknown): Cel.CelInput | undefined {
  if (Array.isArray(value)) return value.map((item) => toCel(item) ?? null);
  if (!isRecord(value)) return value as Cel.CelInput | undefined;
  const fields = new Map<string, Cel.CelInput>();
  for (const [name, field] of Object.entries(value)) {
    const copy = toCel(field);
    if (copy !== undefined) fields.set(name, copy);
  }
  return fields;
}

function nameMissing(text: string, place: number | undefined): string {
  const name = place === undefined ? undefined : /^\w+/.exec(text.slice(place))?.[0];
  return `the event has no field ${name ?? 'of that name'}`;
}

function describe(value: unknown, cel: typeof Cel): string {
  if (value === null) return 'null';
  if (cel.isCelList(value)) return 'a list';
  if (cel.isCelMap(value)) return 'a map';
  if (typeof value === 'object') return 'a value of another type';
  return typeof value === 'string'
    ? 'a text'
    : `a ${typeof value === 'bigint' ? 'number' : typeof value}`;
}

/** An operator's place is that of the space before it. */
function skipSpace(text: string, offset: number | undefined): number | undefined {
  return offset === undefined ? undefined : offset + Math.max(text.slice(offset).search(/\S/), 0);
}

function formatPlace(offset: number | undefined): string {
  return offset === undefined || Number.isNaN(offset) ? '' : ` at character ${offset + 1}`;
}

function show(text: string): string {
  const shown = text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
  return `The expression ${JSON.stringify(shown)}`;
}
