import type { Config } from '../config/config.js';
import type { HookObserver } from '../context.js';
import { readVerdict, type EventVerdict } from '../core/eventVerdict.js';
import type { ApprovalObserver } from '../protocol/approval.js';
import { isAsking, refusalOf } from '../approvals/question.js';
import type { ProcessedHookResult } from '../protocol/hookOutput.js';
import { events } from '../protocol/events.js';
import { fireHook } from '../hooks/fireHook.js';
import { hookIdentity } from '../protocol/identity.js';
import {
  HookEventName,
  type CallSession,
  type HookExecutionResult,
  type HookPayload,
} from '../protocol/types.js';
import { isRecord } from '../util/records.js';
import { describeHook, type AgentEvent, type HookRecord } from './agentEvents.js';
import { notesOf } from '../protocol/llmContent.js';

export class AgentHooks {
  readonly records: HookRecord[] = [];
  /** Names of the hooks that restricted the tools of the last request. */
  restrictors: readonly string[] = [];

  constructor(
    private readonly config: Config,
    private readonly tell: (event: AgentEvent) => void,
    /** Of a sub-agent: whose events these are. */
    private readonly session?: CallSession,
  ) {}

  /** Also called for events that others fire. */
  readonly observe: HookObserver = (event, aggregated) => {
    if (event === HookEventName.BeforeToolSelection) {
      this.restrictors = restrictorsAmong(aggregated.results);
    }
    for (const result of aggregated.results) {
      const record = describeHook(result);
      this.records.push(record);
      this.tell({ type: 'hook', ...record });
    }
  };

  /** Also for calls that others make. */
  readonly observeApproval: ApprovalObserver = (request, answer) => {
    this.tell({ type: 'approval', request, answer: answer ?? null });
  };

  /** @throws the reason of `signal`, when that aborted meanwhile */
  async fire<E extends HookEventName>(
    event: E,
    payload: HookPayload<E>,
    signal?: AbortSignal,
  ): Promise<EventVerdict> {
    const { observe: onHooks, session } = this;
    const fired = await fireHook(this.config, event, payload, { signal, onHooks, session });
    signal?.throwIfAborted();
    const verdict = readVerdict(event, fired);
    const reason = fired && (await this.#ask(event, payload, fired, signal));
    if (reason === undefined) return verdict;
    const hooks = fired?.aggregated.decidedBy;
    return { ...verdict, objection: { event, reason, ...(hooks && { hooks }) } };
  }

  /**
   * Waits for async hooks that may send an agent back to work that has finished.
   *
   * @returns what the model is to read then
   * @throws the reason of `signal`, when that aborted meanwhile
   */
  async untilWoken(signal?: AbortSignal): Promise<readonly string[]> {
    const woken = (await this.config.getHookSystem()?.untilWoken(signal, this.session)) ?? [];
    signal?.throwIfAborted();
    return woken.flatMap(notesOf);
  }

  /** Waits until no async hook is left, once the session has ended. */
  async end(): Promise<void> {
    await this.config.getHookSystem()?.endSession(this.session);
  }

  /** @returns why not, where a person was to be asked before the agent begins, and did not allow it */
  async #ask<E extends HookEventName>(
    event: E,
    payload: HookPayload<E>,
    { aggregated }: ProcessedHookResult,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    if (!events[event].canAsk || !isAsking(aggregated)) return undefined;
    const input = { ...payload };
    const subject = { input, originalInput: input };
    const answer = await this.config.askPerson(event, aggregated, subject, {
      signal,
      onApproval: this.observeApproval,
      session: this.session,
    });
    signal?.throwIfAborted();
    return answer.decision === 'allow' ? undefined : refusalOf(answer);
  }
}

/** Where one allows no tool at all, what the others allow does not count. */
function restrictorsAmong(results: readonly HookExecutionResult[]): string[] {
  const restricting = results.flatMap(({ hookConfig, output }) => {
    const wanted = output?.hookSpecificOutput?.['toolConfig'];
    if (!isRecord(wanted)) return [];
    const { mode, allowedFunctionNames: names } = wanted;
    return [{ name: hookIdentity(hookConfig), mode, names }];
  });
  const forbidding = restricting.filter(({ mode }) => mode === 'NONE');
  const listing = restricting.filter(({ names }) => Array.isArray(names));
  return (forbidding.length > 0 ? forbidding : listing).map(({ name }) => name);
}
