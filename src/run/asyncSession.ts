import type { HookInput } from '../protocol/types.js';

/** Whose async hooks they are. */
export interface AsyncSession {
  readonly sessionId: string;
  /** Which of several agents, or who asks a server, and for which of them. */
  readonly agent?: string | undefined;
}

/** Whose event it is. */
export function sessionOf({ session_id: sessionId, agent }: HookInput): AsyncSession {
  return { sessionId, agent };
}

/** Whether something is of a session as a whole, or of one of its agents. */
export function isOfSession(own: AsyncSession, { sessionId, agent }: AsyncSession): boolean {
  if (own.sessionId !== sessionId) return false;
  return agent === undefined || own.agent === agent || own.agent?.startsWith(`${agent}/`) === true;
}
