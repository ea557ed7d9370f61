/** The identity of every turn. */
export const SESSION = { sessionId: 'conformance-session', agent: 'conformance-agent' } as const;
