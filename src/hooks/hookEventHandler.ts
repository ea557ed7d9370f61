import type { AggregatedHookResult } from '../protocol/hookOutput.js';
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
import { DebugLogger } from '../util/debugLogger.js';
import { notify } from '../util/notify.js';
import { buildStack, type Registration, type Stack } from '../stack.js';
import {
  attempt,
  buildFailureEnvelope,
  decidedSoFar,
  makeEmptySuccessResult,
  planOfGuards,
  resolveResult,
  resultsOf,
} from './envelopes.js';
import { HookPipelineError, type PipelineStage } from './errors.js';
import { recordEvent } from './eventRecord.js';
import { reportUntoldFailure } from '../run/hookFailure.js';
import type { HookRegistry } from './hookRegistry.js';
import type { HookSystem } from './hookSystem.js';
import { MediatedHooks } from './mediatedHooks.js';
import {
  processCommonHookOutputFields,
  type ProcessedHookResult,
} from '../protocol/processedResult.js';
import {
  HookEventName,
  type HookPayload,
  type NotificationType,
  type PreCompressTrigger,
  type SessionEndReason,
  type SessionStartSource,
} from '../protocol/types.js';

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
    const isIdle = system.isInitialized() && system.getEventHandler().isIdle(event, payload);
    return isIdle ? undefined : fireThroughStack(config, system, event, payload, options);
  } catch (error) {
    const fallback = new DebugLogger('llxprt:core:hooks');
    const logger = attempt(() => DebugLogger.safe(config.getDebugLogger()), fallback);
    const failure = failBeforeStack(config, event, error, 'planning', logger);
    return Promise.resolve(processCommonHookOutputFields(failure));
  }
}

/** Whether an event without a tool has to be fired, as far as is known now. If not, that is in the log. */
export function hasHooks(config: Config, event: HookEventName): boolean {
  try {
    const system = config.getHookSystem();
    if (!system) return false;
    return !system.isInitialized() || !system.getEventHandler().isIdle(event);
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
    const failure = failBeforeStack(config, event, error, 'initialization', system.logger);
    return processCommonHookOutputFields(failure);
  }
  const aggregated = await system.getEventHandler().fire(event, payload, signal);
  if (aggregated.results.length > 0) notify(system.logger, onHooks, event, aggregated);
  return processCommonHookOutputFields(aggregated);
}

/** What comes of an event whose hooks could not be read or found. */
function failBeforeStack(
  config: Config,
  event: HookEventName,
  error: unknown,
  stage: PipelineStage,
  logger: DebugLogger,
): AggregatedHookResult {
  const plan = planOfGuards(config, event);
  const failure = tellFault(new HookPipelineError(error, stage, { event, plan }), logger);
  recordEvent(event, failure, logger.extend('events'), {});
  return failure;
}

/** The result of an event that failed, with the one warning that says what comes of it. */
function tellFault(fault: HookPipelineError, logger: DebugLogger): AggregatedHookResult {
  const failure = buildFailureEnvelope(fault, fault.stage);
  logger.warn(`${fault.message}; ${consequenceOf(fault, failure)}`, { error: fault });
  return failure;
}

function consequenceOf({ meta }: HookPipelineError, { finalOutput }: AggregatedHookResult): string {
  if (meta.decided) return 'what was decided before stands';
  return finalOutput ? 'the operation is blocked' : 'the operation goes on without its hooks';
}

/** Fires events. Every method runs the same stack, never rejects, and fails open. */
export class HookEventHandler {
  #stack: Stack<'hook'> | undefined;
  readonly #mediated: MediatedHooks | undefined;
  readonly #logger: DebugLogger;

  constructor(
    private readonly config: Config,
    private readonly registry: HookRegistry,
    private readonly plans: Planner,
    private readonly hooks: Runner,
    private readonly outputs: Aggregator,
    messageBus?: MessageBus,
    logger = new DebugLogger('llxprt:core:hooks:events'),
  ) {
    this.#logger = DebugLogger.safe(logger);
    this.#mediated =
      messageBus && new MediatedHooks(messageBus, this.#answer.bind(this), this.#logger);
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
      // What cannot be known is left to the stack, which says what is wrong.
      if (attempt(() => this.isIdle(event, payload), false)) return makeEmptySuccessResult();
      return await this.#process(event, payload, signal);
    } catch (error) {
      const isKnown = error instanceof HookPipelineError;
      const fault = isKnown ? error : new HookPipelineError(error, 'execution', { event });
      return tellFault(fault, this.#logger);
    }
  }

  /** Whether there is nothing to do for an event that is fired now. If so, that is in the log. Synchronous. */
  isIdle<E extends HookEventName>(event: E, payload?: HookPayload<E>): boolean {
    if (!this.registry.isInitialized() || this.hasWork(event, payload)) return false;
    if (this.#logger.isDebugOn) this.#record(event, makeEmptySuccessResult());
    return true;
  }

  /** Whether firing the event would do anything. Synchronous; builds nothing but the plan, once. */
  hasWork<E extends HookEventName>(event: E, payload?: HookPayload<E>): boolean {
    if (!this.registry.isSettled()) return true;
    const context = payload && planContext({ event, payload });
    const isSeen = this.config.registrations('hook').some(standsOutsideOfPlanner);
    // A second pass is there for the hooks that decide then, and without them there is none.
    if (isSeen && context?.moment !== 'asked') return true;
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

  /** What a request over the bus gets. Whoever asks waits for an answer, also while hooks are off. */
  async #answer<E extends HookEventName>(
    event: E,
    payload: HookPayload<E>,
  ): Promise<AggregatedHookResult> {
    return this.config.getEnableHooks() ? this.#process(event, payload) : makeEmptySuccessResult();
  }

  /** Runs the stack; direct and mediated events meet here. Rejects with a `HookPipelineError`. */
  async #process<E extends HookEventName>(
    event: E,
    payload: HookPayload<E>,
    signal?: AbortSignal,
  ): Promise<AggregatedHookResult> {
    const ctx = createHookContext(event, payload, signal);
    let stage: PipelineStage | undefined = 'initialization';
    try {
      if (!this.registry.isSettled()) await this.registry.initialize();
      stage = undefined;
      // A context of one event is one of any event; TypeScript cannot see that through the generic.
      await this.#getStack().run(ctx as HookContext as AnyHookContext);
      const aggregated = resolveResult(ctx);
      this.#record(event, aggregated);
      return aggregated;
    } catch (error) {
      const plan = ctx.plan ?? planOfGuards(this.config, event);
      const meta = { event, plan, decided: decidedSoFar(ctx) };
      const fault = new HookPipelineError(error, stage ?? stageReached(ctx), meta);
      this.#record(event, {
        ...makeEmptySuccessResult(),
        success: false,
        errors: [fault],
        results: [...resultsOf(ctx)],
      });
      throw fault;
    }
  }

  /** Counts failures, and writes the log. Nothing that runners of a host gave may undo what the hooks decided. */
  #record(event: HookEventName, aggregated: AggregatedHookResult): void {
    attempt(() => {
      const environment = this.config.getHookEnvironment();
      for (const result of aggregated.results) {
        this.registry.noteOutcome(result);
        reportUntoldFailure(result, { logger: this.#logger, environment });
      }
      recordEvent(event, aggregated, this.#logger, environment);
    }, undefined);
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
      this.#logger,
    );
    return this.#stack;
  }
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
