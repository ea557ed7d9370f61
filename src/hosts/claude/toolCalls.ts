import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { decideReceived } from '../../core/decideReceived.js';
import { openReceivedCall, opensCall, type ReceivedCall } from '../../core/receivedCall.js';
import type { Received, ReplyVerdict } from '../../protocol/received.js';
import { HookEventName } from '../../protocol/types.js';
import { RecentMap } from '../shared.js';

const { BeforeAgent, SessionEnd, SubagentStart, SubagentStop } = HookEventName;

/** What hooks together may take, in ms: what is said later, nobody hears. */
export const DEADLINE_MS = 590_000;
/** How long an agent that has finished waits for async ones, in ms, so that it may end all the same. */
const MAX_WAIT_MS = DEADLINE_MS - 10_000;

/** Claude Code may never tell what became of it: its user denied it, or the query has ended. */
interface Open {
  readonly call: ReceivedCall;
  readonly sessionId: unknown;
  readonly agentId: unknown;
}

/** Events of one query or several, and the tool calls that have begun and not ended. */
export class ToolCalls {
  /** By session, the sub-agents that were not to start. The host starts them all the same, so their tools are denied. */
  readonly #refused = new Map<unknown, Map<unknown, string>>();
  readonly #open = new RecentMap<Open>(({ call }) => void call.abandon?.());

  constructor(private readonly config: Config) {}

  async decide(received: Received, options: CallOptions): Promise<ReplyVerdict> {
    const refusal = this.refusalOf(received);
    if (refusal !== undefined) return { kind: 'block', reason: refusal };
    return this.#decide(received, options);
  }

  /** What a sub-agent may not do up to its end, as the host starts it whatever is answered. */
  note({ event, fields, identity }: Received, { kind, reason = '' }: ReplyVerdict): void {
    const { session_id: session } = fields;
    const { agentId: agent } = identity;
    if (event === SessionEnd) this.#refused.delete(session);
    // The user has the word again.
    if (event === BeforeAgent && agent === undefined) this.#refused.get(session)?.delete(undefined);
    if (event !== SubagentStart && event !== SubagentStop) return;
    const refused = this.#refused.get(session) ?? new Map<unknown, string>();
    const isRefused = kind === 'block' || kind === 'stop';
    if (event === SubagentStart && isRefused) refused.set(agent, reason);
    if (event === SubagentStop && !isRefused && agent) refused.delete(agent);
    if (refused.size > 0) this.#refused.set(session, refused);
    else this.#refused.delete(session);
  }

  /** Why a call must not run, whatever hooks of tools say: its sub-agent was not to start. */
  refusalOf(received: Received): string | undefined {
    if (received.event !== HookEventName.BeforeTool) return undefined;
    const { agentId: agent } = received.identity;
    if (agent === undefined) return undefined;
    const refused = this.#refused.get(received.fields['session_id']);
    // One without an id may be any of them.
    return refused?.get(agent) ?? refused?.get(undefined);
  }

  async #decide(received: Received, options: CallOptions): Promise<ReplyVerdict> {
    if (opensCall(this.config, received)) return this.#begin(received, options);
    if (received.event === HookEventName.AfterTool) {
      const finish = this.#open.take(keyOf(received))?.call.finish;
      if (finish) return finish(received, options);
    }
    if (ENDS.has(received.theirEvent)) this.#abandonAll(received);
    const waitsUntil = performance.now() + MAX_WAIT_MS;
    const verdict = await decideReceived(this.config, received, options, waitsUntil);
    return this.#isOther(received, verdict) ? this.#putAgain(received, verdict, options) : verdict;
  }

  async #begin(received: Received, options: CallOptions): Promise<ReplyVerdict> {
    const call = await openReceivedCall(this.config, received, options);
    const key = keyOf(received);
    // Whoever cannot be found again is not waited for.
    if (key === undefined || options.signal?.aborted) void call.abandon?.();
    else if (call.finish) this.#keep(key, call, received);
    return call.verdict;
  }

  #keep(key: string, call: ReceivedCall, { fields }: Received): void {
    const { session_id: sessionId, agent_id: agentId } = fields;
    void this.#open.take(key)?.call.abandon?.();
    this.#open.set(key, { call, sessionId, agentId });
  }

  /** An agent that ends has no call going on, and a session has no agent. */
  #abandonAll({ event, fields }: Received): void {
    for (const [key, { sessionId, agentId }] of this.#open) {
      if (sessionId !== fields['session_id']) continue;
      const isOver = event === HookEventName.SessionEnd || agentId === fields['agent_id'];
      if (isOver) void this.#open.take(key)?.call.abandon?.();
    }
  }

  #isOther({ theirEvent }: Received, { kind, input }: ReplyVerdict): boolean {
    const isAllowed = theirEvent === 'PermissionRequest' && kind === 'allow';
    return isAllowed && input !== undefined && this.config.registrations('tool').length > 0;
  }

  /** Arguments that middleware has not seen are put to it as well. */
  async #putAgain(
    received: Received,
    verdict: ReplyVerdict,
    options: CallOptions,
  ): Promise<ReplyVerdict> {
    const payload = { ...received.payload, toolInput: { ...verdict.input }, isAsked: undefined };
    const call = await openReceivedCall(this.config, { ...received, payload }, options);
    void call.abandon?.();
    const { kind, input = verdict.input } = call.verdict;
    // The question has been answered already, for other arguments.
    if (kind === 'ask') return { kind: 'block', reason: OTHERS_ASK };
    return kind === 'block' || kind === 'stop' ? call.verdict : { ...verdict, input };
  }
}

const OTHERS_ASK =
  'Middleware changed the arguments, and hooks want a person to be asked about them.';

const ENDS: ReadonlySet<string> = new Set(['Stop', 'SubagentStop', 'SessionEnd']);

function keyOf({ fields }: Received): string | undefined {
  const { session_id: session, tool_use_id: id } = fields;
  return typeof id === 'string' ? JSON.stringify([session, id]) : undefined;
}
