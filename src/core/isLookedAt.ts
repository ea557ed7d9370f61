import type { Config } from '../config/config.js';
import { attempt } from '../hooks/envelopes.js';
import { engineOf, findPlan, type HookEngine } from '../hooks/fireHook.js';
import { HookEventName, type CallSession } from '../protocol/types.js';
import { isTraced } from '../trace/span.js';

/** What a call is to hooks. */
interface SeenCall {
  /** Where it is made. Default: the directory of the host. */
  readonly cwd?: string | undefined;
  readonly toolName: string;
  readonly toolInput: Record<string, unknown>;
}

/**
 * Whether a hook, a middleware, a trace or a log may want to see a call of a tool, as far as is known now. If not, a host
 * may run the tool as it would without hooks, which costs less than to have the call pass through the tool stack.
 * Synchronous.
 */
export function isLookedAt(config: Config, call: SeenCall): boolean {
  // Firing the event reports what is wrong.
  return attempt(() => {
    if (hasMiddleware(config, 'tool') || isTraced('tool') || isTraced('event')) return true;
    const engine = engineOf(config.getHookSystem());
    if (!engine) return false;
    const runsBefore = findPlan(engine, HookEventName.BeforeTool, call, call.cwd) !== null;
    return engine.logger.isDebugOn || runsBefore || runsAfter(engine, call);
  }, true);
}

/** Whether a hook or a middleware may want to change or withhold what a tool gives, as far as is known now. */
export function isResultLookedAt(config: Config, call: SeenCall): boolean {
  return attempt(() => {
    const engine = engineOf(config.getHookSystem());
    return (
      hasMiddleware(config, 'tool') ||
      (engine !== undefined && runsAfter(engine, call, isWaitedFor))
    );
  }, true);
}

/**
 * Whether a hook, a middleware, a trace or a log may want to see a call of the model, as far as is known now. If not, a
 * host may ask the model as it would without hooks: what it gives and how it fails is then what it was. Synchronous.
 *
 * @param session of the call, whose async hooks may have said something for the model
 */
export function isModelLookedAt(config: Config, session: CallSession | undefined): boolean {
  return attempt(() => {
    if (hasMiddleware(config, 'model') || isTraced('model') || isTraced('event')) return true;
    const engine = engineOf(config.getHookSystem());
    if (!engine) return false;
    if (config.getHookSystem()?.lookForLate(session).isThere) return true;
    return (
      engine.logger.isDebugOn || AROUND_MODEL.some((event) => findPlan(engine, event) !== null)
    );
  }, true);
}

/** The events of a call of the model. */
export const MODEL_EVENTS = [
  HookEventName.BeforeModel,
  HookEventName.AfterModel,
  HookEventName.BeforeToolSelection,
] as const;

/** Those that are fired where it is made, too. */
const AROUND_MODEL = [
  ...MODEL_EVENTS,
  HookEventName.ModelError,
  HookEventName.ToolBatchEnd,
] as const;

function hasMiddleware(config: Config, stack: 'tool' | 'model'): boolean {
  return [stack, 'hook' as const].some((each) => config.registrations(each).length > 0);
}

/** What a tool that failed gives: some hooks run then only. */
const FAILED = { error: { message: 'it failed' } };

function runsAfter(engine: HookEngine, call: SeenCall, counts = isThere): boolean {
  return [{}, FAILED].some((toolResponse) =>
    counts(findPlan(engine, HookEventName.AfterTool, { ...call, toolResponse }, call.cwd)),
  );
}

type Plan = ReturnType<typeof findPlan>;

function isThere(plan: Plan): boolean {
  return plan !== null;
}

/** Async hooks change nothing, as nobody waits for them. */
function isWaitedFor(plan: Plan): boolean {
  return plan?.hookConfigs.length !== 0 && isThere(plan);
}
