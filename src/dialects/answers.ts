import { isRecord } from '../util/records.js';
import { isBlocking } from '../protocol/hookOutput.js';
import type { AnswerWords, DialectAnswer, Fields } from './dialect.js';

export function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function textField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
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

/** How places begin that are not at the top of an answer. */
export const SPECIFIC = 'hookSpecificOutput.';

/**
 * For events whose decision has a place of its own. One in `decision` counts beside it where it blocks, else where it is
 * the only one. The reason of an "allow" is for the user; kept, it would be taken for the reason of another hook's block.
 */
export function readDecision(said: Fields, words: AnswerWords): DialectAnswer {
  const { decision: at = '', reason: reasonAt = '', input: inputAt = '', context = '' } = words;
  const { output, forUser } = readCommonFields(said);
  const { decision: early, reason: earlyReason, hookSpecificOutput: specific, ...common } = output;
  const isEarly = isBlocking(early) || (valueAt(output, at) ?? undefined) === undefined;
  const decision = isEarly ? early : valueAt(output, at);
  const reasons = [valueAt(output, reasonAt), earlyReason];
  const reason = isBlocking(early) ? (reasons[1] ?? reasons[0]) : (reasons[0] ?? reasons[1]);
  const input = valueAt(output, inputAt);
  const read = [at, reasonAt, inputAt, `${SPECIFIC}hookEventName`];
  return {
    output: {
      ...without(read, common),
      decision,
      ...((isBlocking(decision) || decision === 'ask') && { reason }),
      hookSpecificOutput:
        isRecord(specific) || input !== undefined
          ? { ...without(read, recordOf(specific), SPECIFIC), tool_input: input }
          : specific,
    },
    forUser,
    contextOfResult: valueAt(output, context),
    theirNames: {
      ...(!isEarly && { decision: at }),
      ...(reason !== earlyReason && { reason: reasonAt }),
      'hookSpecificOutput.tool_input': inputAt,
    },
  };
}

function valueAt(output: Fields, place: string): unknown {
  const isSpecific = place.startsWith(SPECIFIC);
  return isSpecific ? specificFields(output)[place.slice(SPECIFIC.length)] : output[place];
}

function without(places: readonly string[], fields: Fields, before = ''): Fields {
  const kept = Object.entries(fields).filter(([name]) => !places.includes(before + name));
  return Object.fromEntries(kept);
}
