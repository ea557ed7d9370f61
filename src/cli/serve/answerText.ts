import { NOTE_KEY, type FleetNote } from '../../fleet/question.js';
import type { DefaultHookOutput, ProcessedHookResult } from '../../protocol/hookOutput.js';
import { hookIdentity } from '../../protocol/identity.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import type { HookExecutionResult } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';

/** What became of a question, for the figures. */
export type QuestionVerdict = 'none' | 'allow' | 'ask' | 'block' | 'stop' | 'fail';

/** The answer to a question for which no hook is there. */
export const NOTHING_TO_SAY = JSON.stringify({ [NOTE_KEY]: { success: true, hooks: [] } });

/** What hooks decided, as JSON that a hook would print, with a note about the hooks beside it. */
export function answerTextOf(fired: ProcessedHookResult): string {
  const { finalOutput } = fired.aggregated;
  return JSON.stringify({ ...(finalOutput && printed(finalOutput)), [NOTE_KEY]: noteOf(fired) });
}

/** A block counts wherever it stands in an output, so that nobody has to look for it. */
function printed(output: DefaultHookOutput): object {
  const { foreign: _inNote, ...said } = output;
  if (!output.isBlockingDecision()) return said;
  return {
    ...said,
    decision: output.decision === 'deny' ? 'deny' : 'block',
    reason: output.getBlockReason(),
  };
}

function noteOf({ aggregated }: ProcessedHookResult): FleetNote {
  const { success, decidedBy, results, finalOutput } = aggregated;
  return {
    success,
    ...(decidedBy && { decidedBy }),
    hooks: results.map(noteOfHook),
    ...(finalOutput?.foreign && { foreign: finalOutput.foreign }),
  };
}

/** In characters. */
const MAX_WHY = 1000;

function noteOfHook({ hookConfig, success, duration, error, why }: HookExecutionResult) {
  const told = why ?? (error && errorMessage(error));
  return {
    name: hookIdentity(hookConfig),
    success,
    durationMs: Math.round(duration * 10) / 10,
    ...(told !== undefined && { why: removeControls(told).slice(0, MAX_WHY) }),
  };
}

/** One word for what hooks decided. */
export function verdictWord(fired: ProcessedHookResult): QuestionVerdict {
  const { finalOutput, success } = fired.aggregated;
  if (fired.shouldStop) return 'stop';
  if (finalOutput?.isBlockingDecision()) return 'block';
  if (finalOutput?.decision === 'ask') return 'ask';
  if (!success) return 'fail';
  return finalOutput ? 'allow' : 'none';
}
