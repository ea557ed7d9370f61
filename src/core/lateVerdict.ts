import { dialects, sentEvent } from '../dialects/dialects.js';
import { carriesContext } from '../dialects/reverse.js';
import type { LateAnswer } from '../protocol/lateAnswer.js';
import { textsOf } from '../protocol/llmContent.js';
import type { Received, ReplyVerdict } from '../protocol/received.js';
import { HookEventName } from '../protocol/types.js';

/** What async hooks of one session have said, and nobody has read. */
export interface LateSource {
  /** Whether a hook that says `asyncRewake` blocks. */
  wakes(): boolean;
  /** Takes all of it. */
  take(): readonly LateAnswer[];
}

/**
 * The verdict on an event of another agent, with what async hooks have said since, where its model reads that. One that
 * says `asyncRewake` and blocks keeps the agent from ending.
 */
export function withLate(
  received: Received,
  verdict: ReplyVerdict,
  late: LateSource,
): ReplyVerdict {
  if (verdict.kind === 'stop') return verdict;
  if (maySendBack(received, verdict) && late.wakes()) {
    return { ...verdict, kind: 'block', reason: late.take().flatMap(textsOf).join('\n\n') };
  }
  const texts = carriesContext(received) ? late.take().flatMap(textsOf) : [];
  return texts.length > 0
    ? { ...verdict, context: [...texts, ...(verdict.context ?? [])] }
    : verdict;
}

/** Whether an agent that has finished can be sent back to work, and was not yet. */
export function maySendBack(received: Received, { kind }: ReplyVerdict): boolean {
  const { payload } = received;
  const isSent = 'stopHookActive' in payload && payload.stopHookActive;
  return (kind === 'none' || kind === 'allow') && !isSent && canSendBack(received);
}

/** Whether it is the end of an agent, or of a sub-agent that can be told from its parent, which a block prevents. */
export function canSendBack({ dialect, theirEvent, event, identity }: Received): boolean {
  const isOfHelper = event === HookEventName.SubagentStop && identity.agentId !== undefined;
  if (event !== HookEventName.AfterAgent && !isOfHelper) return false;
  return sentEvent(dialects[dialect], theirEvent)?.answer?.words?.block !== undefined;
}
