import { dialects, sentEvent } from '../dialects/dialects.js';
import { carriesContext } from '../dialects/reverse.js';
import { events } from '../protocol/events.js';
import type { HookSystem } from '../hooks/hookSystem.js';
import type { LateAnswer, LookedForLate } from '../protocol/lateAnswer.js';
import { textsOf } from '../protocol/llmContent.js';
import type { Received, ReplyVerdict } from '../protocol/received.js';
import { HookEventName, type CallSession } from '../protocol/types.js';

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
  const isRead = isReadBeside(received.event, verdict.kind) && carriesContext(received);
  const texts = isRead ? take(false).flatMap(textsOf) : [];
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

/** Whether the model reads what is said beside a verdict: it may read nothing of what is refused. */
export function isReadBeside(event: HookEventName, kind: ReplyVerdict['kind']): boolean {
  return kind !== 'stop' && (isLet({ kind }) || !events[event].canBlock);
}

/** Whether an event counts for async hooks, though no hook of its own is to run. */
export function countsForLate(event: HookEventName, late: LookedForLate | undefined): boolean {
  const isEnd = event === HookEventName.SubagentStop || event === HookEventName.AfterAgent;
  return late?.isThere === true || (isEnd && late?.mayCome === true);
}

/** Has the async hooks of a sub-agent ended that is not sent back: nobody reads what they would say. */
export function endIfOver(
  system: HookSystem | undefined,
  event: HookEventName,
  kind: ReplyVerdict['kind'],
  session: CallSession | undefined,
): void {
  if (event !== HookEventName.SubagentStop || kind === 'block') return;
  if (session?.agentId) void system?.endSession(session);
}

function isLet({ kind }: Pick<ReplyVerdict, 'kind'>): boolean {
  return kind === 'none' || kind === 'allow';
}

/** Whether it is the end of an agent, or of a sub-agent that can be told from its parent, which a block prevents. */
export function canSendBack({ dialect, theirEvent, event, identity }: Received): boolean {
  const isOfHelper = event === HookEventName.SubagentStop && identity.agentId !== undefined;
  if (event !== HookEventName.AfterAgent && !isOfHelper) return false;
  return sentEvent(dialects[dialect], theirEvent)?.answer?.words?.block !== undefined;
}
