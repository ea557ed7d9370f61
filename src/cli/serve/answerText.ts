import { markAnswer, type FleetNote } from '../../fleet/answerMark.js';
import type { Question } from '../../fleet/question.js';
import {
  areHealthy,
  asText,
  hasFailed,
  type DefaultHookOutput,
  type ProcessedHookResult,
} from '../../protocol/hookOutput.js';
import { hookIdentity } from '../../protocol/identity.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import type { HookExecutionResult, HookOutput } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';

/**
 * What hooks decided, as JSON that a hook would print, with a note about the hooks beside it.
 *
 * @param policy its version
 * @param fired `undefined` where no hook is there for the question
 * @param late what async hooks have said since, as context
 */
export function answerTextOf(
  question: Question,
  policy: string,
  fired: ProcessedHookResult | undefined,
  late: readonly string[] = [],
): string {
  const finalOutput = fired?.aggregated.finalOutput;
  const said = finalOutput ? printed(finalOutput) : {};
  const note = { policy, ...(fired ? noteOf(fired) : { success: true, hooks: [] }) };
  return markAnswer(late.length > 0 ? withContext(said, late) : said, question, note);
}

function withContext(said: HookOutput, late: readonly string[]): HookOutput {
  const { hookSpecificOutput: specific } = said;
  const context = asText(specific?.['additionalContext']);
  const additionalContext = [...late, ...(context ? [context] : [])].join('\n');
  return { ...said, hookSpecificOutput: { ...specific, additionalContext } };
}

/** An answer in the format of another agent, which knows no marks: it has one where the asker reads them. */
export function foreignAnswerText(
  question: Question,
  policy: string,
  said: object,
  { success = true, decidedBy }: Partial<FleetNote> = {},
): string {
  return question.readsMarks
    ? markAnswer(said, question, { policy, success, ...(decidedBy && { decidedBy }) })
    : JSON.stringify(said);
}

/** A block counts wherever it stands in an output, so that nobody has to look for it. */
function printed(output: DefaultHookOutput): HookOutput {
  const { foreign: _inNote, ...said } = output;
  if (!output.isBlockingDecision()) return said;
  return {
    ...said,
    decision: output.decision === 'deny' ? 'deny' : 'block',
    reason: output.getBlockReason(),
  };
}

function noteOf({ aggregated }: ProcessedHookResult): FleetNote {
  const { decidedBy, results, finalOutput } = aggregated;
  return {
    success: areHealthy(aggregated),
    ...(decidedBy && { decidedBy }),
    hooks: results.map(noteOfHook),
    ...(finalOutput?.foreign && { foreign: finalOutput.foreign }),
  };
}

/** In characters. */
const MAX_WHY = 1000;

function noteOfHook(result: HookExecutionResult) {
  const { hookConfig, duration, error, why } = result;
  const told = why ?? (error && errorMessage(error));
  return {
    name: hookIdentity(hookConfig),
    success: !hasFailed(result),
    durationMs: Math.round(duration * 10) / 10,
    ...(told !== undefined && { why: removeControls(told).slice(0, MAX_WHY) }),
  };
}
