import { renameSync, writeFileSync, writeSync } from 'node:fs';
import { killTrackedGroups } from '../../process/command/runningCommand.js';
import { errorMessage } from '../../util/errorMessage.js';
import { printNotice, toOneLine } from '../shared/terminal.js';
import type { Watchdog } from '../shared/watchdog.js';
import { LIMITS } from '../shared/limits.js';
import { ANSWERED, BLOCKED } from './writeAnswer.js';

/** Ms that hooks have to end after a crash. */
const GRACE_MS = 6000;
/** Ms between the answer and the end of the process, where code of an extension would keep it alive. */
const AFTER_ANSWER_MS = 500;
/** How many times that, while a file is written or read. */
const MAX_WAITS = 3;
/** The same, where the main thread does not come back to its timers. */
const BLOCKED_AFTER_ANSWER_MS = 2000;

/** What faults outside of any call may do to an answer. */
export interface Crash {
  /** Aborts with the first fault that nobody has caught, and where the answer is given without the hooks. */
  readonly signal: AbortSignal;
  /** Nothing is prevented by a block: should the process end from here on, the event passes. */
  passes(): void;
  /** Where an exit code blocks nothing, or a block withholds what nothing prevents: the last words say it. */
  withholds(): void;
  /** The answer is written, and counts; or the reason why the event is blocked. */
  over(exitCode: number): void;
}

/**
 * From here on, a process that ends without an answer blocks. Code of extensions runs in it, which may throw when nobody
 * waits, or wait for what never comes; agents take every exit code but one for a yes, and their own time limit as well.
 */
export function surviveCrashes(watchdog: Watchdog): Crash {
  const crash = new AbortController();
  let exitCode: number | undefined = BLOCKED;
  let withholds = false;
  let why = 'the process ended before the hooks had answered';
  endWithin(LIMITS.all);
  process.on('uncaughtException', (error: unknown) => {
    const fault = toOneLine(`an extension failed: ${errorMessage(error)}`);
    if (exitCode === undefined || crash.signal.aborted) return printNotice('warning', fault);
    why = fault;
    endWithin(GRACE_MS);
    crash.abort(error);
  });
  process.once('exit', () => {
    if (exitCode !== undefined) process.exitCode = exitCode;
    if (exitCode === BLOCKED) {
      const reason = `Blocked, as ${why}`;
      attempt(() => writeSync(2, `${reason}\n`));
      for (const { file, text } of watchdog.words.keeps?.(reason) ?? []) {
        attempt(() => {
          writeFileSync(`${file}.last`, text, { mode: 0o600 });
          renameSync(`${file}.last`, file);
        });
      }
    }
    if (exitCode === BLOCKED && withholds) {
      attempt(() => writeSync(1, watchdog.words.out ?? ''));
      // Agents read an answer only where all went well.
      process.exitCode = ANSWERED;
      watchdog.isSilent = true;
    }
    watchdog.endIfStuck(killTrackedGroups);
  });
  return {
    signal: crash.signal,
    passes: () => {
      exitCode = ANSWERED;
      watchdog.isSilent = true;
    },
    withholds: () => void (withholds = true),
    over: (answered) => {
      exitCode = undefined;
      if (answered === ANSWERED) watchdog.isSilent = true;
      watchdog.expectWithin(BLOCKED_AFTER_ANSWER_MS);
      endOnceIdle(watchdog);
    },
  };
}

/** Who is killed for a thread in a system call has no exit code, without which an agent reads no answer. */
function endOnceIdle(watchdog: Watchdog, times = MAX_WAITS): void {
  setTimeout(() => {
    if (times > 1 && watchdog.isInSystemCall) endOnceIdle(watchdog, times - 1);
    else process.exit();
  }, AFTER_ANSWER_MS).unref();
}

function endWithin(ms: number): void {
  setTimeout(() => process.exit(), ms).unref();
}

/** What is written at once, as streams write nothing more by now. */
function attempt(write: () => unknown): void {
  try {
    write();
  } catch {
    // The exit code says it.
  }
}
