import { distrustsOf, mayReplaceApproval } from '../../middleware/scopes.js';
import { isAsking, refusalOf } from '../approvals/question.js';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import type { Received, ReplyVerdict } from '../protocol/received.js';
import { endIfOver, maySendBack, withLate } from './lateVerdict.js';
import { ambiguityOf, verdictOf } from './verdict.js';
import { fireHook } from '../hooks/fireHook.js';
import type { HookSystem } from '../hooks/hookSystem.js';
import { events, type EventDefinition } from '../protocol/events.js';
import type { ProcessedHookResult } from '../protocol/hookOutput.js';
import { distrustOf } from '../protocol/identity.js';
import { HookEventName, type CallSession, type HookPayload } from '../protocol/types.js';

/**
 * Fires an event that another agent sent, and says what its answer has to carry. Never rejects.
 *
 * @param options.session for whom it is: `identity` of what was received
 * @param waitsUntil by `performance.now()`, how long an agent that has finished waits for async hooks that may send it back
 */
export async function decideReceived(
  config: Config,
  received: Received,
  options: CallOptions,
  waitsUntil?: number,
): Promise<ReplyVerdict> {
  const decided = await decideCalls(received, (call) => decideCall(config, call, options));
  const system = config.getHookSystem();
  if (!system) return decided;
  const { session, signal } = options;
  if (waitsUntil !== undefined && maySendBack(received, decided)) {
    const over = AbortSignal.timeout(Math.max(0, Math.round(waitsUntil - performance.now())));
    const ended = signal ? AbortSignal.any([signal, over]) : over;
    system.giveBackLate(await system.untilWoken(ended, session), session);
  }
  const verdict = signal?.aborted ? decided : withLateOf(system, received, decided, session);
  endIfOver(system, received.event, verdict.kind, session);
  return verdict;
}

function withLateOf(
  system: HookSystem,
  received: Received,
  verdict: ReplyVerdict,
  session: CallSession | undefined,
): ReplyVerdict {
  const { isThere, wakes } = system.lookForLate(session);
  if (!isThere) return verdict;
  return withLate(received, verdict, (ifWakes) =>
    ifWakes && !wakes ? [] : system.takeLate(session),
  );
}

/**
 * Where one call of an agent is several here, one verdict of all: what is refused of any is refused as a whole, and what is
 * allowed for the user has to be for all.
 */
export async function decideCalls(
  received: Received,
  decide: (call: Received) => Promise<ReplyVerdict>,
): Promise<ReplyVerdict> {
  let verdict = await decide(received);
  for (const payload of received.others ?? []) {
    if (verdict.kind === 'block' || verdict.kind === 'stop') return verdict;
    verdict = strictest(verdict, await decide({ ...received, payload }));
  }
  return verdict;
}

const STRICTNESS = ['allow', 'none', 'ask', 'block', 'stop'] as const;

function strictest(first: ReplyVerdict, second: ReplyVerdict): ReplyVerdict {
  const isFirst = STRICTNESS.indexOf(first.kind) > STRICTNESS.indexOf(second.kind);
  return {
    ...first,
    ...second,
    ...(isFirst && { kind: first.kind, reason: first.reason }),
    decidedBy: distinct(first.decidedBy, second.decidedBy),
    input: second.input ?? first.input,
    output: second.output ?? first.output,
    context: distinct(first.context, second.context),
    forUser: distinct(first.forUser, second.forUser),
    isHidden: first.isHidden === true || second.isHidden === true,
    hasFailed: first.hasFailed === true || second.hasFailed === true,
  };
}

/** All of both, each once. */
export function distinct(
  first: readonly string[] = [],
  second: readonly string[] = [],
): readonly string[] {
  return [...new Set([...first, ...second])];
}

async function decideCall(
  config: Config,
  received: Received,
  options: CallOptions,
): Promise<ReplyVerdict> {
  const { event, payload, theirEvent } = received;
  const fired = await fireHook(config, event, payload, options);
  if (!fired) return verdictOf(received, fired);
  const verdict = blockIfAmbiguous(received, verdictOf(received, fired));
  if (verdict.kind === 'ask' && event !== HookEventName.BeforeTool) {
    return askHostPerson(config, received, fired, verdict, options);
  }
  if (theirEvent !== 'PermissionRequest' || verdict.kind !== 'allow') return verdict;
  const isSettled = verdict.input === undefined && !isOutranked(config, fired);
  return isSettled ? verdict : fireBeforeToolAgain(config, received, fired, verdict, options);
}

/** The verdict; a block where the agent could use another argument than the hooks have read. */
function blockIfAmbiguous(received: Received, verdict: ReplyVerdict): ReplyVerdict {
  if (verdict.kind === 'block' || verdict.kind === 'stop') return verdict;
  const reason = ambiguityOf(received, verdict.input);
  return reason === undefined ? verdict : { kind: 'block', reason };
}

/** Whether more trusted hooks than those that allow a call may have asked about it. */
function isOutranked(config: Config, { aggregated }: ProcessedHookResult): boolean {
  const allowing = Math.min(...distrustsOf(aggregated, 'allow'));
  const hooks = config.getHookSystem()?.getAllHooks() ?? [];
  return hooks.some(
    ({ eventName, enabled, config: hook }) =>
      enabled && eventName === HookEventName.BeforeTool && distrustOf(hook) < allowing,
  );
}

/** The agent cannot ask its user at this event, so the host's approver is asked. */
async function askHostPerson<E extends HookEventName>(
  config: Config,
  { event, payload }: Received<E>,
  { aggregated }: ProcessedHookResult,
  verdict: ReplyVerdict,
  options: CallOptions,
): Promise<ReplyVerdict> {
  const { finalOutput: output } = aggregated;
  if (!output || !isAsking(aggregated)) return verdict;
  const { changed }: EventDefinition<E> = events[event];
  const subject = {
    input: { ...(changed?.(payload, output) ?? payload) },
    originalInput: { ...payload },
  };
  const answer = await config.askPerson(event, aggregated, subject, options);
  if (answer.decision === 'allow') return { ...verdict, kind: 'none' };
  return { kind: 'block', reason: refusalOf(answer) };
}

/** Arguments that the hooks of the call have not seen are put to them as well, and so is what others may not allow. */
async function fireBeforeToolAgain(
  config: Config,
  received: Received,
  allowing: ProcessedHookResult,
  verdict: ReplyVerdict,
  options: CallOptions,
): Promise<ReplyVerdict> {
  const { toolName, toolInput: given, canAsk } = received.payload as BeforeTool;
  const toolInput = verdict.input ? { ...verdict.input } : given;
  const payload = { toolName, toolInput, canAsk };
  const fired = await fireHook(config, HookEventName.BeforeTool, payload, options);
  const again = blockIfAmbiguous(received, verdictOf({ ...received, payload }, fired));
  const both = { ...verdict, hasFailed: verdict.hasFailed || again.hasFailed };
  if (again.kind === 'block' || again.kind === 'stop') return again;
  const input = again.input ?? verdict.input;
  if (again.kind !== 'ask' || !fired) return { ...both, input };
  if (input === undefined) {
    const mayAllow = mayReplaceApproval(allowing.aggregated, fired.aggregated);
    return mayAllow ? both : { ...both, kind: 'none' };
  }
  const reason = 'A hook changed the arguments, and others want a person to be asked about them.';
  return { kind: 'block', reason };
}

type BeforeTool = HookPayload<HookEventName.BeforeTool>;
