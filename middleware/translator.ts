import type { Next } from '../src/compose.js';
import type { AnyHookContext, HookContext } from '../src/context.js';
import { events } from '../src/protocol/events.js';
import type {
  CallSession,
  HookEventInput,
  HookEventName,
  HookInput,
  HookPayload,
} from '../src/protocol/types.js';

/** Where the fields that every script reads come from; usually the `Config`. */
export interface SessionFacts {
  getSessionId(): string;
  getWorkingDir(): string;
  getTranscriptPath?(): string | undefined;
}

/**
 * Third stage: the payload becomes the JSON object that scripts read. An event and its payload belong together, which
 * TypeScript cannot see through the union.
 */
export function translator(host: SessionFacts) {
  return async function translator(ctx: AnyHookContext, next: Next): Promise<void> {
    const { event, payload, session } = ctx as HookContext;
    ctx.input = (session ? inSession(ctx, host) : toHookInput(event, payload, host)) as never;
    await next();
  };
}

/** The fields of a call's session override those of the host. */
function inSession({ event, payload, session = {} }: HookContext, host: SessionFacts) {
  const { sessionId, cwd, transcriptPath } = session;
  const facts: SessionFacts = {
    getSessionId: () => sessionId ?? host.getSessionId(),
    getWorkingDir: () => cwd ?? host.getWorkingDir(),
    // The host's transcript belongs to another session.
    getTranscriptPath: () =>
      transcriptPath ?? (sessionId === undefined ? host.getTranscriptPath?.() : undefined),
  };
  return addAgent(toHookInput(event, payload, facts), session);
}

/** Adds what is known of the agent that makes a call. */
function addAgent(input: HookInput, session: CallSession): HookInput {
  const { agent, agentId, agentType, parentSessionId } = session;
  if (agent !== undefined) input.agent = agent;
  if (agentId !== undefined) input.agent_id = agentId;
  if (agentType !== undefined) input.agent_type = agentType;
  if (parentSessionId !== undefined) input.parent_session_id = parentSessionId;
  return input;
}

/** What a script reads for an event: the common fields first, then the event's own. */
export function toHookInput<E extends HookEventName>(
  event: E,
  payload: HookPayload<E>,
  session: SessionFacts,
): HookEventInput<E> {
  return {
    session_id: factOf(session, 'getSessionId') ?? '',
    cwd: session.getWorkingDir(),
    timestamp: new Date().toISOString(),
    hook_event_name: event,
    transcript_path: factOf(session, 'getTranscriptPath') ?? '',
    ...events[event].encode(payload),
  } satisfies HookInput as HookEventInput<E>;
}

/** What a method of the host returns; `undefined` where it throws. */
function factOf(
  session: SessionFacts,
  fact: 'getSessionId' | 'getTranscriptPath',
): string | undefined {
  try {
    return session[fact]?.();
  } catch {
    return undefined;
  }
}

/** The session's id; empty where the host cannot tell it. */
export function sessionIdOf(session: SessionFacts): string {
  return factOf(session, 'getSessionId') ?? '';
}

/** Where the transcript is; `undefined` where there is none, or the host cannot tell. */
export function transcriptPathOf(session: SessionFacts): string | undefined {
  return factOf(session, 'getTranscriptPath');
}
