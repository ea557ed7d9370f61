/** What hooks of other agents read of a tool call, and ours do not. */
export interface CallFacts {
  /** The model's id of the call. */
  readonly callId?: string;
  /** Milliseconds that the tool took. */
  readonly durationMs?: number;
}

/** JSON leaves it out, so that hooks in our own format read what they always have. */
const CALL_FACTS = Symbol('call facts');

/** The facts as a part of an input; nothing where none is known. */
export function withCallFacts({ callId, durationMs }: CallFacts): object {
  const isKnown = callId !== undefined || durationMs !== undefined;
  return isKnown ? { [CALL_FACTS]: { callId, durationMs } } : {};
}

/** The facts that an input has. */
export function callFactsOf(input: object): CallFacts {
  return (input as { [CALL_FACTS]?: CallFacts })[CALL_FACTS] ?? {};
}
