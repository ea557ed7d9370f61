import { decideReceived } from '../../core/decideReceived.js';
import { fireHook } from '../../hooks/fireHook.js';
import type { ProcessedHookResult } from '../../protocol/hookOutput.js';
import type { ReplyVerdict } from '../../protocol/received.js';
import type { Policy } from './policy.js';
import { verdictWord, type QuestionVerdict } from '../serve/answerText.js';
import type { ReadQuestion } from '../serve/readAsked.js';

/** What hooks said to a question. */
export interface Decided {
  readonly verdict: QuestionVerdict;
  /** Missing where no hook was there for it, and for another agent. */
  readonly fired?: ProcessedHookResult | undefined;
  /** For another agent. */
  readonly reply?: ReplyVerdict;
}

/** Puts a question to the hooks of a policy. Never rejects. */
export async function decide(
  { config }: Policy,
  { event, payload, session, received }: ReadQuestion,
  signal: AbortSignal,
): Promise<Decided> {
  const options = { signal, session };
  if (received) {
    const reply = await decideReceived(config, received, options);
    return { verdict: reply.kind, reply };
  }
  const fired = await fireHook(config, event, payload, options);
  return { verdict: fired ? verdictWord(fired) : 'none', fired };
}
