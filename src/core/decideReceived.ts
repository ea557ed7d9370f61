import { isDeepStrictEqual } from 'node:util';
import { isAsking, refusalOf } from '../approvals/question.js';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { verdictOf, type Received, type ReplyVerdict } from '../dialects/reverse.js';
import { fireHook } from '../hooks/fireHook.js';
import type { ProcessedHookResult } from '../protocol/hookOutput.js';
import { HookEventName, type HookPayload } from '../protocol/types.js';

/**
 * Fires an event that another agent sent, and says what its answer has to carry. Never rejects.
 *
 * @param options.session for whom it is: `identity` of what was received
 */
export async function decideReceived(
  config: Config,
  received: Received,
  options: CallOptions,
): Promise<ReplyVerdict> {
  const { event, payload, theirEvent } = received;
  const fired = await fireHook(config, event, payload, options);
  const verdict = verdictOf(received, fired);
  if (!fired) return verdict;
  if (verdict.kind === 'ask' && event !== HookEventName.BeforeTool) {
    return askOurselves(config, received, fired, verdict, options);
  }
  const isChanged =
    theirEvent === 'PermissionRequest' && verdict.kind === 'allow' && verdict.input !== undefined;
  return isChanged ? askAgain(config, received, verdict, options) : verdict;
}

/** The agent has no question for this. */
async function askOurselves(
  config: Config,
  { event, payload }: Received,
  { aggregated }: ProcessedHookResult,
  verdict: ReplyVerdict,
  options: CallOptions,
): Promise<ReplyVerdict> {
  if (!isAsking(aggregated)) return verdict;
  const input = { ...payload };
  const subject = { input, originalInput: input };
  const answer = await config.askPerson(event, aggregated, subject, options);
  if (answer.decision === 'allow') return { ...verdict, kind: 'none' };
  return { kind: 'block', reason: refusalOf(answer) };
}

/** Arguments that the hooks of the call have not seen are put to them as well. */
async function askAgain(
  config: Config,
  received: Received,
  verdict: ReplyVerdict,
  options: CallOptions,
): Promise<ReplyVerdict> {
  const { toolName, canAsk } = received.payload as HookPayload<HookEventName.BeforeTool>;
  const payload = { toolName, toolInput: { ...verdict.input }, canAsk };
  const fired = await fireHook(config, HookEventName.BeforeTool, payload, options);
  const again = verdictOf({ ...received, payload }, fired);
  if (again.kind === 'block' || again.kind === 'stop') return again;
  if (again.kind === 'ask') {
    const reason = 'A hook changed the arguments, and others want a person to be asked about them.';
    return { kind: 'block', reason };
  }
  const isSame = again.input === undefined || isDeepStrictEqual(again.input, verdict.input);
  return isSame ? verdict : { ...verdict, input: again.input };
}
