import type { CallSession } from '../protocol/hookInput.js';

/** Whose async hooks they are. */
export interface AsyncSession extends CallSession {
  readonly sessionId: string;
}

/** Whether something is of a session as a whole, or of one of its agents. */
export function isOfSession(own: AsyncSession, session: AsyncSession): boolean {
  if (own.sessionId !== session.sessionId) return false;
  const [whose, meant] = [agentOf(own), agentOf(session)];
  return meant === '' || whose === meant || whose.startsWith(`${meant}/`);
}

/** Whether two are the same agent. */
export function isSame(own: AsyncSession, other: AsyncSession): boolean {
  return own.sessionId === other.sessionId && agentOf(own) === agentOf(other);
}

/** Which of several agents: who asks a server, the kind, and which of that kind, as far as there are these. */
function agentOf({ agent, agentId }: AsyncSession): string {
  return [agent, agentId].filter(Boolean).join('/');
}
