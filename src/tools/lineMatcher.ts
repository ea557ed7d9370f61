import vm from 'node:vm';
import { fail, type Outcome } from './outcome.js';
import { ToolErrorType } from './tools.js';

const TIMEOUT_MS = 1000;

/** A line that matched, with its number counted from 1. */
export interface MatchingLine {
  readonly number: number;
  readonly line: string;
}

/**
 * Finds the lines that match. Blocks the thread for at most a second; past that, as with a regular
 * expression that backtracks catastrophically, it fails.
 */
export type LineMatcher = (lines: readonly string[]) => Outcome<readonly MatchingLine[]>;

/** Makes a matcher from a regular expression, or says what is wrong with it. */
export function createLineMatcher(pattern: string): Outcome<LineMatcher> {
  const regex = compile(pattern);
  if (regex.failure) return regex;

  const sandbox = vm.createContext({ regex: regex.value, lines: [] });
  return {
    value(lines) {
      sandbox['lines'] = lines;
      try {
        // Only a script of vm can be interrupted while a regular expression is backtracking.
        return { value: findMatchingLines.runInContext(sandbox, { timeout: TIMEOUT_MS }) };
      } catch (error) {
        return refuse(
          `The regular expression /${pattern}/ could not be matched: ${(error as Error).message}.`,
          'Simplify it: avoid nested quantifiers such as (a+)+, or search for literal text.',
        );
      }
    },
  };
}

const findMatchingLines = new vm.Script(`
  ((lines, regex) =>
    lines.flatMap((line, index) => (regex.test(line) ? [{ number: index + 1, line }] : []))
  )(lines, regex);
`);

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
