import { HookEventName, type CallSession } from '../protocol/types.js';

/** Whose async hooks they are. */
export interface AsyncSession extends CallSession {
  readonly sessionId: string;
}

/** What tells sessions, and their agents, from each other. */
interface SessionKeys {
  readonly session: string;
  readonly agent: string;
  /** The agents of which this one reads what is said late. */
  readonly read: readonly string[];
}

/** By its session, who asks a server, and which agent of the session it is: its id, else its kind. */
export function sessionKeysOf(whose: CallSession): SessionKeys {
  const { sessionId = '', asker = '', agent: kind, agentId } = whose;
  const keyOf = (...which: readonly string[]) => JSON.stringify([sessionId, asker, ...which]);
  const session = keyOf();
  if (isWithinSession(whose)) {
    const agent = keyOf('id', String(agentId));
    return { session, agent, read: [agent] };
  }
  const agent = kind && !hasOwnSession(whose) ? keyOf('kind', kind) : session;
  // Whoever speaks for the session as a whole does not know of what kind its main agent is.
  return { session, agent, read: [...new Set([agent, session])] };
}

/** Whether it is a sub-agent within the session of its parent. */
export function isWithinSession(session: CallSession): boolean {
  return Boolean(session.agentId) && !hasOwnSession(session);
}

function hasOwnSession({ sessionId, parentSessionId }: CallSession): boolean {
  return Boolean(parentSessionId) && parentSessionId !== sessionId;
}

/** Whose the async hooks of an event are. A sub-agent that ends reads nothing any more, so that its parent does. */
export function ownerOf<S extends CallSession>(
  event: HookEventName,
  session: S,
): Omit<CallSession, 'sessionId'> & Pick<S, 'sessionId'> {
  if (event !== HookEventName.SubagentStop) return session;
  const { parentSessionId, sessionId, asker } = session;
  return { ...(asker && { asker }), sessionId: parentSessionId || sessionId };
}

/** Whether something is of a session as a whole, or of one of its agents. */
export function isOfSession(own: AsyncSession, session: AsyncSession): boolean {
  if (isWithinSession(session)) return isSame(own, session);
  return sessionKeysOf(own).session === sessionKeysOf(session).session;
}

/** Whether two are the same agent. */
export function isSame(own: AsyncSession, other: AsyncSession): boolean {
  return sessionKeysOf(own).agent === sessionKeysOf(other).agent;
}

/** Whether an agent reads what hooks of another have said, which may be itself. */
export function isReadBy(own: AsyncSession, reader: AsyncSession): boolean {
  return sessionKeysOf(reader).read.includes(sessionKeysOf(own).agent);
}
