import vm from 'node:vm';
import { errorCode } from './errorMessage.js';
import { startStopwatch } from './stopwatch.js';

/** Processor time that one test of an expression may take, in ms. Expressions come from files, and some never end. */
export const MATCH_LIMIT_MS = 50;

/** In which processor time may be counted. */
const TICK_MS = 10;

/** Longer expressions are not worth it: the time that it takes to prepare them cannot be limited. */
export const MAX_EXPRESSION_LENGTH = 2000;

let sandbox: vm.Context | undefined;

/**
 * Tests a text against a regular expression that somebody else wrote.
 *
 * @throws an error of {@link isTimeout} after 50 ms, and a SyntaxError for what is no expression
 */
export function testWithLimit(pattern: string, flags: string, text: string): boolean {
  const [quotedPattern, quotedFlags, quotedText] = [pattern, flags, text].map((each) =>
    JSON.stringify(each),
  );
  const source = `new RegExp(${quotedPattern}, ${quotedFlags}).test(${quotedText})`;
  sandbox ??= vm.createContext(Object.create(null));
  const spentMs = startStopwatch();
  for (;;) {
    try {
      return vm.runInContext(source, sandbox, { timeout: MATCH_LIMIT_MS }) === true;
    } catch (error) {
      // The limit is on the wall clock, which goes on while a busy machine runs something else.
      if (!isTimeout(error) || spentMs() >= MATCH_LIMIT_MS - TICK_MS) throw error;
    }
  }
}

/** Whether a test was given up. */
export function isTimeout(error: unknown): boolean {
  return errorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
