import { dialects, sentEvent } from '../dialects/dialects.js';
import { carriesContext } from '../dialects/reverse.js';
import { events } from '../protocol/events.js';
import type { LateAnswer } from '../protocol/lateAnswer.js';
import { textsOf } from '../protocol/llmContent.js';
import type { Received, ReplyVerdict } from '../protocol/received.js';
import { HookEventName } from '../protocol/types.js';

/**
 * Takes what async hooks of one agent have said, and nobody has read.
 *
 * @param ifWakes all of it only where a hook that says `asyncRewake` blocks, else nothing
 */
type TakeLate = (ifWakes: boolean) => readonly LateAnswer[];

/**
 * The verdict on an event of another agent, with what async hooks have said since, where its model reads that. One that
 * says `asyncRewake` and blocks keeps the agent from ending.
 */
export function withLate(received: Received, verdict: ReplyVerdict, take: TakeLate): ReplyVerdict {
  if (verdict.kind === 'stop') return verdict;
  if (maySendBack(received, verdict)) {
    const reason = take(true).flatMap(textsOf).join('\n\n');
    if (reason !== '') return { ...verdict, kind: 'block', reason };
  }
  // The model may read nothing of what is refused.
  const isRead = isLet(verdict) || !events[received.event].canBlock;
  const texts = isRead && carriesContext(received) ? take(false).flatMap(textsOf) : [];
  return texts.length > 0
    ? { ...verdict, context: [...texts, ...(verdict.context ?? [])] }
    : verdict;
}

/** Whether an agent that has finished can be sent back to work, and was not yet. */
export function maySendBack(received: Received, verdict: ReplyVerdict): boolean {
  const { payload } = received;
  const isSent = 'stopHookActive' in payload && payload.stopHookActive;
  return isLet(verdict) && !isSent && canSendBack(received);
}

function isLet({ kind }: ReplyVerdict): boolean {
  return kind === 'none' || kind === 'allow';
}

/** Whether it is the end of an agent, or of a sub-agent that can be told from its parent, which a block prevents. */
export function canSendBack({ dialect, theirEvent, event, identity }: Received): boolean {
  const isOfHelper = event === HookEventName.SubagentStop && identity.agentId !== undefined;
  if (event !== HookEventName.AfterAgent && !isOfHelper) return false;
  return sentEvent(dialects[dialect], theirEvent)?.answer?.words?.block !== undefined;
}
