import { decideReceived } from '../../core/decideReceived.js';
import { fireHook, type FoundWork } from '../../hooks/fireHook.js';
import { areHealthy, type ProcessedHookResult } from '../../protocol/hookOutput.js';
import type { Received, ReplyVerdict } from '../../protocol/received.js';
import type { CallSession, HookEventName, HookPayload } from '../../protocol/types.js';
import type { Policy } from './policy.js';

/** A question that can be put to hooks. */
export interface ReadQuestion<E extends HookEventName = HookEventName> {
  readonly event: E;
  readonly payload: HookPayload<E>;
  readonly session: CallSession;
  /** What another agent told its hooks; it wants an answer in its own format. */
  readonly received?: Received;
}

/** What became of a question, for the figures. */
export type QuestionVerdict = 'none' | 'allow' | 'ask' | 'block' | 'stop' | 'fail';

/** What hooks said to a question. */
export interface Decided {
  readonly verdict: QuestionVerdict;
  /** Missing where no hook was there for it, and for another agent. */
  readonly fired?: ProcessedHookResult | undefined;
  /** For another agent. */
  readonly reply?: ReplyVerdict;
}

/**
 * Puts a question to the hooks of a policy. Never rejects.
 *
 * @param work what there is to do, where that was just found. Default: it is looked for
 */
export async function decide(
  { config }: Policy,
  { event, payload, session, received }: ReadQuestion,
  signal: AbortSignal | undefined,
  work?: FoundWork,
): Promise<Decided> {
  const options = { signal, session };
  if (received) {
    const reply = await decideReceived(config, received, options);
    return { verdict: reply.kind, reply };
  }
  const fired = await (work ? work.fire(options) : fireHook(config, event, payload, options));
  return { verdict: fired ? verdictWord(fired) : 'none', fired };
}

/** One word for what hooks decided. */
function verdictWord(fired: ProcessedHookResult): QuestionVerdict {
  const { finalOutput } = fired.aggregated;
  if (fired.shouldStop) return 'stop';
  if (finalOutput?.isBlockingDecision()) return 'block';
  if (finalOutput?.decision === 'ask') return 'ask';
  if (!areHealthy(fired.aggregated)) return 'fail';
  return finalOutput ? 'allow' : 'none';
}
