import type { Next } from '../src/compose.js';
import type { HookContext, AnyHookContext } from '../src/context.js';
import { events } from '../src/protocol/events.js';
import { sessionIdOf, transcriptPathOf, type SessionFacts } from '../src/hooks/sessionFacts.js';
import type {
  HookEventInput,
  HookEventName,
  HookInput,
  HookPayload,
} from '../src/protocol/types.js';

/** Third stage: the payload becomes the JSON object that scripts read. */
export function translator(session: SessionFacts) {
  return async function translator(ctx: AnyHookContext, next: Next): Promise<void> {
    translate(ctx as HookContext, session);
    await next();
  };
}

function translate<E extends HookEventName>(ctx: HookContext<E>, session: SessionFacts): void {
  ctx.input = toHookInput(ctx.event, ctx.payload, session);
}

/** What a script reads for an event: the common fields first, then the event's own. */
export function toHookInput<E extends HookEventName>(
  event: E,
  payload: HookPayload<E>,
  session: SessionFacts,
): HookEventInput<E> {
  const common: HookInput = {
    session_id: sessionIdOf(session),
    cwd: session.getWorkingDir(),
    timestamp: new Date().toISOString(),
    hook_event_name: event,
    transcript_path: transcriptPathOf(session) ?? '',
  };
  return { ...common, ...events[event].encode(payload) } as HookEventInput<E>;
}
