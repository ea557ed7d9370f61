import { inspect } from 'node:util';
import { fieldsOf, type AnyCheck } from '../util/checks.js';
import { answerFields, type HookOutput } from './hookAnswer.js';
import { DEFAULT_BLOCK_REASON } from './hookOutput.js';
import {
  dropUnsafeKeys,
  isRecord,
  isTooDeep,
  MAX_ANSWER_NESTING,
  TOO_DEEP,
} from '../util/records.js';
import { sanitizeText, type TextBound } from './sanitizeText.js';

/** What a script printed, as far as it could be understood. */
export interface ReadOutput {
  /** Absent when the script said nothing. */
  readonly output?: HookOutput;
  /** What was ignored and why, one sentence each. */
  readonly problems: readonly string[];
  /** What of the output, if anything, was not in the format of hooks; a guard that says so has failed. */
  readonly unreadable?: string;
}

/**
 * Reads the stdout of a hook that exited with code 0: a JSON object, a JSON string that contains one, or plain
 * text, which becomes a message to the model. Unknown or mistyped fields are ignored and reported.
 *
 * @param names what messages call fields: path → path, as the author of the hook wrote it
 * @param bound how long a text may be. Default: 10,000 characters
 */
export function readHookOutput(stdout: string, names: Names = {}, bound?: TextBound): ReadOutput {
  const printed = stdout.trim();
  if (printed === '') return { problems: [] };
  const parsed = parseAnswer(printed);
  if (!parsed) return readPlainText(printed, bound);
  const mayBeDeep = printed.length > 2 * MAX_ANSWER_NESTING;
  const report: Readings = { problems: [], misread: [], names, mayBeDeep, bound };
  const output: HookOutput = readShape(parsed, ANSWER, '', report);
  const { problems, misread } = report;
  const [first] = misread;
  return { output, problems: [...problems, ...misread], ...(first && { unreadable: first }) };
}

function readPlainText(printed: string, bound: TextBound | undefined): ReadOutput {
  return {
    output: convertPlainTextToHookOutput(printed, 0, bound),
    problems: describeNoise(printed),
    unreadable: 'printed something other than a JSON object',
  };
}

/**
 * What plain text means, by exit code: a message to the model (0), the reason of a block (2), a warning
 * (anything else).
 */
export function convertPlainTextToHookOutput(
  plain: string,
  exitCode: number,
  bound?: TextBound,
): HookOutput {
  const clean = sanitizeText(plain.trim(), bound);
  if (exitCode === 0) return { decision: 'allow', systemMessage: clean };
  if (exitCode === 2) return { decision: 'deny', reason: clean || DEFAULT_BLOCK_REASON };
  return { decision: 'allow', systemMessage: `Warning: ${clean}` };
}

/** The object that a hook printed, without unsafe keys: a JSON object, or a JSON string that contains one. */
export function parseAnswer(json: string): Record<string, unknown> | undefined {
  let value = parseJson(json);
  if (typeof value === 'string') value = parseJson(value);
  if (!isRecord(value)) return undefined;
  if (MAY_HOLD_UNSAFE_KEY.test(json)) dropUnsafeKeys(value);
  return value;
}

/** Most answers hold none, and need not be searched. A key may be written with escapes. */
const MAY_HOLD_UNSAFE_KEY = /__proto__|constructor|prototype|\\u/;

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Why text that looks like an answer is none: other text stands around the object, or the object is not whole. */
export function describeNoise(printed: string): string[] {
  const start = printed.indexOf('{');
  const end = printed.lastIndexOf('}');
  if (start < 0 || end < start || !parseAnswer(printed.slice(start, end + 1))) {
    return printed.startsWith('{') || OBJECT_ON_LINE.test(printed) ? [BROKEN] : [];
  }
  const noise = start > 0 ? printed.slice(0, start) : printed.slice(end + 1);
  return [
    `stdout looks like JSON with other text around it and is taken as plain text, so its decision does not count; print nothing else on stdout (found ${JSON.stringify(sanitizeText(noise.trim()).slice(0, 80))})`,
  ];
}

/** How an answer begins: on a line of its own, or with a field of ours. */
const OBJECT_ON_LINE = /^[\t ]*\{\s*"|\{\s*"(?:decision|reason|continue|hookSpecificOutput)"/m;

const BROKEN =
  'stdout begins like a JSON object and cannot be read as one, so it is taken as plain text, and its decision does not count; print the whole object, and check it with a JSON parser';

/** Whether text that could not be read was meant as JSON: it begins as JSON does, or holds an object somewhere. */
export function isBrokenJson(printed: string): boolean {
  return /^(?:[[\]}"]|-?\d|(?:true|false|null)\b)|\{/.test(printed);
}

/** The checks of an answer's fields. */
const ANSWER: Readonly<Record<string, AnyCheck>> = Object.fromEntries(
  Object.entries(answerFields).map(([field, [check]]) => [field, check]),
);

/** Texts that reach a model or a terminal. */
const SPOKEN = new Set([
  'reason',
  'stopReason',
  'systemMessage',
  'additionalContext',
  'permissionDecisionReason',
]);

type Names = Readonly<Record<string, string>>;

/** What is wrong with an answer, and what its author calls the fields. */
interface Readings {
  readonly problems: string[];
  /** What is wrong with known fields. */
  readonly misread: string[];
  readonly names: Names;
  /** Each level takes two characters, so that most answers are too short to be nested too deeply. */
  readonly mayBeDeep: boolean;
  readonly bound: TextBound | undefined;
}

function readShape(
  value: Record<string, unknown>,
  checks: Readonly<Record<string, AnyCheck>>,
  at: string,
  report: Readings,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === null) continue;
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    // Texts and flags are most of what hooks say.
    const isPlain = typeof field !== 'object' && check?.is(field);
    const read = isPlain ? field : readField(key, field, check, at, report);
    if (read !== undefined) {
      const isSpoken = check && typeof read === 'string' && SPOKEN.has(key);
      fields[key] = isSpoken ? sanitizeText(read, report.bound) : read;
    }
  }
  return fields;
}

/** A field that is an object or an array, or is not as it should be; `undefined` where it does not count. */
function readField(
  key: string,
  field: unknown,
  check: AnyCheck | undefined,
  at: string,
  report: Readings,
): unknown {
  const inner = check && fieldsOf(check);
  if (report.mayBeDeep && isTooDeep(field, MAX_ANSWER_NESTING)) {
    report.misread.push(`${nameOf(key, at, report)} is ${TOO_DEEP} and is ignored`);
  } else if (!check) {
    report.problems.push(`${nameOf(key, at, report)} is not a known field and has no effect`);
    // Below the top level it is kept as data, for middleware that understands more.
    if (at !== '') return field;
  } else if (inner && isRecord(field)) {
    return readShape(field, inner, `${at}${key}.`, report);
  } else if (!inner && check.is(field)) {
    return field;
  } else {
    const expected = inner ? 'an object' : check.type;
    const got = `expected ${expected}, got ${inspect(field, BRIEFLY)}`;
    report.misread.push(`${nameOf(key, at, report)} is ignored: ${got}`);
  }
  return undefined;
}

/** What the author of the answer calls a field. */
function nameOf(key: string, at: string, { names }: Readings): string {
  const ours = `${at}${key}`;
  return (Object.hasOwn(names, ours) && names[ours]) || ours;
}

const BRIEFLY = { depth: 2, maxStringLength: 60, maxArrayLength: 5, breakLength: Infinity };
