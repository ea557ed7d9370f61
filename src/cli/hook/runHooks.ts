import { closeIdleConnections } from '../../fleet/remoteHooks.js';
import { LIMITS } from '../shared/limits.js';
import { Watchdog } from '../shared/watchdog.js';
import { openWorkspace } from '../shared/workspace.js';
import { answerEvent } from './answerEvent.js';
import { surviveCrashes } from './crash.js';
import type { HookOptions } from './hookArguments.js';
import type { HookInputReading } from './readInput.js';
import { lastWords, readEvent } from './refusal.js';
import { block, BLOCKED, keepStdout, surviveOutputs, writeAnswer } from './writeAnswer.js';

/** Ms until the watchdog is started where only what is the user's own runs, and is looked at: mostly, it is over by then. */
const WATCH_DELAY_MS = 1000;

/**
 * Answers one event of an agent in a process of its own, which ends with it.
 *
 * @param isOwn whether nobody but the user has a say in what runs here, and in which files are looked at
 * @returns the exit code
 */
export async function runHooks(
  options: HookOptions,
  input: HookInputReading,
  isOwn: boolean,
): Promise<number> {
  surviveOutputs();
  keepStdout();
  const event = readEvent(options, input);
  // The agent has waited since the process began.
  const left = LIMITS.blocked - performance.now();
  const watchdog = new Watchdog(lastWords(event), left, isOwn ? WATCH_DELAY_MS : 0);
  const crash = surviveCrashes(watchdog);
  let exitCode = BLOCKED;
  try {
    const answer = await answerEvent(options, event, { ...crash, openWorkspace });
    exitCode =
      'blocked' in answer ? block(answer.blocked) : await writeAnswer(answer.json, answer.reason);
    return exitCode;
  } finally {
    crash.over(exitCode);
    await closeIdleConnections();
  }
}
