import {
  HookEventName,
  type HookInput,
  type HookOutput,
  type Redaction,
} from '../protocol/types.js';
import { runWithinLimit } from '../util/limitedRegExp.js';
import { isRecord } from '../util/records.js';

/** Processor time for all patterns of one rule at one event, in ms. */
export const REDACT_LIMIT_MS = 200;

/** Where texts that can be replaced are, by event. */
const PLACES: { readonly [E in HookEventName]?: readonly [read: string, answered: string] } = {
  [HookEventName.AfterTool]: ['tool_response', 'tool_response'],
  [HookEventName.BeforeModel]: ['llm_request', 'llm_request'],
  [HookEventName.AfterModel]: ['llm_response', 'llm_response'],
};

/** What of that a hook may give anew. */
const GIVEN: ReadonlySet<string> = new Set([
  'llmContent',
  'returnDisplay',
  'messages',
  'text',
  'candidates',
]);

/** Whether there are texts at an event that a rule can replace. */
export function canRedact(event: HookEventName): boolean {
  return PLACES[event] !== undefined;
}

/**
 * The answer that replaces what is found in a result, a request or an answer; without anything found, none.
 *
 * @throws an error of `isTimeout` where the patterns take longer than {@link REDACT_LIMIT_MS}
 */
export function redactTexts(
  event: HookEventName,
  input: HookInput,
  redactions: readonly Redaction[],
): HookOutput {
  const [read = '', answered = ''] = PLACES[event] ?? [];
  const given = (input as object as Readonly<Record<string, unknown>>)[read];
  if (!isRecord(given)) return {};
  const patterns = redactions.map((each) => [new RegExp(each.pattern, 'gu'), each.with] as const);
  const redact = (text: string): string =>
    patterns.reduce((left, [pattern, instead]) => left.replace(pattern, () => instead), text);
  const changed = runWithinLimit(() => changesOf(given, redact), REDACT_LIMIT_MS);
  return changed ? { hookSpecificOutput: { [answered]: changed } } : {};
}

type Redact = (text: string) => string;

function changesOf(given: Readonly<Record<string, unknown>>, redact: Redact) {
  const changes = Object.entries(given).flatMap(([key, value]) => {
    if (!GIVEN.has(key)) return [];
    const left = redactAll(value, redact);
    return left === value ? [] : [[key, left] as const];
  });
  return changes.length > 0 ? Object.fromEntries(changes) : undefined;
}

/** The same value where nothing of it is found. */
function redactAll(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) {
    const left = value.map((each) => redactAll(each, redact));
    const isTexts = value.every((each) => typeof each === 'string');
    if (isTexts && left.join('') !== redact(value.join(''))) return asOneText(value, redact);
    return left.some((each, at) => each !== value[at]) ? left : value;
  }
  if (!isRecord(value)) return value;
  const left = Object.entries(value).map(
    ([key, each]) => [key, key === 'inlineData' ? each : redactAll(each, redact)] as const,
  );
  return left.some(([key, each]) => each !== value[key]) ? Object.fromEntries(left) : value;
}

/** What is found may reach from one text into the next one. */
function asOneText(texts: readonly string[], redact: Redact): readonly string[] {
  return texts.map((_text, at) => (at === 0 ? redact(texts.join('')) : ''));
}
