import { HookEventName } from '../protocol/types.js';
import { placed, readObjection, namesIn } from './answers.js';
import { faultFields, faultOf, readBatch, readNothing, theirCalls } from './claudeMoments.js';
import {
  CONTEXT,
  OUTPUT,
  PERMISSION,
  REQUEST,
  modelChanges,
  readCompaction,
  readEnd,
  readPermission,
  readPermissionRequest,
  readResult,
  failureInput,
  failureOf,
  fileReplacement,
  fileResponse,
  readOutput,
  readResponse,
  resultOf,
  shellOutput,
  shellReplacement,
  shellResponse,
} from './claudeForms.js';
import type { Dialect } from './dialect.js';

const { BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeAgent, AfterAgent } = HookEventName;
const { PreCompress, SessionStart, SessionEnd, Notification } = HookEventName;
const { SubagentStart, SubagentStop, PostCompress, ModelError, ToolBatchEnd } = HookEventName;

const CALL = ['tool_name', 'tool_input'] as const;
const BLOCK = { block: 'block', stop: 'block' } as const;
const HELPER = ['agent_id', 'agent_type'] as const;
/** The end of the agent, or of one of its helpers. */
const END = {
  fields: ['stop_hook_active', ['prompt_response', 'last_assistant_message']],
  constants: { background_tasks: [], session_crons: [] },
  read: readEnd,
  answer: { words: { block: 'block' }, contextWith: ['block'] },
} as const;

const FAILURE = {
  event: AfterTool,
  moment: 'failed',
  fields: [...CALL, 'tool_response', 'tool_use_id', 'duration_ms'],
  toInput: failureInput,
  toResponse: failureOf,
  answer: { blockIsContext: true, context: CONTEXT },
} as const;

/** The format of hooks for Claude Code. */
export const claude: Dialect = {
  agent: 'Claude Code',
  settings: {
    files: ['.claude/settings.json'],
    localFiles: ['.claude/settings.local.json'],
    directoryVariable: { name: 'CLAUDE_CONFIG_DIR', file: 'settings.json' },
    pluginFiles: [
      'hooks/hooks.json',
      'plugins/*/hooks/hooks.json',
      '.claude/plugins/*/hooks/hooks.json',
    ],
    notRead: 'managed settings, and hooks of installed plugins, skills and agents',
  },
  projectVariable: 'CLAUDE_PROJECT_DIR',
  events: [
    {
      event: BeforeTool,
      name: 'PreToolUse',
      fields: [...CALL, 'tool_use_id'],
      read: readPermission,
      answer: PERMISSION,
    },
    {
      event: BeforeTool,
      moment: 'asked',
      name: 'PermissionRequest',
      fields: CALL,
      read: readPermissionRequest,
      answer: REQUEST,
    },
    {
      event: AfterTool,
      name: 'PostToolUse',
      fields: [...CALL, 'tool_response', 'tool_use_id', 'duration_ms'],
      toResponse: resultOf,
      read: readResult,
      answer: { words: { block: 'block' }, context: CONTEXT, output: OUTPUT },
    },
    { ...FAILURE, name: 'PostToolUseFailure' },
    { event: BeforeAgent, name: 'UserPromptSubmit', answer: { words: BLOCK, context: CONTEXT } },
    { ...END, event: AfterAgent, name: 'Stop' },
    {
      event: SubagentStart,
      name: 'SubagentStart',
      fields: HELPER,
      read: readObjection,
      answer: { context: CONTEXT },
    },
    {
      ...END,
      event: SubagentStop,
      name: 'SubagentStop',
      fields: [...END.fields, ...HELPER],
    },
    {
      event: PreCompress,
      name: 'PreCompact',
      fields: ['trigger'],
      constants: { custom_instructions: '' },
      // What is printed is told to whoever sums up.
      isSilent: true,
      read: readCompaction,
      answer: { words: BLOCK },
    },
    {
      event: PostCompress,
      name: 'PostCompact',
      fields: ['trigger', ['summary', 'compact_summary']],
      read: readObjection,
      isSilent: true,
    },
    {
      event: SessionStart,
      name: 'SessionStart',
      read: readObjection,
      answer: { context: CONTEXT },
    },
    { event: SessionEnd, name: 'SessionEnd', fields: ['reason'], read: readObjection },
    {
      event: Notification,
      name: 'Notification',
      fields: ['message', 'notification_type'],
      read: readObjection,
    },
    {
      event: ModelError,
      name: 'StopFailure',
      fields: ['error'],
      toInput: faultFields,
      toOurs: faultOf,
      read: readNothing,
    },
    {
      event: ToolBatchEnd,
      name: 'PostToolBatch',
      fields: ['tool_calls'],
      toInput: theirCalls,
      // A block ends the agent there, and here the model reads its reason.
      read: readBatch,
      answer: { blockIsContext: true, context: CONTEXT },
    },
  ],
  sentOnly: [
    {
      ...FAILURE,
      name: 'ToolFailure',
      answer: { ...FAILURE.answer, replaced: (text) => placed([[OUTPUT, text]], 'ToolFailure') },
    },
    { event: BeforeModel, name: 'ModelRequest', answer: { words: BLOCK, more: modelChanges } },
    { event: AfterModel, name: 'ModelAnswer', answer: { words: BLOCK, more: modelChanges } },
  ],
  otherEvents: namesIn(
    'ConfigChange CwdChanged DirectoryAdded Elicitation ElicitationResult FileChanged ' +
      'InstructionsLoaded MessageDisplay PermissionDenied PostModelSwitch ' +
      'PreModelSwitch Setup TaskCompleted TaskCreated TeammateIdle UserPromptExpansion ' +
      'WorktreeCreate WorktreeRemove',
  ),
  common: ['session_id', 'transcript_path', 'cwd', 'hook_event_name', 'agent_id', 'agent_type'],
  constants: { permission_mode: 'default' },
  // MCP tools are called mcp__server__tool on both sides.
  tools: [
    {
      ours: 'run_shell_command',
      theirs: ['Bash', 'PowerShell'],
      response: shellResponse,
      output: shellOutput,
      replacement: shellReplacement,
    },
    { ours: 'write_file', theirs: ['Write'], paths: ['file_path'], response: fileResponse },
    { ours: 'replace', theirs: ['Edit'], paths: ['file_path'], response: fileResponse },
    {
      ours: 'read_file',
      theirs: ['Read'],
      hostArguments: { absolute_path: 'file_path' },
      paths: ['file_path'],
      response: readResponse,
      output: readOutput,
      replacement: fileReplacement,
    },
    {
      ours: 'glob',
      theirs: ['Glob'],
      hostArguments: { dir_path: 'path' },
      replacement: (text) => ({
        durationMs: 0,
        numFiles: 1,
        filenames: text.split('\n'),
        truncated: false,
      }),
    },
    {
      ours: 'search_file_content',
      theirs: ['Grep'],
      arguments: { include: 'glob' },
      hostArguments: { dir_path: 'path' },
      replacement: (content) => ({
        mode: 'content',
        numFiles: 0,
        filenames: [],
        content,
        numLines: content.split('\n').length,
      }),
    },
    {
      ours: 'list_directory',
      theirs: ['LS'],
      hostArguments: { dir_path: 'path' },
      paths: ['path'],
    },
    {
      ours: 'web_fetch',
      theirs: ['WebFetch'],
      replacement: (result, { bytes, code, codeText, durationMs, url }) => ({
        bytes,
        code,
        codeText,
        result,
        durationMs,
        url,
      }),
    },
    { ours: 'google_web_search', theirs: ['WebSearch'] },
    { ours: 'write_todos', theirs: ['TodoWrite'] },
    { ours: 'task', theirs: ['Agent', 'Task'] },
  ],
  otherTools: namesIn(
    'AskUserQuestion BashOutput EnterPlanMode EnterWorktree ExitPlanMode ExitWorktree ' +
      'KillShell ListMcpResourcesTool LSP Monitor MultiEdit NotebookEdit ' +
      'ReadMcpResourceTool SendMessage Skill SlashCommand TaskCreate TaskGet TaskList ' +
      'TaskOutput TaskStop TaskUpdate ToolSearch',
  ),
  mcpSeparator: '__',
  replacesArguments: true,
  subjects: {
    exit: 'other',
    ToolPermission: 'permission_prompt',
    Idle: 'idle_prompt',
    Other: 'other',
  },
  // After a compaction, and in a copy, the session goes on.
  otherSubjects: { compact: 'resume', fork: 'resume' },
  timeoutUnit: { name: 'seconds', ms: 1000 },
  defaultTimeoutMs: { BeforeAgent: 30_000, SessionEnd: 1500, otherwise: 600_000 },
  readMatcher: (matcher) =>
    /[^\w|, -]/.test(matcher)
      ? { expression: matcher, otherwise: 'nothing' }
      : { names: matcher.split(/[|,]/).map((name) => name.trim()) },
  environment: ({ session_id }) => ({ CLAUDE_CODE_SESSION_ID: session_id }),
  missingVariables: ['CLAUDE_PLUGIN_ROOT', 'CLAUDE_PLUGIN_DATA'],
  guardWord: 'block',
  hasHttpHooks: true,
  askedTypes: ['mcp_tool', 'prompt'],
  hasConditions: true,
  denies: (exitCode) => exitCode === 2,
  readsStderr: false,
  plainText: { BeforeAgent: 'context', SessionStart: 'context', otherwise: 'nothing' },
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
