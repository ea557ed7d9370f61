import { isGiven, isRecord } from '../util/records.js';
import { isBlocking, rankOf } from '../protocol/hookOutput.js';
import type { AnswerWords, DialectAnswer, Fields } from './dialect.js';

/** Names with spaces between them. */
export const namesIn = (text: string): readonly string[] => text.split(' ');

export function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** A text as it is; `''` for everything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A tool's result that is nothing but a text. */
export function resultOfText(text: string) {
  return { llmContent: text, returnDisplay: text };
}

/** The same of one that has failed, and says why, or not. */
export function failureOfText(said: unknown) {
  const message = textOf(said) || 'The tool has failed';
  return { ...resultOfText(message), error: { message } };
}

/** What stands at a place of an answer: names with dots between them. */
export function valueAt(said: Fields, place: string): unknown {
  return place.split('.').reduce<unknown>((value, name) => recordOf(value)[name], said);
}

/** An object with values at places. What is `undefined`, or has no place, is left out. */
export function placed(
  values: readonly (readonly [place: string | undefined, value: unknown])[],
  hookEventName?: string,
): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const [place, value] of values) {
    if (place === undefined || value === undefined) continue;
    const names = place.split('.');
    const last = names.pop() ?? '';
    let inside = json;
    for (const name of names) {
      const fresh = name === 'hookSpecificOutput' ? { hookEventName } : {};
      inside = (inside[name] ??= fresh) as Record<string, unknown>;
    }
    inside[last] = value;
  }
  return json;
}

/** An answer without what stands at some places. */
export function withoutPlaces(
  said: Fields,
  places: readonly string[],
  before = '',
): Record<string, unknown> {
  const kept = Object.entries(said).filter(([name]) => !places.includes(before + name));
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      name === 'hookSpecificOutput' && isRecord(value)
        ? withoutPlaces(value, places, `${name}.`)
        : value,
    ]),
  );
}

/** There, `systemMessage` is for the user, and `suppressOutput` hides what the hook printed, which nobody sees here. */
export function readCommonFields({
  systemMessage,
  suppressOutput: _hidden,
  ...output
}: Fields): DialectAnswer {
  return { output, forUser: [systemMessage] };
}

/** Reads an answer as the table has it; one of an event without words is ours. */
export function readAnswer(said: Fields, words: AnswerWords = {}): DialectAnswer {
  const { continue: _end, stopReason: _because, ...others } = said;
  if (words.cannotStop !== undefined) return readObjection(others);
  if (words.decision !== undefined) return readDecision(said, words);
  return words.output === undefined ? readCommonFields(said) : readReplacement(said, words.output);
}

/** For events that cannot be blocked: the user is told why a hook wants to. */
export function readObjection(said: Fields): DialectAnswer {
  const { output, forUser = [] } = readCommonFields(said);
  const { decision, reason, ...others } = output;
  return { output: others, forUser: isBlocking(decision) ? [...forUser, reason] : forUser };
}

/** What takes the place of a tool's result, where an answer has that. */
export function readReplacement(said: Fields, place: string): DialectAnswer {
  const value = valueAt(said, place) ?? undefined;
  const { output, forUser } = readCommonFields(withoutPlaces(said, [place]));
  return {
    output,
    forUser,
    ...(value !== undefined && { toolOutput: { value, isDenial: false } }),
  };
}

/**
 * For events whose decision has a place of its own. One in `decision` counts beside it where it blocks, else where it is
 * the only one. The reason of an "allow" is for the user; kept, it would be taken for the reason of another hook's block.
 * What cannot be read is handed on as it is, so that whoever reads the output refuses it: beside it, nothing allows.
 */
export function readDecision(said: Fields, words: AnswerWords): DialectAnswer {
  const { decision: at = '', reason: reasonAt = '', input: inputAt = '', context = '' } = words;
  const { decision: early, reason: earlyReason } = said;
  const theirs = valueAt(said, at);
  const isEarly =
    isBlocking(early) || (!isBlocking(theirs) && (isMisread(early) || !isGiven(theirs)));
  const decision = isEarly ? early : theirs;
  const reason = reasonFor(decision, isBlocking(early), valueAt(said, reasonAt), earlyReason);
  const read = ['decision', 'reason', at, reasonAt, inputAt, 'hookSpecificOutput.hookEventName'];
  const { output, forUser } = readCommonFields(withoutPlaces(said, read));
  const { hookSpecificOutput: specific, ...common } = output;
  const mayChange = words.needsDecision === undefined || decision === 'allow';
  const input = mayChange ? valueAt(said, inputAt) : undefined;
  const isUnread = [specific, input].some((value) => isGiven(value) && !isRecord(value));
  return {
    output: {
      ...common,
      decision: isUnread && rankOf(decision) === rankOf('allow') ? undefined : decision,
      reason,
      hookSpecificOutput:
        isRecord(specific) || input !== undefined
          ? { ...recordOf(specific), tool_input: input }
          : specific,
    },
    forUser,
    contextOfResult: valueAt(said, context),
    theirNames: {
      ...(!isEarly && { decision: at }),
      ...(reason !== earlyReason && { reason: reasonAt }),
      'hookSpecificOutput.tool_input': inputAt,
    },
  };
}

function reasonFor(decision: unknown, isEarly: boolean, theirs: unknown, early: unknown): unknown {
  if (isBlocking(decision)) return isEarly ? (early ?? theirs) : (theirs ?? early);
  const misread = [theirs, early].find((value) => isGiven(value) && typeof value !== 'string');
  return misread ?? (decision === 'ask' ? (theirs ?? early) : undefined);
}

/** Whether something stands where a decision is expected, and is none. */
function isMisread(decision: unknown): boolean {
  return isGiven(decision) && rankOf(decision) === 0;
}
