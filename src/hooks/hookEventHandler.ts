import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import { aggregator, type Aggregator } from '../../middleware/aggregator.js';
import { enablementGate } from '../../middleware/enablementGate.js';
import { planContext, planner, type Planner } from '../../middleware/planner.js';
import { runner, type Runner } from '../../middleware/runner.js';
import { translator } from '../../middleware/translator.js';
import type { Config } from '../config/config.js';
import type { MessageBus } from '../confirmation-bus/types.js';
import {
  createHookContext,
  type AnyHookContext,
  type CallOptions,
  type HookContext,
} from '../context.js';
import { DebugLogger } from '../debugLogger.js';
import { notify } from '../notify.js';
import { buildStack, type Registration, type Stack } from '../stack.js';
import { buildFailureEnvelope, makeEmptySuccessResult, planOfGuards } from './envelopes.js';
import { HookPipelineError, type PipelineStage } from './errors.js';
import { recordEvent } from './eventRecord.js';
import { events, resolveOutput } from './events.js';
import type { HookRegistry } from './hookRegistry.js';
import type { HookSystem } from './hookSystem.js';
import { MediatedHooks } from './mediatedHooks.js';
import { processCommonHookOutputFields, type ProcessedHookResult } from './processedResult.js';
import {
  HookEventName,
  type AggregatedHookResult,
  type HookPayload,
  type NotificationType,
  type PreCompressTrigger,
  type SessionEndReason,
  type SessionStartSource,
} from './types.js';

/** How an event is fired: `signal` ends the hooks that are running, `onHooks` is told what they said. */
export type FireOptions = CallOptions;

/**
 * Fires an event through the hook stack of a `Config`: the one way from a tool or model call to its hooks.
 *
 * @returns `undefined`, synchronously, when there is nothing to do: hooks are off, or none matches. Only the very
 *   first event has to wait for the hooks to be read before that is known. Never rejects.
 */
export function fireHook<E extends HookEventName>(
  config: Config,
  event: E,
  payload: HookPayload<E>,
  options: FireOptions = {},
): Promise<ProcessedHookResult> | undefined {
  try {
    const system = config.getHookSystem();
    if (!system) return undefined;
    const isIdle = system.isInitialized() && !system.getEventHandler().hasWork(event, payload);
    return isIdle ? undefined : fireThroughStack(config, system, event, payload, options);
  } catch (error) {
    new DebugLogger('llxprt:core:hooks').warn(`${event}: the hooks cannot be reached`, { error });
    const plan = planOfGuards(config, event);
    const envelope = buildFailureEnvelope(error, 'planning', { event, plan });
    return Promise.resolve(processCommonHookOutputFields(envelope));
  }
}

/** Whether firing an event without a tool would do anything, as far as is known now. */
export function hasHooks(config: Config, event: HookEventName): boolean {
  try {
    const system = config.getHookSystem();
    if (!system) return false;
    return !system.isInitialized() || system.getEventHandler().hasWork(event);
  } catch {
    // Firing the event says what is wrong.
    return true;
  }
}

async function fireThroughStack<E extends HookEventName>(
  config: Config,
  system: HookSystem,
  event: E,
  payload: HookPayload<E>,
  { signal, onHooks }: FireOptions,
): Promise<ProcessedHookResult> {
  try {
    await system.initialize();
  } catch (error) {
    system.logger.warn(`${event}: the hooks could not be read and do not run`, { error });
    const meta = { event, plan: planOfGuards(config, event) };
    return processCommonHookOutputFields(buildFailureEnvelope(error, 'initialization', meta));
  }
  const aggregated = await system.getEventHandler().fire(event, payload, signal);
  if (aggregated.results.length > 0) notify(system.logger, onHooks, event, aggregated);
  return processCommonHookOutputFields(aggregated);
}

/** Fires events. Every method runs the same stack, never rejects, and fails open. */
export class HookEventHandler {
  #stack: Stack<'hook'> | undefined;
  readonly #mediated: MediatedHooks | undefined;

  constructor(
    private readonly config: Config,
    private readonly registry: HookRegistry,
    private readonly plans: Planner,
    private readonly hooks: Runner,
    private readonly outputs: Aggregator,
    messageBus?: MessageBus,
    private readonly logger = new DebugLogger('llxprt:core:hooks:events'),
  ) {
    this.#mediated =
      messageBus && new MediatedHooks(messageBus, this.#process.bind(this), this.logger);
  }

  /** Stops answering requests on the message bus; those in flight are still answered. Idempotent. */
  async dispose(): Promise<void> {
    await this.#mediated?.dispose();
  }

  /**
   * Fires an event and waits for its hooks.
   *
   * @returns what the hooks said together; empty when nothing ran; a failure envelope when the hook system itself
   *   failed
   */
  async fire<E extends HookEventName>(
    event: E,
    payload: HookPayload<E>,
    signal?: AbortSignal,
  ): Promise<AggregatedHookResult> {
    try {
      if (this.#isIdle(event, payload)) return makeEmptySuccessResult();
      return await this.#process(event, payload, signal);
    } catch (error) {
      this.logger.warn(`${event}: the operation goes on without its hooks`, { error });
      return buildFailureEnvelope(error, 'execution', { event });
    }
  }

  /** Whether there is nothing to do. What cannot be known is left to the stack, which says what is wrong. */
  #isIdle<E extends HookEventName>(event: E, payload: HookPayload<E>): boolean {
    try {
      return this.registry.isInitialized() && !this.hasWork(event, payload);
    } catch {
      return false;
    }
  }

  /** Whether firing the event would do anything. Synchronous; builds nothing but the plan, once. */
  hasWork<E extends HookEventName>(event: E, payload?: HookPayload<E>): boolean {
    if (!this.registry.isSettled()) return true;
    if (this.config.registrations('hook').some(standsOutsideOfPlanner)) return true;
    const context = payload && planContext({ event, payload });
    return this.plans.createExecutionPlan(event, context) !== null;
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

  /** Runs the stack; direct and mediated events meet here. Rejects with a `HookPipelineError`. */
  async #process<E extends HookEventName>(
    event: E,
    payload: HookPayload<E>,
    signal?: AbortSignal,
  ): Promise<AggregatedHookResult> {
    if (!this.registry.isSettled()) await this.#initialize(event);
    const ctx = createHookContext(event, payload, signal);
    try {
      // A context of one event is one of any event; TypeScript cannot see that through the generic.
      await this.#getStack().run(ctx as HookContext as AnyHookContext);
    } catch (error) {
      const plan = ctx.plan ?? planOfGuards(this.config, event);
      throw new HookPipelineError(error, stageReached(ctx), { event, plan });
    }
    const aggregated = resolve(ctx.aggregated ?? makeEmptySuccessResult(), ctx);
    if (!ctx.aggregated) return aggregated;
    try {
      for (const result of aggregated.results) this.registry.noteOutcome(result);
      recordEvent(event, aggregated, this.logger, this.config.getHookEnvironment());
    } catch {
      // A log that cannot be written must not undo what the hooks decided.
    }
    return aggregated;
  }

  async #initialize(event: HookEventName): Promise<void> {
    try {
      await this.registry.initialize();
    } catch (error) {
      const plan = planOfGuards(this.config, event);
      throw new HookPipelineError(error, 'initialization', { event, plan });
    }
  }

  #getStack(): Stack<'hook'> {
    this.#stack ??= buildStack(
      'hook',
      {
        enablementGate: enablementGate({
          isEnabled: () => this.config.getEnableHooks(),
          hasHooksFor: (event) => this.registry.hasHooksFor(event),
        }),
        planner: planner(this.plans),
        translator: translator(this.config),
        runner: runner(this.hooks),
        aggregator: aggregator(this.outputs),
      },
      this.config.registrations('hook'),
      this.logger,
    );
    return this.#stack;
  }
}

/** What was decided, as plain data. What a middleware decided is never taken back by what hooks say. */
function resolve(
  aggregated: AggregatedHookResult,
  { event, verdict }: HookContext,
): AggregatedHookResult {
  const { finalOutput, decidedBy, ...rest } = aggregated;
  const said = finalOutput && resolveOutput(event, finalOutput);
  const { Output } = events[event];
  if (verdict.kind === 'stop') {
    const stop = { continue: false, stopReason: verdict.reason };
    return { ...rest, finalOutput: new Output({ ...said, ...stop }) };
  }
  const by = decidedBy && { decidedBy };
  if (verdict.kind === 'allow') return { ...rest, ...by, finalOutput: said && new Output(said) };
  const block = { decision: 'deny' as const, reason: verdict.reason };
  // The hooks' stop counts more than the block.
  return {
    ...rest,
    ...(said?.continue === false && by),
    finalOutput: new Output({ ...said, ...block }),
  };
}

/** Each stage fills its own slot, so the first empty one tells which stage did not get to its end. */
function stageReached(ctx: HookContext): PipelineStage {
  if (!ctx.plan) return 'planning';
  if (!ctx.input) return 'translation';
  return ctx.results ? 'aggregation' : 'execution';
}

function standsOutsideOfPlanner({ before, after }: Registration<'hook'>): boolean {
  if (before) return before === 'enablementGate' || before === 'planner';
  return !after || after === 'enablementGate';
}
