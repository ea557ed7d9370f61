import type { Config } from '../../config/config.js';
import { hasWork, type HookEngine } from '../../hooks/fireHook.js';
import { HookEventName } from '../../protocol/types.js';
import { isTraced } from '../../trace/span.js';
import type { Id } from './rpc.js';

/** What a call is to hooks. */
interface SeenCall {
  readonly toolName: string;
  readonly toolInput: Record<string, unknown>;
}

/** Calls that nobody looks at: their lines pass like those of any other request. */
export class PlainCalls {
  readonly #open = new Set<Id>();
  #tellSettled: (() => void) | undefined;

  add(id: Id): void {
    this.#open.add(id);
  }

  end(id: Id): void {
    if (this.#open.delete(id) && this.#open.size === 0) this.#tellSettled?.();
  }

  /** Waits until none is on its way. To be asked once, when no more will come. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#tellSettled = resolve;
      if (this.#open.size === 0) resolve();
    });
  }
}

/** Whether a hook, a middleware, a trace or a log may want to see a call of a tool, as far as is known now. Synchronous. */
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
