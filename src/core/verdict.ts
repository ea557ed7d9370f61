import { events, isBlockRead } from '../protocol/events.js';
import {
  areHealthy,
  rankOf,
  readInPlace,
  withToolInput,
  type DefaultHookOutput,
  type ProcessedHookResult,
} from '../protocol/hookOutput.js';
import { asSystemNote } from '../protocol/llmContent.js';
import { HookEventName, type HookPayload } from '../protocol/types.js';
import { dialects } from '../dialects/dialects.js';
import { givenInput } from '../dialects/inputs.js';
import type { Received, ReplyVerdict } from '../protocol/received.js';
import { findClash } from '../dialects/translate.js';

/**
 * Why a call must not run that hooks have looked at: they may have read another argument than the tool will.
 *
 * @param changed its arguments as hooks have left them, where they changed any: one of another agent may know an argument
 *   by another name
 */
export function ambiguityOf(
  received: Received,
  changed: Readonly<Record<string, unknown>> = {},
): string | undefined {
  const { dialect, event, payload } = received;
  if (event !== HookEventName.BeforeTool) return undefined;
  const { toolName } = payload as HookPayload<HookEventName.BeforeTool>;
  const spoken = dialects[dialect];
  const clash =
    findClash(spoken, toolName, givenInput(received), true) ??
    findClash(spoken, toolName, changed, true);
  if (!clash) return undefined;
  const [ours, theirs] = clash;
  return `The arguments "${theirs}" and "${ours}" are one and the same for hooks, so that they would not see which of them ${spoken.agent} uses: leave "${ours}" out.`;
}

/** What is answered in place of hooks that have not: a block, or where that comes too late, that something is withheld. */
export function refusedVerdict({ event }: Received, reason: string): ReplyVerdict {
  const withheld = events[event].withhold?.(`What was given here is withheld. ${reason}`);
  const isEnd = withheld?.continue === false;
  return {
    kind: isEnd ? 'stop' : withheld ? 'none' : 'block',
    reason,
    output: withheld?.foreign?.toolOutput,
    changes: withheld?.hookSpecificOutput,
  };
}

/** What the hooks of a received event decided, as far as that counts for this event. */
export function verdictOf(
  received: Received,
  fired: ProcessedHookResult | undefined,
): ReplyVerdict {
  if (!fired) return { kind: 'none' };
  const { finalOutput: output } = fired.aggregated;
  const hasFailed = !areHealthy(fired.aggregated);
  if (!output) return { kind: 'none', hasFailed };
  const { event } = received;
  const { toolOutput, contextOfResult } = output.foreign ?? {};
  const isRefused = fired.shouldStop || output.isBlockingDecision();
  return {
    ...decisionOf(received, fired, output),
    input: isRefused ? undefined : changedInput(received, output),
    output: event === HookEventName.AfterTool ? toolOutput : undefined,
    context: [
      contextOfResult,
      event === HookEventName.BeforeTool ? undefined : output.getAdditionalContext(),
      fired.systemMessage && asSystemNote(fired.systemMessage),
    ].flatMap((text) => text || []),
    isHidden: fired.suppressOutput,
    hasFailed,
    changes: output.hookSpecificOutput,
  };
}

function decisionOf(
  received: Received,
  fired: ProcessedHookResult,
  output: DefaultHookOutput,
): Pick<ReplyVerdict, 'kind' | 'reason' | 'unheard' | 'decidedBy'> {
  const { event } = received;
  if (fired.shouldStop) return { kind: 'stop', reason: output.getStopReason() };
  if (output.isBlockingDecision()) return blockOf(event, fired, output);
  if (output.decision === 'ask' && events[event].canAsk) {
    return { kind: 'ask', reason: output.reason, decidedBy: fired.aggregated.decidedBy };
  }
  if (event !== HookEventName.BeforeTool) return { kind: 'none' };
  return isAllowedForUser(received, fired, output) ? { kind: 'allow' } : { kind: 'none' };
}

function blockOf(
  event: HookEventName,
  { aggregated }: ProcessedHookResult,
  output: DefaultHookOutput,
): Pick<ReplyVerdict, 'kind' | 'reason' | 'unheard'> {
  const reason = output.getBlockReason();
  if (isBlockRead(event, output)) {
    const { toolOutput } = output.foreign ?? {};
    const isReplaced = toolOutput && reason === readInPlace(toolOutput);
    return isReplaced ? { kind: 'none' } : { kind: 'block', reason };
  }
  // A block by exit code 2 was reported when the hook ended.
  const isTold = aggregated.results.some(({ exitCode }) => exitCode === 2);
  return { kind: 'none', unheard: isTold ? undefined : reason };
}

/**
 * An `allow` of our own hooks means no more than no objection; one of hooks of the agent itself answers for its user.
 */
function isAllowedForUser(
  { dialect }: Received,
  { aggregated }: ProcessedHookResult,
  { decision }: DefaultHookOutput,
): boolean {
  const allow = rankOf('allow');
  return (
    rankOf(decision) === allow &&
    aggregated.results.some(
      ({ hookConfig, output }) =>
        hookConfig.dialect === dialect && output && rankOf(output.decision) === allow,
    )
  );
}

function changedInput({ event, payload }: Received, output: DefaultHookOutput) {
  if (event !== HookEventName.BeforeTool) return undefined;
  const { toolInput } = payload as HookPayload<HookEventName.BeforeTool>;
  const changed = withToolInput(toolInput, output);
  return changed === toolInput ? undefined : changed;
}
