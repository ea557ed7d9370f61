import vm from 'node:vm';
import { errorCode } from './errorMessage.js';
import { orUndefined } from './paths.js';
import { startStopwatch } from './stopwatch.js';

/** Processor time for one test of an expression. Expressions come from files, and some never end. */
export const MATCH_LIMIT_MS = 50;

/** The unit in which some systems count processor time. */
const TICK_MS = 10;

/** Longer expressions are refused: the time to compile them cannot be limited. */
export const MAX_EXPRESSION_LENGTH = 2000;

/**
 * Tests a text against a regular expression that somebody else wrote.
 *
 * @throws an error of {@link isTimeout} after 50 ms, and a SyntaxError for what is not an expression
 */
export function testWithLimit(pattern: string, flags: string, text: string): boolean {
  return runCounted(() => new RegExp(pattern, flags).test(text));
}

/**
 * Does some work that changes nothing, and may be done twice.
 *
 * @param limitMs of processor time. Default 50
 * @throws an error of {@link isTimeout} when it takes more, and what it throws
 */
export function runWithinLimit<T>(work: () => T, limitMs = MATCH_LIMIT_MS): T {
  try {
    return runWithLimit(work, limitMs);
  } catch (error) {
    if (!isTimeout(error)) throw error;
  }
  // To count from the beginning would take as long as most work.
  return runCounted(work, limitMs);
}

/** `vm` measures wall time, which also passes while a busy machine runs something else. */
function runCounted<T>(work: () => T, limitMs = MATCH_LIMIT_MS): T {
  const spentMs = startStopwatch();
  for (;;) {
    try {
      return runWithLimit(work, limitMs);
    } catch (error) {
      if (!isTimeout(error) || spentMs() >= limitMs - TICK_MS) throw error;
    }
  }
}

export function isExpression(text: string): boolean {
  return orUndefined(() => new RegExp(text)) !== undefined;
}

export function isTimeout(error: unknown): boolean {
  return errorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

/**
 * Does some work that may search with expressions: only a script of `vm` can be interrupted while one is backtracking.
 *
 * @throws an error of {@link isTimeout} after `timeout` ms, and what the work throws
 */
export function runWithLimit<T>(work: () => T, timeout: number): T {
  sandbox ??= vm.createContext({ work: undefined });
  script ??= new vm.Script('work()');
  sandbox['work'] = work;
  try {
    return script.runInContext(sandbox, { timeout }) as T;
  } finally {
    // It holds the text that was searched.
    sandbox['work'] = undefined;
  }
}

let sandbox: vm.Context | undefined;
let script: vm.Script | undefined;
