import type { CallFacts } from '../protocol/events.js';
import { isBlocking } from '../protocol/hookOutput.js';
import { isRecord } from '../util/records.js';
import { readCommonFields, readDecision, recordOf, specificFields } from './answers.js';
import type { AnswerWords, Dialect, DialectAnswer, Fields } from './dialect.js';
import type { Received, Reply, ReplyVerdict } from './received.js';
import { lostContext, reasonOf, stop, withSpecific } from './replyParts.js';
import { receivedArguments } from './translate.js';

export const CONTEXT = 'hookSpecificOutput.additionalContext';
export const PERMISSION: AnswerWords = {
  words: { allow: 'allow', ask: 'ask', block: 'deny', stop: 'deny' },
  decision: 'hookSpecificOutput.permissionDecision',
  reason: 'hookSpecificOutput.permissionDecisionReason',
  input: 'hookSpecificOutput.updatedInput',
  context: CONTEXT,
};

export function readPermission(
  said: Fields,
  _tool?: string,
  { canAsk }: CallFacts = {},
): DialectAnswer {
  const isPutOff = specificFields(said)['permissionDecision'] === 'defer';
  return isPutOff && !isBlocking(said['decision'])
    ? putOff(said, canAsk)
    : readDecision(said, PERMISSION);
}

/** In Claude Code, the agent ends and a person takes the call up later; the hook's other fields do not count. */
function putOff(said: Fields, canAsk = false): DialectAnswer {
  const { output, forUser } = readCommonFields(said);
  const { continue: goesOn, stopReason } = output;
  const verdict = canAsk
    ? { decision: 'ask', reason: 'The hook puts this call off.' }
    : {
        decision: 'deny',
        reason:
          'A hook put this call off, and nobody can take it up later here, so it was not run.',
      };
  const instead = canAsk ? 'a person is asked now' : 'it is blocked';
  return {
    output: { continue: goesOn, stopReason, ...verdict },
    forUser,
    remarks: [`answered "defer", and as a call cannot be taken up later here, ${instead}`],
  };
}

export function readResult(said: Fields, tool = ''): DialectAnswer {
  const answer = readCommonFields(said);
  const { updatedToolOutput, updatedMCPToolOutput, ...specific } = specificFields(said);
  const isForMcp = tool.startsWith('mcp__');
  const value = updatedToolOutput ?? (isForMcp ? updatedMCPToolOutput : undefined);
  const isLost = !isForMcp && (updatedMCPToolOutput ?? undefined) !== undefined;
  if (value === undefined && !isLost) return answer;
  return {
    ...answer,
    output: { ...answer.output, hookSpecificOutput: specific },
    ...(value !== undefined && value !== null && { toolOutput: { value, isDenial: false } }),
    ...(isLost && {
      remarks: [
        'answered "updatedMCPToolOutput" for a tool of no MCP server: use "updatedToolOutput"',
      ],
    }),
  };
}

/** A denial may end the agent as well. An answer that is not a decision is refused by whoever reads the output. */
export function readPermissionRequest(said: Fields): DialectAnswer {
  const answer = readCommonFields(said);
  const { hookSpecificOutput: specific, ...common } = answer.output;
  if (isBlocking(common['decision'])) return { ...answer, output: common };
  if (specific !== undefined && !isRecord(specific)) return answer;
  const { decision, permissionDecision } = recordOf(specific);
  if (decision === undefined || decision === null) {
    const theirNames = { decision: 'hookSpecificOutput.permissionDecision' };
    const output = { decision: permissionDecision, ...common };
    return permissionDecision === undefined
      ? { ...answer, output: common }
      : { ...answer, output, theirNames };
  }
  const {
    behavior = decision,
    updatedInput,
    updatedPermissions,
    message,
    interrupt,
  } = recordOf(decision);
  const remarks = updatedPermissions === undefined ? [] : [NO_RULES];
  if (behavior === 'allow') {
    const change = { tool_input: updatedInput };
    const output = { ...common, decision: behavior, hookSpecificOutput: change };
    return { ...answer, output, remarks };
  }
  const place = isRecord(decision) ? 'decision.behavior' : 'decision';
  const theirNames = {
    decision: `hookSpecificOutput.${place}`,
    reason: 'hookSpecificOutput.decision.message',
  };
  const denial = { ...common, decision: behavior, reason: message };
  const isEnd = behavior === 'deny' && interrupt === true && common['continue'] !== false;
  const output = isEnd ? { ...denial, continue: false, stopReason: message } : denial;
  return { ...answer, output, theirNames, remarks };
}

const NO_RULES =
  'answered "updatedPermissions", which has no effect: there are no rules of permissions here';

/** Additional context makes the agent go on, as a block does. */
export function readEnd(said: Fields): DialectAnswer {
  const answer = readCommonFields(said);
  const { additionalContext, ...specific } = specificFields(said);
  const isContext = typeof additionalContext === 'string' && additionalContext.trim() !== '';
  if (!isContext || isBlocking(said['decision']) || said['continue'] === false) return answer;
  return {
    ...answer,
    output: {
      ...answer.output,
      decision: 'block',
      reason: additionalContext,
      hookSpecificOutput: specific,
    },
  };
}

/** The reason of a block is for the user. */
export function readCompaction(said: Fields): DialectAnswer {
  const { output, forUser = [] } = readCommonFields(said);
  const prevents = isBlocking(said['decision']);
  return { output, prevents, forUser: prevents ? [...forUser, said['reason']] : forUser };
}

export function writePermissionRequest(
  verdict: ReplyVerdict,
  received: Received,
  spoken: Dialect,
): Partial<Reply> {
  const { kind, input } = verdict;
  const lost = lostContext(verdict);
  if (kind === 'stop') {
    return { json: { ...stop(verdict), ...denied(reasonOf(verdict), true) }, lost };
  }
  if (kind === 'block') return { json: denied(reasonOf(verdict)), lost };
  if (kind === 'allow') {
    const updatedInput = input && receivedArguments(spoken, received, input).all;
    return { json: permission({ behavior: 'allow', ...(updatedInput && { updatedInput }) }), lost };
  }
  if (!input) return { lost };
  // The user would be asked about other arguments than those that hooks want.
  const message = 'A hook changed the arguments, and Claude Code cannot ask its user about them.';
  return { json: denied(message), lost: [...lost, message] };
}

function denied(message: string, interrupt = false): Record<string, unknown> {
  return permission({ behavior: 'deny', message, ...(interrupt && { interrupt }) });
}

function permission(decision: Fields): Record<string, unknown> {
  return withSpecific('PermissionRequest', { decision });
}
