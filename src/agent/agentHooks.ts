import type { Config } from '../config/config.js';
import type { HookObserver } from '../context.js';
import { decideEvent, untilWoken } from '../core/decideEvent.js';
import type { EventVerdict } from '../core/eventVerdict.js';
import type { ApprovalObserver } from '../protocol/approval.js';
import { hookIdentity } from '../protocol/identity.js';
import {
  HookEventName,
  type CallSession,
  type HookExecutionResult,
  type HookPayload,
} from '../protocol/types.js';
import { isRecord } from '../util/records.js';
import { describeHook, type AgentEvent, type HookRecord } from './agentEvents.js';

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
  fire<E extends HookEventName>(
    event: E,
    payload: HookPayload<E>,
    signal?: AbortSignal,
  ): Promise<EventVerdict> {
    const { observe: onHooks, observeApproval: onApproval, session } = this;
    return decideEvent(this.config, event, payload, { signal, onHooks, onApproval, session });
  }

  /** @throws the reason of `signal`, when that aborted meanwhile */
  untilWoken(signal?: AbortSignal): Promise<readonly string[]> {
    return untilWoken(this.config, { signal, session: this.session });
  }

  /** Waits until no async hook is left, once the session has ended. */
  async end(): Promise<void> {
    await this.config.getHookSystem()?.endSession(this.session);
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
