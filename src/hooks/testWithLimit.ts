import { readFileSync } from 'node:fs';
import vm from 'node:vm';

/** Processor time that one test of an expression may take, in ms. Expressions come from files, and some never end. */
export const MATCH_LIMIT_MS = 50;

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
  const before = threadTime();
  for (;;) {
    try {
      return vm.runInContext(source, sandbox, { timeout: MATCH_LIMIT_MS }) === true;
    } catch (error) {
      // The limit is on the wall clock, which goes on while a busy machine runs something else.
      if (!isTimeout(error) || threadTime() - before >= MATCH_LIMIT_MS - TICK_MS) throw error;
    }
  }
}

/** A tick of Linux, in which it counts the processor time of a thread. */
const TICK_MS = 10;

/** Ms that this thread has had of the processor; those of the process, where there is no such count. */
function threadTime(): number {
  try {
    const line = readFileSync('/proc/thread-self/stat', 'latin1');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

/** Whether a test was given up. */
export function isTimeout(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
