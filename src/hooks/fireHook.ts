import {
  aggregateResults,
  aggregator,
  makeEmptySuccessResult,
  resolveResult,
  type Aggregator,
} from '../../middleware/aggregator.js';
import {
  enablementGate,
  planContext,
  planner,
  withConditions,
  type Planner,
} from '../../middleware/planner.js';
import { runner, type Runner } from '../../middleware/runner.js';
import { sessionIdOf, translator } from '../../middleware/translator.js';
import {
  createHookContext,
  type AnyHookContext,
  type CallOptions,
  type HookContext,
} from '../context.js';
import {
  processCommonHookOutputFields,
  type AggregatedHookResult,
  type ProcessedHookResult,
} from '../protocol/hookOutput.js';
import {
  HookEventName,
  type CallSession,
  type HookExecutionPlan,
  type HookExecutionResult,
  type HookPayload,
} from '../protocol/types.js';
import { failsClosed } from '../protocol/events.js';
import { reportUnreportedFailure } from '../run/hookFailure.js';
import { makeCall } from '../rules/call.js';
import { buildStack, type Registration, type Stack } from '../stack.js';
import { DebugLogger } from '../util/debugLogger.js';
import { notify } from '../util/notify.js';
import {
  attempt,
  buildFailureEnvelope,
  decidedSoFar,
  planOfGuards,
  resultsOf,
} from './envelopes.js';
import { HookPipelineError, type PipelineStage } from './errors.js';
import { recordEvent } from './eventRecord.js';
import type { HookHost } from './host.js';
import type { HookRegistry } from './hookRegistry.js';

/** A host that fires events. */
export interface FiringHost extends HookHost {
  /** A `HookSystem`; `undefined` while hooks are off. */
  getHookSystem(): object | undefined;
}

/** What the stages of the hook stack are made of. */
export interface HookStages {
  readonly plans: Planner;
  readonly hooks: Runner;
  readonly outputs: Aggregator;
}

interface OpenEngine {
  readonly stack: Stack<'hook'>;
  /** Whether custom middleware sees events for which no hook runs. */
  readonly isWatched: boolean;
  /** Whether nobody but our own stages writes results, so that they need no second look. */
  readonly isOwn: boolean;
}

/** What events are fired through: the hooks of one host, and the stack that runs them. */
export class HookEngine {
  #opened: OpenEngine | undefined;

  constructor(
    readonly host: HookHost,
    readonly registry: HookRegistry,
    readonly stages: HookStages,
    /** One that never throws. */
    readonly logger: DebugLogger,
    /** Reads the hooks, at the first event. */
    readonly initialize: () => Promise<void> = () => registry.initialize(),
    /** Whether anybody reads what is logged of events. */
    readonly details = logger.details,
  ) {}

  /** Composes the stack at the first event. */
  open(): OpenEngine {
    return (this.#opened ??= this.#open());
  }

  #open(): OpenEngine {
    const { host, registry, stages, logger } = this;
    const registrations = host.registrations('hook');
    const gate = {
      isEnabled: host.getEnableHooks.bind(host),
      hasHooksFor: registry.hasHooksFor.bind(registry),
    };
    const isWatched = registrations.some(standsOutsideOfPlanner);
    const inOrder = {
      enablementGate: enablementGate(gate),
      planner: planner(stages.plans, !isWatched),
      translator: translator(host),
      runner: runner(stages.hooks),
      aggregator: aggregator(stages.outputs),
    };
    return {
      stack: buildStack('hook', inOrder, registrations, logger),
      isWatched,
      isOwn: registrations.length === 0 && stages.outputs.aggregateResults === aggregateResults,
    };
  }
}

const { SessionEnd } = HookEventName;

const engines = new WeakMap<object, HookEngine>();

/** Has the events of a system fired through an engine, which whoever holds the system cannot reach. */
export function setEngine(system: object, engine: HookEngine): void {
  engines.set(system, engine);
}

/** @throws TypeError for what is no hook system of ours */
export function engineOf<S extends object | undefined>(system: S) {
  return (system && (engines.get(system) ?? refuseSystem())) as EngineOf<S>;
}

type EngineOf<S> = S extends object ? HookEngine : undefined;

/** A hook system without an engine would run no guard. */
function refuseSystem(): never {
  throw new TypeError(
    'getHookSystem() gave no hook system of this copy of hookstack: let all parts of the host import the same',
  );
}

function standsOutsideOfPlanner({ before, after }: Registration<'hook'>): boolean {
  if (before) return before === 'enablementGate' || before === 'planner';
  return !after || after === 'enablementGate';
}

/**
 * Fires an event through the hook stack of its host: the one way from a tool or model call to its hooks.
 *
 * @returns `undefined`, synchronously, when there is nothing to do: hooks are off, or none matches. Only the very
 *   first event has to wait for the hooks to be read before that is known. Never rejects.
 */
export function fireHook<E extends HookEventName>(
  host: FiringHost,
  event: E,
  payload: HookPayload<E>,
  options: CallOptions = {},
): Promise<ProcessedHookResult> | undefined {
  return findWork(host, event, payload, options.session)?.fire(options);
}

/** What there is to do for an event. */
export interface FoundWork {
  /** Whether nothing is started and nobody waited for, so that it ends before any timer. */
  readonly isInstant: boolean;
  /** To be called at once, with the session for which it was found. Never rejects. */
  fire(options: CallOptions): Promise<ProcessedHookResult>;
}

/** Finds what there is to do for an event, and leaves it out where that is nothing. */
export function findWork<E extends HookEventName>(
  host: FiringHost,
  event: E,
  payload: HookPayload<E>,
  session: CallSession | undefined,
): FoundWork | undefined {
  try {
    const engine = engineOf(host.getHookSystem());
    if (!engine) return undefined;
    const plan = findPlan(engine, event, payload, session?.cwd);
    if (plan !== null) {
      return {
        isInstant: plan?.isInstant === true && engine.open().isOwn,
        fire: (options) =>
          fireAndNotify(engine, createHookContext(event, payload, options, plan), options),
      };
    }
    skip(engine, event, session);
    return undefined;
  } catch (error) {
    const fail = () => processCommonHookOutputFields(failBeforeStack(host, event, error));
    return { isInstant: true, fire: () => Promise.resolve(fail()) };
  }
}

/** Where a session ends, those of all of its agents do; nobody reads what they would say. */
function endAsyncHooks({ host, stages }: HookEngine, session: CallSession | undefined): void {
  const { sessionId = sessionIdOf(host), asker } = session ?? {};
  void stages.hooks.endSession?.({ sessionId, ...(asker && { asker }) });
}

/** What comes of an event that cannot even be planned. */
function failBeforeStack(
  host: HookHost,
  event: HookEventName,
  error: unknown,
): AggregatedHookResult {
  const logger = DebugLogger.safeOf(host);
  const plan = planOfGuards(host, event);
  const failure = toEnvelope(new HookPipelineError(error, 'planning', { event, plan }), logger);
  recordEvent(event, failure, logger.extend('events'), {});
  return failure;
}

async function fireAndNotify<E extends HookEventName>(
  engine: HookEngine,
  ctx: HookContext<E>,
  { onHooks }: CallOptions,
): Promise<ProcessedHookResult> {
  const aggregated = await processEvent(engine, ctx);
  if (onHooks && aggregated.results.length > 0) {
    notify(engine.logger, onHooks, ctx.event, aggregated);
  }
  return processCommonHookOutputFields(aggregated);
}

/**
 * What an event is to run: its plan, or `null` where there is nothing to do. `undefined` where only the stack can tell:
 * the hooks have not been read, or a middleware sees whatever is fired. Synchronous.
 *
 * @param payload of an event with a tool
 * @param cwd what its hooks read as such. Default: that of the host
 */
export function findPlan<E extends HookEventName>(
  engine: HookEngine,
  event: E,
  payload?: HookPayload<E>,
  cwd?: string,
): HookExecutionPlan | null | undefined {
  if (engine.registry.isWatched) engine.registry.look();
  return planAsKnown(engine, event, payload, cwd);
}

/** The same, without another look at what the hooks are written in. */
function planAsKnown<E extends HookEventName>(
  engine: HookEngine,
  event: E,
  payload: HookPayload<E> | undefined,
  cwd: string | undefined,
): HookExecutionPlan | null | undefined {
  const { host, registry, stages } = engine;
  const { isSettled, eventsWithMoments } = registry.known;
  if (!isSettled) return undefined;
  const hasMoments = eventsWithMoments.has(event) || (payload && 'isAsked' in payload);
  const context = payload && planContext({ event, payload }, hasMoments);
  // A second pass is there for the hooks that decide then, and without them there is none.
  const { isWatched, isOwn } = engine.open();
  if (isWatched && context?.moment !== 'asked') return undefined;
  const plan = stages.plans.createExecutionPlan(event, context);
  if (!plan?.isConditional || context?.toolName === undefined) return plan;
  const project = host.getWorkingDir();
  const { toolInput } = payload as object as { toolInput: Record<string, unknown> };
  return withConditions(plan, makeCall(context.toolName, toolInput, project, cwd), isOwn);
}

/** Leaves out an event for which there is nothing to do, which is in the log. */
export function skip(
  engine: HookEngine,
  event: HookEventName,
  session: CallSession | undefined,
): AggregatedHookResult {
  if (event === SessionEnd) endAsyncHooks(engine, session);
  const nothing = makeEmptySuccessResult();
  record(engine, event, nothing);
  return nothing;
}

/**
 * Whether an event has to be fired, as far as is known now. Where that cannot be told, firing it says what is wrong.
 *
 * @param payload of an event with a tool
 * @param cwd what its hooks would read as such. Default: that of the host
 */
export function hasHooks<E extends HookEventName>(
  host: FiringHost,
  event: E,
  payload?: HookPayload<E>,
  cwd?: string,
): boolean {
  return attempt(() => {
    const engine = engineOf(host.getHookSystem());
    return engine !== undefined && findPlan(engine, event, payload, cwd) !== null;
  }, true);
}

/**
 * Leaves out an event that would be fired now, where there is nothing to do for it.
 *
 * @returns whether it is left out
 */
export function skipIdle<E extends HookEventName>(
  host: FiringHost,
  event: E,
  payload?: HookPayload<E>,
  session?: CallSession,
): boolean {
  if (hasHooks(host, event, payload, session?.cwd)) return false;
  const engine = engineOf(host.getHookSystem());
  if (engine) skip(engine, event, session);
  return true;
}

/** Whether a hook or a middleware may want to read an event, whatever its matcher says, as far as is known now. */
export function mayBeRead(host: FiringHost, event: HookEventName): boolean {
  try {
    const engine = engineOf(host.getHookSystem());
    if (engine?.registry.isWatched) engine.registry.look();
    if (!engine?.registry.known.isSettled) return engine !== undefined;
    return engine.open().isWatched || engine.registry.known.events.has(event);
  } catch {
    return true;
  }
}

/** Whether a guard of an event is configured, whatever its matcher says, as far as is known now. */
export function hasGuards(host: FiringHost, event: HookEventName): boolean {
  return attempt(() => {
    const registry = engineOf(host.getHookSystem())?.registry;
    if (registry?.isSettled() === false) return planOfGuards(host, event) !== undefined;
    const hooks = registry?.getHooksForEvent(event) ?? [];
    return hooks.some(({ config }) => failsClosed(config, event));
  }, true);
}

/** Whether somebody decides which sub-agents may start who is never to be passed by. */
export function asksOfHelpers(host: FiringHost): boolean {
  const isPolicy = () => host.registrations('hook').some(({ policy }) => policy);
  return hasGuards(host, HookEventName.SubagentStart) || isPolicy();
}

/**
 * The one place where an event is initialized and runs; direct and mediated events meet here. A context of one event is
 * one of any event, which TypeScript cannot see through the generic.
 *
 * @param onFault what is made of a fault of the hook system itself. Default: a result, with a warning
 * @returns what the hooks said together. Rejects only with what `onFault` throws
 */
export async function processEvent<E extends HookEventName>(
  engine: HookEngine,
  ctx: HookContext<E>,
  onFault = toEnvelope,
): Promise<AggregatedHookResult> {
  let stage: PipelineStage | undefined = 'initialization';
  try {
    if (ctx.event === SessionEnd) endAsyncHooks(engine, ctx.session);
    if (!engine.registry.known.isSettled) {
      await engine.initialize();
      stage = undefined;
      const plan = planAsKnown(engine, ctx.event, ctx.payload, ctx.session?.cwd);
      if (plan === null) return skip(engine, ctx.event, ctx.session);
      if (plan) ctx.plan = plan;
    }
    stage = undefined;
    const { stack, isOwn } = engine.open();
    await stack.run(ctx as HookContext as AnyHookContext);
    const aggregated = (isOwn && ctx.aggregated) || resolveResult(ctx);
    record(engine, ctx.event, aggregated);
    return aggregated;
  } catch (error) {
    return onFault(toFault(engine, ctx, error, stage), engine.logger);
  }
}

function toFault(
  engine: HookEngine,
  ctx: HookContext,
  error: unknown,
  stage = stageReached(ctx),
): HookPipelineError {
  const { event } = ctx;
  const plan = ctx.plan ?? planOfGuards(engine.host, event);
  const fault = new HookPipelineError(error, stage, { event, plan, decided: decidedSoFar(ctx) });
  const results = [...resultsOf(ctx)];
  record(engine, event, { ...makeEmptySuccessResult(), success: false, errors: [fault], results });
  return fault;
}

/** Each stage fills its own slot, so the first empty one tells which stage did not get to its end. */
function stageReached({ plan, input, results }: HookContext): PipelineStage {
  if (!plan) return 'planning';
  if (!input) return 'translation';
  return results ? 'aggregation' : 'execution';
}

/** Counts failures, and writes the log. A broken result of a host's own runner must not undo what the hooks decided. */
function record(engine: HookEngine, event: HookEventName, aggregated: AggregatedHookResult): void {
  const { host, logger, details } = engine;
  try {
    for (const result of aggregated.results) {
      const isCounted = result.hookConfig.maxConsecutiveFailures !== undefined;
      if (isCounted || !result.success || result.error) noteOutcome(engine, result);
    }
    if (details.enabled) recordEvent(event, aggregated, logger, host.getHookEnvironment());
  } catch {
    // What the hooks decided counts all the same.
  }
}

/** Counts a failure, and warns of it. */
export function noteOutcome(
  { host, registry, logger }: HookEngine,
  result: HookExecutionResult,
): void {
  registry.noteOutcome(result);
  reportUnreportedFailure(result, { logger, environment: host.getHookEnvironment() });
}

/** The result of an event that failed, with the one warning that says what comes of it. */
function toEnvelope(fault: HookPipelineError, logger: DebugLogger): AggregatedHookResult {
  const failure = buildFailureEnvelope(fault, fault.stage);
  logger.warn(`${fault.message}; ${consequenceOf(fault, failure)}`, { error: fault });
  return failure;
}

function consequenceOf({ meta }: HookPipelineError, { finalOutput }: AggregatedHookResult): string {
  if (meta.decided) return 'what was decided before stands';
  return finalOutput ? 'the operation is blocked' : 'the operation goes on without its hooks';
}
