import { MatchLimit } from './matchLimit.js';
import { fail, type Outcome } from './outcome.js';
import { ToolErrorType } from '../../tools/tools.js';

/** A line that matched, with its number counted from 1. */
export interface MatchingLine {
  readonly number: number;
  readonly line: string;
}

/** Finds the lines that match. Fails where that takes too long, as {@link MatchLimit} says. */
export type LineMatcher = (lines: readonly string[]) => Outcome<readonly MatchingLine[]>;

/** Makes a matcher from a regular expression, or says what is wrong with it. */
export function createLineMatcher(pattern: string): Outcome<LineMatcher> {
  const regex = compile(pattern);
  if (regex.failure) return regex;

  const limit = new MatchLimit();
  return {
    value(lines) {
      try {
        return { value: limit.run(() => findMatchingLines(lines, regex.value)) };
      } catch (error) {
        return refuse(
          `The regular expression /${pattern}/ could not be matched: ${(error as Error).message}.`,
          'Simplify it: avoid nested quantifiers such as (a+)+, or search fewer files.',
        );
      }
    },
  };
}

function findMatchingLines(lines: readonly string[], regex: RegExp): MatchingLine[] {
  return lines.flatMap((line, index) => (regex.test(line) ? [{ number: index + 1, line }] : []));
}

function compile(pattern: string): Outcome<RegExp> {
  try {
    return { value: new RegExp(pattern) };
  } catch (error) {
    return refuse(
      `${(error as SyntaxError).message}.`,
      'Use the syntax of JavaScript regular expressions; escape what is meant literally.',
    );
  }
}

function refuse(message: string, nextStep: string) {
  return { failure: fail(ToolErrorType.InvalidParams, message, nextStep) };
}
