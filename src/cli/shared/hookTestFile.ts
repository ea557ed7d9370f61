import { isDeepStrictEqual } from 'node:util';
import escapeStringRegexp from 'escape-string-regexp';
import { editJson } from './editJson.js';
import {
  describe,
  expecting,
  oneOf,
  readFields,
  reportUnknownKeys,
  textOf,
  text,
  type FieldTable,
  type Report,
  formatPath,
} from '../../util/checks.js';
import { parseJsonDocument } from '../../util/jsonDocument.js';
import { suggestName } from '../../util/suggestName.js';
import { isHookEventName } from '../../protocol/events.js';
import { dropUnsafeKeys, isRecord } from '../../util/records.js';
import { isTimeout, MATCH_LIMIT_MS, testWithLimit } from '../../util/limitedRegExp.js';
import { HookEventName } from '../../protocol/types.js';
import type { FireReport } from './fireReport.js';

export const HOOK_TEST_SUFFIX = '.hooktest.json';

/** The content of a `*.hooktest.json`. */
export interface HookTest {
  /** For editors. */
  readonly $schema?: string;
  readonly event: HookEventName;
  /** As scripts read them; made up where missing. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly expect: HookExpectations;
}

/** Only what is named is compared. */
export interface HookExpectations {
  readonly decision?: 'allow' | 'ask' | 'block' | 'stop';
  /** The text, or `/a regular expression/` that it matches; `null` for none. */
  readonly reason?: string | null;
  /** As `reason`. */
  readonly systemMessage?: string | null;
  /** By hook name; `null` for one that did not run. */
  readonly exit?: Readonly<Record<string, number | null>>;
  /** Fields of `hookSpecificOutput`; `null` for one that is not there. */
  readonly modified?: Readonly<Record<string, unknown>>;
}

export interface Difference {
  /** Such as `decision`, or `modified.tool_input`. */
  readonly at: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** @returns the test, or its problems, each as `line:column: path: message` */
export function parseHookTest(
  source: string,
): { readonly test: HookTest } | { readonly problems: readonly string[] } {
  const document = parseJsonDocument(source);
  if (document.syntaxError) {
    const { line, column, message } = document.syntaxError;
    return { problems: [`${line}:${column}: not valid JSON: ${message}`] };
  }
  const problems: string[] = [];
  const report: Report = (path, message) => {
    const { line, column } = document.locate(path);
    const where = path.length === 0 ? '' : `${formatPath(path)}: `;
    problems.push(`${line}:${column}: ${where}${textOf(message)}`);
  };
  const test = readTest(dropUnsafeKeys(document.value), report);
  return test && problems.length === 0 ? { test } : { problems };
}

export function formatHookTest(test: HookTest): string {
  return `${JSON.stringify(test, null, 2)}\n`;
}

/** As `fire --record` writes it. */
export function expectationsOf(report: FireReport): HookExpectations {
  const { decision, reason, exit, modified } = observe(report);
  const changes = Object.entries(modified).filter(([field]) => CHANGES.has(field));
  return {
    decision,
    ...(decision !== 'allow' && reason !== null && { reason: toExpectedText(reason) }),
    exit,
    ...(changes.length > 0 && { modified: Object.fromEntries(changes) }),
  };
}

/** What looks like a pattern becomes one that matches only itself. */
function toExpectedText(said: string): string {
  return PATTERN_FORM.test(said) ? `/^${escapeStringRegexp(said)}$/` : said;
}

/**
 * The text of a recorded event that expects what was seen. Nothing but the expectations that differ is touched.
 *
 * @param differences what `compare` has found
 */
export function updateExpectations(source: string, differences: readonly Difference[]): string {
  return differences.reduce((updated, { at, actual }) => {
    const [part = '', ...name] = at.split('.');
    // The name of a hook may have dots itself.
    const path = ['expect', part, ...(name.length > 0 ? [name.join('.')] : [])];
    const isText = typeof actual === 'string' && TEXTS.has(part);
    return editJson(updated, { path, value: isText ? toExpectedText(actual) : actual });
  }, source);
}

const TEXTS = new Set(['reason', 'systemMessage']);

/** @throws Error where a pattern takes too long */
export function compare(expected: HookExpectations, report: FireReport): Difference[] {
  const actual = observe(report);
  const named = (['exit', 'modified'] as const).flatMap((part) =>
    Object.entries(expected[part] ?? {}).map(
      ([name, value]) => [`${part}.${name}`, value, actual[part][name] ?? null] as const,
    ),
  );
  return [
    ...differenceAt('decision', expected.decision, actual.decision),
    ...differenceAt('reason', expected.reason, actual.reason, matchesText),
    ...differenceAt('systemMessage', expected.systemMessage, report.systemMessage, matchesText),
    ...named.flatMap(([at, value, seen]) => differenceAt(at, value, seen)),
  ];
}

/** Fields that change an operation. */
const CHANGES = new Set(['tool_input', 'llm_request', 'llm_response', 'toolConfig']);

function observe({ stopped, blocked, asks, reason, stopReason, results, ...report }: FireReport) {
  const decision = stopped ? 'stop' : blocked ? 'block' : asks ? 'ask' : 'allow';
  const exit: Record<string, number | null> = Object.fromEntries(
    results.map(({ hook, exitCode }) => [hook, exitCode]),
  );
  const modified = report.hookSpecificOutput ?? {};
  return { decision, reason: stopped ? stopReason : reason, exit, modified } as const;
}

function differenceAt(
  at: string,
  expected: unknown,
  actual: unknown,
  isSame: (expected: unknown, actual: unknown) => boolean = isSameData,
): Difference[] {
  if (expected === undefined || isSame(expected, actual)) return [];
  return [{ at, expected, actual }];
}

/** Parsed objects have no prototype; those of hooks have one. */
function isSameData(expected: unknown, actual: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(expected)), actual);
}

function matchesText(expected: unknown, actual: unknown): boolean {
  const pattern = typeof expected === 'string' ? toPattern(expected) : undefined;
  if (!pattern) return expected === actual;
  if (typeof actual !== 'string') return false;
  try {
    return testWithLimit(pattern.source, pattern.flags, actual);
  } catch (cause) {
    if (!isTimeout(cause)) throw cause;
    const advice = 'simplify it: let nothing that repeats contain another repetition';
    throw new Error(
      `the pattern ${JSON.stringify(expected)} took longer than ${MATCH_LIMIT_MS} ms; ${advice}`,
      { cause },
    );
  }
}

const PATTERN_FORM = /^\/(.+)\/([dimsuvy]*)$/su;

function toPattern(expected: string): RegExp | undefined {
  const [, source, flags] = PATTERN_FORM.exec(expected) ?? [];
  return source === undefined ? undefined : new RegExp(source, flags);
}

const record = expecting<Record<string, unknown>>('an object', isRecord, { type: 'object' });
// Tables of fields know no null.
const expectedText = expecting<string>('a string, /a regular expression/ or null', isExpectedText, {
  type: ['string', 'null'],
});
const exitCodes = expecting<Record<string, number | null>>(
  'an object of exit codes or null by the name of a hook',
  (value) =>
    isRecord(value) &&
    Object.values(value).every((code) => code === null || Number.isSafeInteger(code)),
  { type: 'object', additionalProperties: { type: ['integer', 'null'] } },
);

export const TEST_FIELDS: FieldTable<HookTest> = {
  $schema: { struct: text },
  event: {
    struct: expecting("the name of an event, such as 'BeforeTool'", isHookEventName, {
      enum: Object.values(HookEventName),
    }),
    required: true,
  },
  input: { struct: record },
  expect: { struct: expecting<HookExpectations>('an object', isRecord), required: true },
};

export const EXPECTED_FIELDS: FieldTable<HookExpectations> = {
  decision: { struct: oneOf('allow', 'ask', 'block', 'stop') },
  reason: { struct: expectedText },
  systemMessage: { struct: expectedText },
  exit: { struct: exitCodes },
  modified: { struct: record },
};

function readTest(value: unknown, report: Report): HookTest | undefined {
  if (!isRecord(value)) {
    report([], `expected { "event", "input", "expect" }, got ${describe(value)}`);
    return undefined;
  }
  reportUnknownKeys(value, TEST_FIELDS, report);
  const { event } = value;
  if (text.is(event) && !isHookEventName(event)) {
    report(
      ['event'],
      `there is no such event; ${suggestName(event, Object.values(HookEventName))}`,
    );
    return undefined;
  }
  const test = readFields(value, TEST_FIELDS, 'test', report);
  if (!test) return undefined;
  const reportExpected: Report = (path, message) => report(['expect', ...path], message);
  reportUnknownKeys({ ...test.expect }, EXPECTED_FIELDS, reportExpected);
  if (Object.keys(test.expect).length === 0) reportExpected([], 'nothing is expected');
  for (const [name, field] of Object.entries(EXPECTED_FIELDS)) {
    const [failure] = field.struct.validate({ ...test.expect }[name as keyof HookExpectations]);
    if (failure && name in test.expect) reportExpected([name], failure.message);
  }
  return test;
}

/** Text, a valid pattern, or `null`. */
function isExpectedText(value: unknown): boolean {
  if (typeof value !== 'string') return value === null;
  try {
    toPattern(value);
    return true;
  } catch {
    return false;
  }
}
