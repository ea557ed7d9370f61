import type { CallFacts } from '../protocol/events.js';
import { isBlocking } from '../protocol/hookOutput.js';
import { defaultHookTranslator, type LLMResponse } from '../protocol/hookTranslator.js';
import { ToolErrorType } from '../tools/tools.js';
import { isGiven, isRecord } from '../util/records.js';
import {
  readCommonFields,
  readDecision,
  readReplacement,
  recordOf,
  resultOfText,
  textOf,
  valueAt,
  withoutPlaces,
} from './answers.js';
import type { AnswerWords, DialectAnswer, Fields } from './dialect.js';
import type { ReplyVerdict } from '../protocol/received.js';

export const CONTEXT = 'hookSpecificOutput.additionalContext';
export const OUTPUT = 'hookSpecificOutput.updatedToolOutput';
export const PERMISSION: AnswerWords = {
  words: { allow: 'allow', ask: 'ask', block: 'deny', stop: 'deny' },
  decision: 'hookSpecificOutput.permissionDecision',
  reason: 'hookSpecificOutput.permissionDecisionReason',
  explainsAllow: true,
  input: 'hookSpecificOutput.updatedInput',
  context: CONTEXT,
};
/** After a tool, for agents that replace no result. */
export const FEEDBACK: AnswerWords = { words: { block: 'block' }, context: CONTEXT };
export const REQUEST: AnswerWords = {
  words: { allow: 'allow', block: 'deny', stop: 'deny' },
  decision: 'hookSpecificOutput.decision.behavior',
  reason: 'hookSpecificOutput.decision.message',
  input: 'hookSpecificOutput.decision.updatedInput',
  needsDecision: 'A hook changed the arguments, and nobody can be asked about them here.',
  end: 'hookSpecificOutput.decision.interrupt',
  asksItself: true,
};

export function readPermission(
  said: Fields,
  _tool?: string,
  { canAsk }: CallFacts = {},
): DialectAnswer {
  const isPutOff = recordOf(said['hookSpecificOutput'])['permissionDecision'] === 'defer';
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
  const isForMcp = tool.startsWith('mcp__');
  const isLost = !isForMcp && isGiven(valueAt(said, MCP_OUTPUT));
  const isOther = isForMcp && !isGiven(valueAt(said, OUTPUT));
  const answer = readReplacement(said, isOther ? MCP_OUTPUT : OUTPUT);
  return {
    ...answer,
    output: withoutPlaces(answer.output, [OUTPUT, MCP_OUTPUT]),
    ...(isLost && { remarks: [WRONG_OUTPUT] }),
  };
}

const MCP_OUTPUT = 'hookSpecificOutput.updatedMCPToolOutput';
const WRONG_OUTPUT =
  'answered "updatedMCPToolOutput" for a tool of no MCP server: use "updatedToolOutput"';

/** A denial may end the agent as well. A decision may also be a word alone, or that of the call. */
export function readPermissionRequest(said: Fields): DialectAnswer {
  const { decision } = recordOf(said['hookSpecificOutput']);
  if (!isGiven(decision)) return readDecision(said, ONLY_DECISION);
  const { behavior, message, interrupt, updatedPermissions } = recordOf(decision);
  const isWhole = isGiven(behavior);
  const answer = readDecision(said, isWhole ? REQUEST : { ...REQUEST, decision: REQUEST_FORM });
  const isEnd = behavior === 'deny' && interrupt === true && !isBlocking(said['decision']);
  const end = { continue: false, stopReason: message };
  return {
    ...answer,
    output: {
      ...withoutPlaces(answer.output, [REQUEST_FORM]),
      ...(isEnd && said['continue'] !== false && end),
    },
    remarks: updatedPermissions === undefined ? [] : [NO_RULES],
  };
}

const REQUEST_FORM = 'hookSpecificOutput.decision';
const ONLY_DECISION: AnswerWords = { decision: 'hookSpecificOutput.permissionDecision' };
const NO_RULES =
  'answered "updatedPermissions", which has no effect: there are no rules of permissions here';

/** Additional context makes the agent go on, as a block does. */
export function readEnd(said: Fields): DialectAnswer {
  const answer = readCommonFields(said);
  const { additionalContext, ...specific } = recordOf(said['hookSpecificOutput']);
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

/** What hooks changed of a request to the model, or of its answer, for a mod. */
export function modelChanges({ changes = {} }: ReplyVerdict): Fields {
  const { llm_request: request, llm_response: response } = changes;
  if (!isRecord(response)) return { 'hookSpecificOutput.llm_request': request };
  const { candidates } = response as Partial<LLMResponse>;
  const described = defaultHookTranslator.fromHookLLMResponse(response);
  const { text = '' } = defaultHookTranslator.toHookLLMResponse(described);
  const areCallsDropped = candidates?.length === 0;
  const isSaid = areCallsDropped || isGiven(response['text'] ?? candidates?.[0]?.content?.parts);
  return { 'hookSpecificOutput.llm_response': isSaid ? { text, areCallsDropped } : undefined };
}

/** In Claude Code, a command that ends with another exit code than 0 has failed. */
export function shellResponse({ llmContent, metadata, error }: Fields) {
  const { stdout = textOf(llmContent), stderr = '', exitCode } = isRecord(metadata) ? metadata : {};
  const hasFailed = error !== undefined || (typeof exitCode === 'number' && exitCode !== 0);
  return {
    stdout,
    stderr,
    interrupted: error !== undefined && exitCode === null,
    isImage: false,
    success: !hasFailed,
    ...(typeof exitCode === 'number' && { exitCode }),
  };
}

export function shellOutput({ stdout, stderr }: Fields): string | undefined {
  const texts = [stdout, stderr].filter((text) => typeof text === 'string');
  return texts.length > 0 ? texts.filter((text) => text !== '').join('\n') : undefined;
}

export function readResponse(response: Fields, input: Fields) {
  const { filePath, success } = fileResponse(response, input);
  const file = { filePath, content: textOf(response['llmContent']) };
  return { filePath, success, type: 'text', file };
}

export function readOutput({ file }: Fields): string | undefined {
  const content = isRecord(file) ? file['content'] : undefined;
  return typeof content === 'string' ? content : undefined;
}

export function fileResponse({ error }: Fields, { file_path: filePath }: Fields) {
  return { filePath, success: error === undefined };
}

export function failureInput({ tool_response, ...fields }: Fields) {
  const { error, metadata, stdout = '', stderr = '' } = recordOf(tool_response);
  const { message, type } = recordOf(error);
  const exited = `Exit code ${String(recordOf(metadata)['exitCode'])}\n${String(stdout)}${String(stderr)}`;
  return {
    ...fields,
    error: message ?? exited.trimEnd(),
    is_interrupt: type === ToolErrorType.Cancelled,
  };
}

export function resultOf(
  { tool_response: given }: Fields,
  tool: string,
  text: string,
): Record<string, unknown> {
  const { error: _error, ...theirs } = recordOf(given);
  const { stdout, stderr, interrupted, exitCode } = theirs;
  const isShell = tool === 'run_shell_command' && isRecord(given);
  // It says when a command has failed, which is another event.
  const code = typeof exitCode === 'number' ? exitCode : interrupted === true ? null : 0;
  return {
    ...theirs,
    ...resultOfText(text),
    metadata: isShell ? { stdout, stderr, exitCode: code } : undefined,
  };
}

export function failureOf(fields: Fields, tool: string): Record<string, unknown> {
  const message = textOf(fields['error']) || 'The tool has failed';
  const [, code] = /^Exit code (\d+)/.exec(message) ?? [];
  const type = fields['is_interrupt'] === true ? ToolErrorType.Cancelled : ToolErrorType.Failed;
  return {
    ...resultOfText(message),
    error: { message, type },
    ...(tool === 'run_shell_command' && code !== undefined && { metadata: { exitCode: +code } }),
  };
}

/** Bash gives one. What the result of PowerShell looks like is not known. */
export function shellReplacement(stdout: string, { stdout: given, interrupted }: Fields) {
  return typeof given === 'string'
    ? { stdout, stderr: '', interrupted: interrupted === true, isImage: false }
    : undefined;
}

export function fileReplacement(content: string, _given: Fields, { file_path: filePath }: Fields) {
  const lines = content.split('\n').length;
  const file = { filePath, content, numLines: lines, startLine: 1, totalLines: lines };
  return { type: 'text', file };
}
