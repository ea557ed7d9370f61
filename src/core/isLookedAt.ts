import type { Config } from '../config/config.js';
import { engineOf, hasWork, type HookEngine } from '../hooks/fireHook.js';
import { HookEventName } from '../protocol/types.js';
import { isTraced } from '../trace/span.js';

/** What a call is to hooks. */
interface SeenCall {
  readonly toolName: string;
  readonly toolInput: Record<string, unknown>;
}

/**
 * Whether a hook, a middleware, a trace or a log may want to see a call of a tool, as far as is known now. If not, a host
 * may run the tool as it would without hooks, which costs less than to have the call pass through the tool stack.
 * Synchronous.
 */
export function isLookedAt(config: Config, call: SeenCall): boolean {
  return couldBe(() => {
    if (hasMiddleware(config) || isTraced('tool') || isTraced('event')) return true;
    const engine = engineOf(config.getHookSystem());
    if (!engine) return false;
    return engine.logger.isDebugOn || runsBefore(engine, call) || runsAfter(engine, call);
  });
}

/** Whether a hook or a middleware may want to change or withhold what a tool gives, as far as is known now. */
export function isResultLookedAt(config: Config, call: SeenCall): boolean {
  return couldBe(() => {
    const engine = engineOf(config.getHookSystem());
    return hasMiddleware(config) || (engine !== undefined && runsAfter(engine, call));
  });
}

function couldBe(finding: () => boolean): boolean {
  try {
    return finding();
  } catch {
    // Whoever fires the event says what is wrong.
    return true;
  }
}

function hasMiddleware(config: Config): boolean {
  const stacks = ['tool', 'hook'] as const;
  return stacks.some((stack) => config.registrations(stack).length > 0);
}

/** What a tool that failed gives: some hooks run then only. */
const FAILED = { error: { message: 'it failed' } };

function runsBefore(engine: HookEngine, payload: SeenCall): boolean {
  return hasWork(engine, { event: HookEventName.BeforeTool, payload });
}

function runsAfter(engine: HookEngine, call: SeenCall): boolean {
  const event = HookEventName.AfterTool;
  return [{}, FAILED].some((toolResponse) =>
    hasWork(engine, { event, payload: { ...call, toolResponse } }),
  );
}
