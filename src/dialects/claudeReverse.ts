import type { HookEventName, HookPayload } from '../protocol/types.js';
import { ToolErrorType } from '../tools/tools.js';
import { isRecord } from '../util/records.js';
import { recordOf } from './answers.js';
import { claude } from './claude.js';
import type { Fields } from './dialect.js';
import { CLAUDE_ALSO } from './eventNames.js';
import { contextOf, lostContext, reasonOf, stop, withSpecific } from './replyParts.js';
import { changedTheirArguments } from './reverseArguments.js';
import { textField } from './reversePayloads.js';
import type { Received, Reply, ReplyVerdict, ReverseDialect } from './reverseTypes.js';
import { toolOutputText } from './translate.js';

/** What Claude Code tells its hooks, and how it is answered. */
export const claudeReverse: ReverseDialect = {
  spoken: claude,
  alsoEvents: CLAUDE_ALSO,
  unknownEvents: new Set([
    'ConfigChange',
    'CwdChanged',
    'DirectoryAdded',
    'Elicitation',
    'ElicitationResult',
    'FileChanged',
    'InstructionsLoaded',
    'MessageDisplay',
    'PermissionDenied',
    'PostCompact',
    'PostModelSwitch',
    'PostToolBatch',
    'PreModelSwitch',
    'Setup',
    'StopFailure',
    'SubagentStart',
    'TaskCompleted',
    'TaskCreated',
    'TeammateIdle',
    'UserPromptExpansion',
    'WorktreeCreate',
    'WorktreeRemove',
  ]),
  // After a compaction, and in a copy, the session goes on.
  ourSubjects: { compact: 'resume', fork: 'resume' },
  toolName: (_fields, name) => name,
  toolResponse: (fields, tool) =>
    fields['hook_event_name'] === 'PostToolUseFailure'
      ? failureOf(fields, tool)
      : resultOf(fields, tool),
  writers: {
    PreToolUse: writePermission,
    PermissionRequest: writePermissionRequest,
    PostToolUse: writeResult,
    PostToolUseFailure: writeFailure,
    UserPromptSubmit: (verdict) => ({
      json: {
        ...refusal(verdict),
        ...withSpecific('UserPromptSubmit', { additionalContext: contextOf(verdict) }),
      },
    }),
    Stop: writeEnd,
    SubagentStop: writeEnd,
    PreCompact: (verdict) => ({ json: refusal(verdict), lost: lostContext(verdict) }),
    SessionStart: (verdict) => ({
      json: {
        ...stop(verdict),
        ...withSpecific('SessionStart', { additionalContext: contextOf(verdict) }),
      },
    }),
    SessionEnd: () => ({}),
    Notification: () => ({}),
  },
};

function resultOf(fields: Fields, tool: string): Record<string, unknown> {
  const given = fields['tool_response'];
  const text = toolOutputText(claude, tool, {}, given ?? '') ?? '';
  const { error: _error, ...theirs } = recordOf(given);
  const { stdout, stderr, interrupted, exitCode } = theirs;
  const isShell = tool === 'run_shell_command' && isRecord(given);
  // It says when a command has failed, which is another event.
  const code = typeof exitCode === 'number' ? exitCode : interrupted === true ? null : 0;
  return {
    ...theirs,
    llmContent: text,
    returnDisplay: text,
    metadata: isShell ? { stdout, stderr, exitCode: code } : undefined,
  };
}

function failureOf(fields: Fields, tool: string): Record<string, unknown> {
  const message = textField(fields, 'error') ?? 'The tool has failed';
  const [, code] = /^Exit code (\d+)/.exec(message) ?? [];
  const type = fields['is_interrupt'] === true ? ToolErrorType.Cancelled : ToolErrorType.Failed;
  return {
    llmContent: message,
    returnDisplay: message,
    error: { message, type },
    ...(tool === 'run_shell_command' && code !== undefined && { metadata: { exitCode: +code } }),
  };
}

function writePermission(verdict: ReplyVerdict, received: Received): Partial<Reply> {
  const { kind, reason } = verdict;
  const decision = kind === 'none' ? undefined : PERMISSIONS[kind];
  return {
    json: {
      ...stop(verdict),
      ...withSpecific('PreToolUse', {
        permissionDecision: decision,
        permissionDecisionReason: decision && decision !== 'allow' ? reasonOf(verdict) : reason,
        updatedInput: verdict.input && theirInput(received, verdict.input),
        additionalContext: contextOf(verdict),
      }),
    },
  };
}

const PERMISSIONS = { allow: 'allow', ask: 'ask', block: 'deny', stop: 'deny' } as const;

function writePermissionRequest(verdict: ReplyVerdict, received: Received): Partial<Reply> {
  const { kind, input } = verdict;
  const lost = lostContext(verdict);
  if (kind === 'stop') {
    return { json: { ...stop(verdict), ...denied(reasonOf(verdict), true) }, lost };
  }
  if (kind === 'block') return { json: denied(reasonOf(verdict)), lost };
  if (kind === 'allow') {
    const updatedInput = input && theirInput(received, input);
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

function writeResult(verdict: ReplyVerdict, received: Received): Partial<Reply> {
  const { output } = verdict;
  const updatedToolOutput = output && theirResult(received, output.text);
  const isLost = output !== undefined && updatedToolOutput === undefined;
  return {
    json: {
      ...(isLost ? cannotReplace() : refusal(verdict, { blocksOnStop: false })),
      ...withSpecific('PostToolUse', {
        additionalContext: contextOf(verdict),
        updatedToolOutput,
      }),
    },
    lost: isLost ? [CANNOT_REPLACE] : [],
  };
}

/** After a failure, the model reads context, and nothing else can be said. */
function writeFailure(verdict: ReplyVerdict): Partial<Reply> {
  const isLost = verdict.output !== undefined;
  const objection = verdict.kind === 'block' ? [reasonOf(verdict)] : [];
  const additionalContext = contextOf({
    ...verdict,
    context: [...objection, ...(verdict.context ?? [])],
  });
  return {
    json: {
      ...(isLost ? cannotReplace() : stop(verdict)),
      ...withSpecific('PostToolUseFailure', { additionalContext }),
    },
    lost: isLost ? [CANNOT_REPLACE] : [],
  };
}

/** What a hook wanted hidden must not be read, so that nothing but an end is left. */
function cannotReplace(): Record<string, unknown> {
  return { continue: false, stopReason: CANNOT_REPLACE };
}

const CANNOT_REPLACE =
  'A hook replaced the result of a tool, and Claude Code cannot replace the result of this one, so it was stopped.';

function writeEnd(verdict: ReplyVerdict): Partial<Reply> {
  const { kind } = verdict;
  if (kind !== 'block') return { json: stop(verdict), lost: lostContext(verdict) };
  const reason = [reasonOf(verdict), ...(verdict.context ?? [])].join('\n\n');
  return { json: { decision: 'block', reason } };
}

/** A block, or a stop, of an event with a `decision` of its own. */
function refusal(
  verdict: ReplyVerdict,
  { blocksOnStop = true }: { readonly blocksOnStop?: boolean } = {},
): Record<string, unknown> {
  const isBlock = verdict.kind === 'block' || (verdict.kind === 'stop' && blocksOnStop);
  return {
    ...stop(verdict),
    ...(isBlock && { decision: 'block', reason: reasonOf(verdict) }),
  };
}

function theirInput({ payload, fields, identity }: Received, input: Fields): object {
  const { toolName } = payload as HookPayload<HookEventName.BeforeTool>;
  const given = recordOf(fields['tool_input']);
  const cwd = identity.cwd ?? process.cwd();
  return changedTheirArguments(claude, toolName, given, input, cwd).all;
}

/** A text in the form of the tool's result: another form is ignored there, and the result is read as it was. */
function theirResult({ payload, fields }: Received, text: string): unknown {
  const { toolName } = payload as HookPayload<HookEventName.AfterTool>;
  const given = fields['tool_response'];
  const blocks = [{ type: 'text', text }];
  if (typeof given === 'string') return text;
  if (Array.isArray(given)) return blocks;
  const known = Object.hasOwn(RESULTS, toolName) ? RESULTS[toolName] : undefined;
  if (known) return known(text, recordOf(given), recordOf(fields['tool_input']));
  if (!toolName.startsWith('mcp__')) return undefined;
  return isRecord(given) && Array.isArray(given['content']) ? { content: blocks } : text;
}

type MakeResult = (text: string, given: Fields, input: Fields) => unknown;

/** Results of its tools that hold nothing but a text, by our names of the tools. */
const RESULTS: Readonly<Record<string, MakeResult>> = {
  // Bash gives one. What the result of PowerShell looks like is not known.
  run_shell_command: (stdout, { stdout: given, interrupted }) =>
    typeof given === 'string'
      ? { stdout, stderr: '', interrupted: interrupted === true, isImage: false }
      : undefined,
  read_file: (content, _given, { file_path: filePath }) => {
    const lines = content.split('\n').length;
    const file = { filePath, content, numLines: lines, startLine: 1, totalLines: lines };
    return { type: 'text', file };
  },
  search_file_content: (content) => ({
    mode: 'content',
    numFiles: 0,
    filenames: [],
    content,
    numLines: content.split('\n').length,
  }),
  glob: (text) => ({ durationMs: 0, numFiles: 1, filenames: text.split('\n'), truncated: false }),
  web_fetch: (result, { bytes, code, codeText, durationMs, url }) => ({
    bytes,
    code,
    codeText,
    result,
    durationMs,
    url,
  }),
};
