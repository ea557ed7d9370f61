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
  const { event, payload } = received;
  const isSent = 'stopHookActive' in payload && payload.stopHookActive;
  const mayWake = event === HookEventName.AfterAgent && verdict.kind === 'none' && !isSent;
  if (mayWake && late.wakes()) {
    return { ...verdict, kind: 'block', reason: late.take().flatMap(textsOf).join('\n\n') };
  }
  const texts = carriesContext(received) ? late.take().flatMap(textsOf) : [];
  return texts.length > 0
    ? { ...verdict, context: [...texts, ...(verdict.context ?? [])] }
    : verdict;
}
