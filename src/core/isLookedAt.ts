import type { Config } from '../config/config.js';
import { hasWork, type HookEngine } from '../hooks/fireHook.js';
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
  try {
    const stacks = ['tool', 'hook'] as const;
    if (stacks.some((stack) => config.registrations(stack).length > 0)) return true;
    if (isTraced('tool') || isTraced('event')) return true;
    const engine = config.getHookSystem()?.engine;
    return engine !== undefined && (engine.logger.isDebugOn || runsHooks(engine, call));
  } catch {
    // Whoever fires the event says what is wrong.
    return true;
  }
}

/** What a tool that failed gives: some hooks run then only. */
const FAILED = { error: { message: 'it failed' } };

function runsHooks(engine: HookEngine, { toolName, toolInput }: SeenCall): boolean {
  const { BeforeTool, AfterTool } = HookEventName;
  return (
    hasWork(engine, { event: BeforeTool, payload: { toolName, toolInput } }) ||
    hasWork(engine, { event: AfterTool, payload: { toolName, toolInput, toolResponse: {} } }) ||
    hasWork(engine, { event: AfterTool, payload: { toolName, toolInput, toolResponse: FAILED } })
  );
}
