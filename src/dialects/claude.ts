import { isBlocking } from '../hooks/hookOutput.js';
import { isRecord } from '../hooks/merge.js';
import { readCommonFields, type Dialect, type DialectAnswer } from './dialect.js';

/** The format of hooks for Claude Code. */
export const claude: Dialect = {
  agent: 'Claude Code',
  events: {
    BeforeTool: 'PreToolUse',
    AfterTool: 'PostToolUse',
    BeforeAgent: 'UserPromptSubmit',
    AfterAgent: 'Stop',
    PreCompress: 'PreCompact',
    SessionStart: 'SessionStart',
    SessionEnd: 'SessionEnd',
    Notification: 'Notification',
  },
  // MCP tools are called mcp__server__tool on both sides, and MultiEdit has no counterpart.
  tools: [
    { ours: 'run_shell_command', theirs: ['Bash'], response: shellResponse },
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
      response: fileResponse,
    },
    { ours: 'glob', theirs: ['Glob'], arguments: { dir_path: 'path' } },
    {
      ours: 'search_file_content',
      theirs: ['Grep'],
      arguments: { dir_path: 'path', include: 'glob' },
    },
    { ours: 'list_directory', theirs: ['LS'], arguments: { dir_path: 'path' }, paths: ['path'] },
    { ours: 'web_fetch', theirs: ['WebFetch'] },
    { ours: 'google_web_search', theirs: ['WebSearch'] },
    { ours: 'write_todos', theirs: ['TodoWrite'] },
    { ours: 'task', theirs: ['Task'] },
  ],
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
  environment: () => ({}),
  missingVariables: ['CLAUDE_PLUGIN_ROOT', 'CLAUDE_PLUGIN_DATA'],
  commonInput: ({ session_id, transcript_path, cwd }) => ({
    session_id,
    transcript_path,
    cwd,
    permission_mode: 'default',
  }),
  eventInput: {
    AfterAgent: ({ stop_hook_active, prompt_response }) => ({
      stop_hook_active,
      last_assistant_message: prompt_response,
    }),
    SessionEnd: ({ reason }) => ({ reason: claude.subjects[reason] ?? reason }),
    PreCompress: ({ trigger }) => ({ trigger, custom_instructions: '' }),
    Notification: ({ message, notification_type }) => ({
      message,
      notification_type: claude.subjects[notification_type] ?? notification_type,
    }),
  },
  plainText: { BeforeAgent: 'context', SessionStart: 'context', otherwise: 'nothing' },
  answers: { BeforeTool: readPermission, otherwise: readCommonFields },
};

function fileResponse({ error }: Fields, { file_path: filePath }: Fields) {
  return { filePath, success: error === undefined };
}

function shellResponse({ llmContent, error }: Fields) {
  const stdout = typeof llmContent === 'string' ? llmContent : '';
  return { stdout, stderr: '', interrupted: false, isImage: false, success: error === undefined };
}

/** The reason of a permission that is given is for the user's eyes, and would pass for that of a later block. */
function readPermission(said: Fields): DialectAnswer {
  const { output, forUser } = readCommonFields(said);
  const { decision: early, reason: earlyReason, hookSpecificOutput, ...common } = output;
  const {
    permissionDecision,
    permissionDecisionReason,
    updatedInput,
    hookEventName: _event,
    ...specific
  } = isRecord(hookSpecificOutput) ? hookSpecificOutput : {};
  const decision = isBlocking(early) ? early : (permissionDecision ?? early);
  const reason = isBlocking(early)
    ? (earlyReason ?? permissionDecisionReason)
    : (permissionDecisionReason ?? earlyReason);
  return {
    output: {
      ...common,
      ...(decision !== 'defer' && { decision }),
      ...((isBlocking(decision) || decision === 'ask') && { reason }),
      hookSpecificOutput: isRecord(hookSpecificOutput)
        ? { ...specific, tool_input: updatedInput }
        : hookSpecificOutput,
    },
    forUser,
    ...(decision === 'ask' && {
      remarks: ['answered "ask", and as nobody can be asked here, the tool runs'],
    }),
  };
}

type Fields = Readonly<Record<string, unknown>>;
