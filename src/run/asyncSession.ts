import type { CallSession } from '../protocol/hookInput.js';

/** Whose async hooks they are. */
export interface AsyncSession {
  readonly sessionId: string;
  /** Which of several agents: who asks a server, the kind, and which of that kind, as far as there are these. */
  readonly agent?: string | undefined;
}

/** Whose event it is. Sub-agents of one kind are several. */
export function sessionOf(sessionId: string, { agent, agentId }: CallSession = {}): AsyncSession {
  return { sessionId, agent: [agent, agentId].filter(Boolean).join('/') || undefined };
}

/** Whether something is of a session as a whole, or of one of its agents. */
export function isOfSession(own: AsyncSession, { sessionId, agent }: AsyncSession): boolean {
  if (own.sessionId !== sessionId) return false;
  return agent === undefined || own.agent === agent || own.agent?.startsWith(`${agent}/`) === true;
}
