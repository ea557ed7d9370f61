import type { Next } from '../src/compose.js';
import type { AnyHookContext } from '../src/context.js';
import type { HookEventName } from '../src/protocol/types.js';

/** What the gate asks: both answers are synchronous and cost no I/O. */
export interface Enablement {
  /** Whether hooks are switched on at all. */
  isEnabled(): boolean;
  /** Whether any hook that may run is registered for an event. */
  hasHooksFor(event: HookEventName): boolean;
}

/** First stage: with hooks off, or none for this event, the rest of the stack does not run. */
export function enablementGate(enablement: Enablement) {
  return async function enablementGate(ctx: AnyHookContext, next: Next): Promise<void> {
    if (!enablement.isEnabled() || !enablement.hasHooksFor(ctx.event)) return;
    await next();
  };
}
