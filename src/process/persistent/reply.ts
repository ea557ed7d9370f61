import { MAX_KEPT_BYTES } from '../command/limits.js';
import { NOT_RUN, type CommandOutcome, type Interruption } from '../command/runCommand.js';
import type { Answer } from './lines.js';

/** What came of an event that was put to a process. */
export interface Reply {
  readonly answer?: Answer;
  /** Why there is none, as the end of "The hook …". */
  readonly broken?: string | undefined;
  readonly signal?: NodeJS.Signals | undefined;
  readonly interruption?: Interruption | undefined;
  /** What it really wrote there meanwhile. */
  readonly stderr: string;
  readonly bytesRead: number;
}

/**
 * What a reply is to whoever asked.
 *
 * @returns `undefined` where the process had ended before it was asked
 */
export function toOutcome(reply: Reply): CommandOutcome | undefined {
  const { answer, broken, signal, interruption, stderr, bytesRead } = reply;
  if (answer) return answered(answer, stderr, bytesRead);
  const read = { ...NOT_RUN, stderr, bytesRead, inputTaken: true };
  if (interruption) return { ...read, ending: interruption };
  if (signal) return { ...read, ending: 'signal', signal };
  return broken === undefined ? undefined : { ...read, ending: 'broken', error: new Error(broken) };
}

/** Written out, as it is made for each event. */
function answered(
  { exitCode, stdout, stderr }: Answer,
  written: string,
  bytesRead: number,
): CommandOutcome {
  return {
    ending: 'exit',
    exitCode,
    signal: null,
    stdout,
    stderr: written === '' ? stderr : `${written}${stderr}`.slice(0, MAX_KEPT_BYTES),
    inputTaken: true,
    bytesRead,
    truncated: false,
    stdoutTruncated: false,
    stragglers: false,
    stdoutHeld: false,
    durationMs: 0,
  };
}
