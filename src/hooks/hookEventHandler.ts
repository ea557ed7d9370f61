import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import { makeEmptySuccessResult, type Aggregator } from '../../middleware/aggregator.js';
import type { Planner } from '../../middleware/planner.js';
import type { Runner } from '../../middleware/runner.js';
import type { MessageBus } from '../confirmation-bus/types.js';
import { createHookContext } from '../context.js';
import type { AggregatedHookResult } from '../protocol/hookOutput.js';
import {
  HookEventName,
  type CallSession,
  type HookPayload,
  type NotificationType,
  type PreCompressTrigger,
  type SessionEndReason,
  type SessionStartSource,
} from '../protocol/types.js';
import { DebugLogger } from '../util/debugLogger.js';
import { attempt } from './envelopes.js';
import type { HookPipelineError } from './errors.js';
import { findPlan, HookEngine, processEvent, setEngine, skip } from './fireHook.js';
import type { HookHost } from './host.js';
import type { HookRegistry } from './hookRegistry.js';
import { MediatedHooks } from './mediatedHooks.js';

/** Fires events for hosts that do it themselves. Every method runs the same stack, never rejects, and fails open. */
export class HookEventHandler {
  /** What the events of this handler, and all others of its host, are fired through. */
  readonly #engine: HookEngine;
  readonly #mediated: MediatedHooks | undefined;

  /** @param initialize reads the hooks at the first event. Default: the registry's own */
  constructor(
    host: HookHost,
    registry: HookRegistry,
    plans: Planner,
    hooks: Runner,
    outputs: Aggregator,
    messageBus?: MessageBus,
    logger = new DebugLogger('llxprt:core:hooks:events'),
    initialize?: () => Promise<void>,
  ) {
    const safe = DebugLogger.safe(logger);
    this.#engine = new HookEngine(host, registry, { plans, hooks, outputs }, safe, initialize);
    setEngine(this, this.#engine);
    this.#mediated = messageBus && new MediatedHooks(messageBus, this.#answer.bind(this), safe);
  }

  /** Stops answering requests on the message bus; those in flight are still answered. Idempotent. */
  async dispose(): Promise<void> {
    await this.#mediated?.dispose();
  }

  /**
   * Fires an event and waits for its hooks.
   *
   * @param session for whom it is, such as a sub-agent. Default: that of the host
   * @returns what the hooks said together; empty when nothing ran; a failure envelope when the hook system itself
   *   failed
   */
  async fire<E extends HookEventName>(
    event: E,
    payload: HookPayload<E>,
    signal?: AbortSignal,
    session?: CallSession,
  ): Promise<AggregatedHookResult> {
    // What cannot be known is left to the stack, which says what is wrong.
    const plan = attempt(() => findPlan(this.#engine, event, payload, session?.cwd), undefined);
    if (plan === null) return skip(this.#engine, event, session);
    return processEvent(this.#engine, createHookContext(event, payload, { signal, session }, plan));
  }

  /** Whether there is nothing to do for an event that is fired now. Synchronous. */
  isIdle<E extends HookEventName>(event: E, payload?: HookPayload<E>): boolean {
    return !this.hasWork(event, payload);
  }

  /** Whether firing the event would do anything. Synchronous; builds nothing but the plan, once. */
  hasWork<E extends HookEventName>(event: E, payload?: HookPayload<E>): boolean {
    return findPlan(this.#engine, event, payload) !== null;
  }

  fireBeforeToolEvent(toolName: string, toolInput: Record<string, unknown>) {
    return this.fire(HookEventName.BeforeTool, { toolName, toolInput });
  }

  /** @param toolResponse the tool's result: `llmContent`, `returnDisplay`, `metadata`, `error` */
  fireAfterToolEvent(
    toolName: string,
    toolInput: Record<string, unknown>,
    toolResponse: Record<string, unknown>,
  ) {
    return this.fire(HookEventName.AfterTool, { toolName, toolInput, toolResponse });
  }

  fireBeforeModelEvent(llmRequest: GenerateContentParameters) {
    return this.fire(HookEventName.BeforeModel, { llmRequest });
  }

  /** @param llmResponse the complete response, not a chunk of it */
  fireAfterModelEvent(llmRequest: GenerateContentParameters, llmResponse: GenerateContentResponse) {
    return this.fire(HookEventName.AfterModel, { llmRequest, llmResponse });
  }

  fireBeforeToolSelectionEvent(llmRequest: GenerateContentParameters) {
    return this.fire(HookEventName.BeforeToolSelection, { llmRequest });
  }

  fireBeforeAgentEvent(prompt: string) {
    return this.fire(HookEventName.BeforeAgent, { prompt });
  }

  /** @param stopHookActive whether an AfterAgent hook asked for this turn by blocking the one before */
  fireAfterAgentEvent(prompt: string, promptResponse: string, stopHookActive = false) {
    return this.fire(HookEventName.AfterAgent, { prompt, promptResponse, stopHookActive });
  }

  fireSessionStartEvent(context: { source: SessionStartSource }) {
    return this.fire(HookEventName.SessionStart, context);
  }

  fireSessionEndEvent(context: { reason: SessionEndReason }) {
    return this.fire(HookEventName.SessionEnd, context);
  }

  firePreCompressEvent(context: { trigger: PreCompressTrigger }) {
    return this.fire(HookEventName.PreCompress, context);
  }

  fireNotificationEvent(
    notificationType: NotificationType,
    message: string,
    details: Record<string, unknown> = {},
  ) {
    return this.fire(HookEventName.Notification, { notificationType, message, details });
  }

  /** Before a sub-agent begins; a block means that it does not. */
  fireSubagentStartEvent(agent: HookPayload<HookEventName.SubagentStart>) {
    return this.fire(HookEventName.SubagentStart, agent);
  }

  /** When a sub-agent has given its final answer; a block sends it back to work. */
  fireSubagentStopEvent(agent: HookPayload<HookEventName.SubagentStop>) {
    return this.fire(HookEventName.SubagentStop, agent);
  }

  firePostCompressEvent(context: { trigger: PreCompressTrigger; summary?: string }) {
    return this.fire(HookEventName.PostCompress, { summary: '', ...context });
  }

  /** When a model call has failed; whether it is made again is `finalOutput.hookSpecificOutput.retry`. */
  fireModelErrorEvent(failure: HookPayload<HookEventName.ModelError>) {
    return this.fire(HookEventName.ModelError, failure);
  }

  /** Once, when all tool calls of one answer of the model have come to their end. */
  fireToolBatchEndEvent(toolCalls: HookPayload<HookEventName.ToolBatchEnd>['toolCalls']) {
    return this.fire(HookEventName.ToolBatchEnd, { toolCalls });
  }

  /** What a request over the bus gets. Whoever asks waits for an answer, also while hooks are off. */
  async #answer<E extends HookEventName>(
    event: E,
    payload: HookPayload<E>,
  ): Promise<AggregatedHookResult> {
    const { host, registry } = this.#engine;
    if (registry.isWatched) registry.look();
    if (!host.getEnableHooks() && !host.hasChanged?.()) return makeEmptySuccessResult();
    return processEvent(this.#engine, createHookContext(event, payload), refuse);
  }
}

function refuse(fault: HookPipelineError): never {
  throw fault;
}
