import { writeSync } from 'node:fs';
import { errorMessage } from '../../util/errorMessage.js';
import { printNotice, toOneLine } from '../shared/terminal.js';
import { ANSWERED, BLOCKED } from './writeAnswer.js';

/** Ms that hooks have to end after a crash. */
const GRACE_MS = 6000;
/** Ms for everything: hooks are ended before, and agents wait for 600,000. Middleware may heed neither. */
const LONGEST_MS = 597_000;
/** Ms between the answer and the end of the process, where code of an extension would keep it alive. */
const AFTER_ANSWER_MS = 500;

/** What faults outside of any call may do to an answer. */
export interface Crash {
  /** Aborts with the first fault that nobody has caught. */
  readonly signal: AbortSignal;
  /** Nothing is prevented by a block: from here on, the event passes without an answer. */
  passes(): void;
  /** The answer is written, and counts. */
  over(): void;
}

/**
 * From here on, a process that ends without an answer blocks. Code of extensions runs in it, which may throw when nobody
 * waits, or wait for what never comes; agents take every exit code but one for a yes, and their own time limit as well.
 */
export function surviveCrashes(): Crash {
  const crash = new AbortController();
  let exitCode: number | undefined = BLOCKED;
  let why = 'the process ended before the hooks had answered';
  endWithin(LONGEST_MS);
  process.on('uncaughtException', (error: unknown) => {
    const fault = toOneLine(`an extension failed: ${errorMessage(error)}`);
    if (exitCode === undefined || crash.signal.aborted) return printNotice('warning', fault);
    why = fault;
    endWithin(GRACE_MS);
    crash.abort(error);
  });
  process.once('exit', () => {
    if (exitCode === undefined) return;
    process.exitCode = exitCode;
    if (exitCode === BLOCKED) say(`Blocked, as ${why}\n`);
  });
  return {
    signal: crash.signal,
    passes: () => void (exitCode = ANSWERED),
    over: () => {
      exitCode = undefined;
      endWithin(AFTER_ANSWER_MS);
    },
  };
}

function endWithin(ms: number): void {
  setTimeout(() => process.exit(), ms).unref();
}

/** Streams write nothing more by now. */
function say(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // The exit code says it.
  }
}
