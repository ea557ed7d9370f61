import vm from 'node:vm';
import { errorCode } from './errorMessage.js';
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
  const spentMs = startStopwatch();
  for (;;) {
    try {
      return runWithLimit(() => new RegExp(pattern, flags).test(text), MATCH_LIMIT_MS);
    } catch (error) {
      // `vm` measures wall time, which also passes while a busy machine runs something else.
      if (!isTimeout(error) || spentMs() >= MATCH_LIMIT_MS - TICK_MS) throw error;
    }
  }
}

export function isExpression(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

export function isTimeout(error: unknown): boolean {
  return errorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

/** For which one step may block the thread. */
const MAX_STEP_MS = 1000;
const MAX_TOTAL_MS = 10_000;

/** Limits a search with expressions that somebody else wrote, which is done in steps. */
export class StepLimit {
  #leftMs: number;

  /** @param totalMs for all steps together */
  constructor(private readonly totalMs = MAX_TOTAL_MS) {
    this.#leftMs = totalMs;
  }

  /** @throws Error when the step takes longer than 1 s, or all steps too long together; and what the step throws */
  run<T>(step: () => T): T {
    if (this.#leftMs <= 0) throw new Error(`it takes longer than ${this.totalMs} ms`);
    const startedAt = performance.now();
    try {
      return runWithLimit(step, MAX_STEP_MS);
    } finally {
      this.#leftMs -= performance.now() - startedAt;
    }
  }
}

/** Only a script of `vm` can be interrupted while a regular expression is backtracking. */
function runWithLimit<T>(work: () => T, timeout: number): T {
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
