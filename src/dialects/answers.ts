import { isRecord } from '../util/records.js';
import { isBlocking } from '../protocol/hookOutput.js';
import type { DialectAnswer, Fields } from './dialect.js';

/** A value as an object of fields; without any where it is none. */
export function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** The remark on an `ask`. */
export const NOBODY_TO_ASK =
  'answered "ask", and as nobody can be asked here, the tool runs unless another hook objects';

/**
 * Reads the fields that other agents agree on: what is said to the user, and what `suppressOutput` hides. That is what a
 * hook printed, and nothing that the operation has to do with.
 */
export function readCommonFields({
  systemMessage,
  suppressOutput: _hidden,
  ...output
}: Fields): DialectAnswer {
  return { output, forUser: [systemMessage] };
}

/** Reads an answer to an event that cannot be blocked: why a hook wants to block it is for the user. */
export function readObjection(said: Fields): DialectAnswer {
  const { output, forUser = [] } = readCommonFields(said);
  const { decision, reason, ...others } = output;
  return { output: others, forUser: isBlocking(decision) ? [...forUser, reason] : forUser };
}

/** What an answer says of the event in particular. */
export function specificFields({ hookSpecificOutput: specific }: Fields): Fields {
  return recordOf(specific);
}
