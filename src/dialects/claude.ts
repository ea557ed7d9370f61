import type { CallFacts } from '../protocol/events.js';
import { isBlocking } from '../protocol/hookOutput.js';
import { isRecord } from '../util/records.js';
import { HookEventName } from '../protocol/types.js';
import { ToolErrorType } from '../tools/tools.js';
import type { Dialect, DialectAnswer, Fields } from './dialect.js';
import { readCommonFields, readObjection, recordOf, specificFields } from './answers.js';
import { CLAUDE_EVENTS, CLAUDE_MOMENTS } from './eventNames.js';

/** The format of hooks for Claude Code. */
export const claude: Dialect = {
  agent: 'Claude Code',
  settings: {
    files: ['.claude/settings.json'],
    localFiles: ['.claude/settings.local.json'],
    directoryVariable: 'CLAUDE_CONFIG_DIR',
    pluginFiles: [
      'hooks/hooks.json',
      'plugins/*/hooks/hooks.json',
      '.claude/plugins/*/hooks/hooks.json',
    ],
    notRead: 'managed settings, and hooks of installed plugins, skills and agents',
  },
  events: CLAUDE_EVENTS,
  moments: {
    asked: {
      event: HookEventName.BeforeTool,
      name: CLAUDE_MOMENTS.asked.name,
      input: ({ tool_use_id: _id, ...fields }) => fields,
      answer: readPermissionRequest,
    },
    failed: {
      event: HookEventName.AfterTool,
      name: CLAUDE_MOMENTS.failed.name,
      input: failureInput,
      answer: readCommonFields,
    },
  },
  // MCP tools are called mcp__server__tool on both sides, and MultiEdit has no counterpart.
  tools: [
    {
      ours: 'run_shell_command',
      theirs: ['Bash', 'PowerShell'],
      response: shellResponse,
      output: shellOutput,
    },
    {
      ours: 'write_file',
      theirs: ['Write'],
      paths: ['file_path'],
      response: fileResponse,
    },
    { ours: 'replace', theirs: ['Edit'], paths: ['file_path'], response: fileResponse },
    {
      ours: 'read_file',
      theirs: ['Read'],
      arguments: { absolute_path: 'file_path' },
      paths: ['file_path'],
      response: readResponse,
      output: readOutput,
    },
    { ours: 'glob', theirs: ['Glob'], arguments: { dir_path: 'path' } },
    {
      ours: 'search_file_content',
      theirs: ['Grep'],
      arguments: { dir_path: 'path', include: 'glob' },
      own: ['include'],
    },
    { ours: 'list_directory', theirs: ['LS'], arguments: { dir_path: 'path' }, paths: ['path'] },
    { ours: 'web_fetch', theirs: ['WebFetch'] },
    { ours: 'google_web_search', theirs: ['WebSearch'] },
    { ours: 'write_todos', theirs: ['TodoWrite'] },
    { ours: 'task', theirs: ['Agent', 'Task'] },
  ],
  mcpSeparator: '__',
  replacesArguments: true,
  timeoutUnit: { name: 'seconds', ms: 1000 },
  defaultTimeoutMs: { BeforeAgent: 30_000, SessionEnd: 1500, otherwise: 600_000 },
  readMatcher: (matcher) =>
    /[^\w|, -]/.test(matcher)
      ? { expression: matcher, otherwise: 'nothing' }
      : { names: matcher.split(/[|,]/).map((name) => name.trim()) },
  subjects: {
    exit: 'other',
    ToolPermission: 'permission_prompt',
    Idle: 'idle_prompt',
    Other: 'other',
  },
  environment: ({ session_id }) => ({ CLAUDE_CODE_SESSION_ID: session_id }),
  missingVariables: ['CLAUDE_PLUGIN_ROOT', 'CLAUDE_PLUGIN_DATA'],
  commonInput: ({ session_id, transcript_path, cwd }) => ({
    session_id,
    transcript_path,
    cwd,
    permission_mode: 'default',
  }),
  eventInput: {
    BeforeTool: ({ tool_name, tool_input }, { callId }) => ({
      tool_name,
      tool_input,
      tool_use_id: callId,
    }),
    AfterTool: ({ tool_name, tool_input, tool_response }, { callId, durationMs }) => ({
      tool_name,
      tool_input,
      tool_response,
      tool_use_id: callId,
      duration_ms: durationMs,
    }),
    AfterAgent: ({ stop_hook_active, prompt_response }) => ({
      stop_hook_active,
      last_assistant_message: prompt_response,
      background_tasks: [],
      session_crons: [],
    }),
    SessionEnd: ({ reason }) => ({ reason: claude.subjects[reason] ?? reason }),
    PreCompress: ({ trigger }) => ({ trigger, custom_instructions: '' }),
    Notification: ({ message, notification_type }) => ({
      message,
      notification_type: claude.subjects[notification_type] ?? notification_type,
    }),
  },
  guardWord: 'block',
  hasHttpHooks: true,
  denies: (exitCode) => exitCode === 2,
  readsStderr: false,
  plainText: { BeforeAgent: 'context', SessionStart: 'context', otherwise: 'nothing' },
  answers: {
    BeforeTool: readPermission,
    AfterTool: readResult,
    AfterAgent: readEnd,
    PreCompress: readCompaction,
    SessionStart: readObjection,
    SessionEnd: readObjection,
    Notification: readObjection,
    otherwise: readCommonFields,
  },
  unsupported: {
    async: 'the event waits for the hook',
    asyncTimeout: 'the event waits for the hook',
    terminalSequence: 'nothing is sent to the terminal',
    'hookSpecificOutput.classifierContext': 'no classifier looks at calls',
    'hookSpecificOutput.initialUserMessage': 'the prompt stays the first message',
    'hookSpecificOutput.reloadSkills': 'there are no skills',
    'hookSpecificOutput.sessionTitle': 'sessions have no title',
    'hookSpecificOutput.suppressOriginalPrompt': null,
    'hookSpecificOutput.watchPaths': 'no files are watched',
  },
};

/** In Claude Code, a command that ends with another exit code than 0 has failed. */
function shellResponse({ llmContent, metadata, error }: Fields) {
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

function shellOutput({ stdout, stderr }: Fields): string | undefined {
  const texts = [stdout, stderr].filter((text) => typeof text === 'string');
  return texts.length > 0 ? texts.filter((text) => text !== '').join('\n') : undefined;
}

function readResponse(response: Fields, input: Fields) {
  const { filePath, success } = fileResponse(response, input);
  const file = { filePath, content: textOf(response['llmContent']) };
  return { filePath, success, type: 'text', file };
}

function readOutput({ file }: Fields): string | undefined {
  const content = isRecord(file) ? file['content'] : undefined;
  return typeof content === 'string' ? content : undefined;
}

function fileResponse({ error }: Fields, { file_path: filePath }: Fields) {
  return { filePath, success: error === undefined };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : '';
}

/** The reason of an "allow" is for the user only; kept, it would be taken for the reason of another hook's block. */
function readPermission(said: Fields, _tool?: string, { canAsk }: CallFacts = {}): DialectAnswer {
  const { output, forUser } = readCommonFields(said);
  const { decision: early, reason: earlyReason, hookSpecificOutput, ...common } = output;
  const {
    permissionDecision,
    permissionDecisionReason,
    updatedInput,
    hookEventName: _event,
    ...specific
  } = specificFields(output);
  if (permissionDecision === 'defer' && !isBlocking(early)) {
    return deferred(common, forUser, canAsk);
  }
  const isEarly = isBlocking(early) || (permissionDecision ?? undefined) === undefined;
  const decision = isEarly ? early : permissionDecision;
  const [first, second] = isBlocking(early)
    ? [earlyReason, permissionDecisionReason]
    : [permissionDecisionReason, earlyReason];
  const reason = first ?? second;
  return {
    output: {
      ...common,
      decision,
      ...((isBlocking(decision) || decision === 'ask') && { reason }),
      hookSpecificOutput: isRecord(hookSpecificOutput)
        ? { ...specific, tool_input: updatedInput }
        : hookSpecificOutput,
    },
    forUser,
    contextOfResult: specific['additionalContext'],
    theirNames: {
      ...(!isEarly && { decision: 'hookSpecificOutput.permissionDecision' }),
      ...(reason !== earlyReason && { reason: 'hookSpecificOutput.permissionDecisionReason' }),
      'hookSpecificOutput.tool_input': 'hookSpecificOutput.updatedInput',
    },
  };
}

/** In Claude Code, the agent ends and a person takes the call up later; the hook's other fields do not count. */
function deferred(
  { continue: goesOn, stopReason }: Fields,
  forUser: DialectAnswer['forUser'],
  canAsk = false,
): DialectAnswer {
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

function readResult(said: Fields, tool = ''): DialectAnswer {
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

function failureInput({ tool_response, ...fields }: Fields) {
  const { error, metadata, stdout = '', stderr = '' } = recordOf(tool_response);
  const { message, type } = recordOf(error);
  const exited = `Exit code ${String(recordOf(metadata)['exitCode'])}\n${String(stdout)}${String(stderr)}`;
  return {
    ...fields,
    error: message ?? exited.trimEnd(),
    is_interrupt: type === ToolErrorType.Cancelled,
  };
}

/** A denial may end the agent as well. An answer that is not a decision is refused by whoever reads the output. */
function readPermissionRequest(said: Fields): DialectAnswer {
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
function readEnd(said: Fields): DialectAnswer {
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
function readCompaction(said: Fields): DialectAnswer {
  const { output, forUser = [] } = readCommonFields(said);
  const prevents = isBlocking(said['decision']);
  return { output, prevents, forUser: prevents ? [...forUser, said['reason']] : forUser };
}
