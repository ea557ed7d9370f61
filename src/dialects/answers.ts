import { isRecord } from '../util/records.js';
import { isBlocking } from '../protocol/hookOutput.js';
import type { DialectAnswer, Fields } from './dialect.js';

export function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** There, `systemMessage` is for the user, and `suppressOutput` hides what the hook printed, which nobody sees here. */
export function readCommonFields({
  systemMessage,
  suppressOutput: _hidden,
  ...output
}: Fields): DialectAnswer {
  return { output, forUser: [systemMessage] };
}

/** For events that cannot be blocked: the user is told why a hook wants to. */
export function readObjection(said: Fields): DialectAnswer {
  const { output, forUser = [] } = readCommonFields(said);
  const { decision, reason, ...others } = output;
  return { output: others, forUser: isBlocking(decision) ? [...forUser, reason] : forUser };
}

export function specificFields({ hookSpecificOutput: specific }: Fields): Fields {
  return recordOf(specific);
}
