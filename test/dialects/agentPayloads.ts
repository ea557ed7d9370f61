import type { DialectName } from '../../src/protocol/types.js';

type Fields = Readonly<Record<string, unknown>>;

/** What an agent sends at each of its events, by a name of the case that begins with that of the event. */
export type Payloads = Readonly<Record<string, Fields>>;

const COMMAND = { command: 'git push' };
const WRITE = { file_path: '/shop/a.txt', content: 'one' };
const EDIT = { file_path: '/shop/a.txt', old_string: 'one', new_string: 'two' };
const TIME = '2026-11-26T10:00:00.000Z';

/** Payloads with the fields that all of them have, and the name of the event, which is the first word of their own. */
function payloads(field: string, common: Fields, cases: Payloads): Payloads {
  const entries = Object.entries(cases).map(([title, fields]) => {
    const [event] = title.split(' ');
    return [title, { ...common, ...(field !== '' && { [field]: event }), ...fields }] as const;
  });
  return Object.fromEntries(entries);
}

const claudeLike = {
  session_id: 's1',
  transcript_path: '/t.jsonl',
  cwd: '/shop',
  permission_mode: 'default',
};
const bash = { tool_name: 'Bash', tool_input: COMMAND, tool_use_id: 'c1' };
/** Of a sub-agent, and of its end. */
const helper = { agent_id: 'a1', agent_type: 'Explore' };
const ofHelper = {
  stop_hook_active: false,
  agent_transcript_path: '/a1.jsonl',
  last_assistant_message: 'Found.',
};
const shellResult = { stdout: 'secret', stderr: '', interrupted: false, isImage: false };

const claude = payloads('hook_event_name', claudeLike, {
  PreToolUse: bash,
  'PreToolUse of a file': { tool_name: 'Write', tool_input: WRITE, tool_use_id: 'c2' },
  PermissionRequest: { ...bash, permission_suggestions: [] },
  PostToolUse: { ...bash, tool_response: shellResult, duration_ms: 3 },
  PostToolUseFailure: { ...bash, error: 'Exit code 3\nsecret', is_interrupt: false },
  UserPromptSubmit: { prompt: 'Go.' },
  Stop: { stop_hook_active: false, last_assistant_message: 'Done.' },
  SubagentStart: helper,
  SubagentStop: { ...helper, ...ofHelper, background_tasks: [], session_crons: [] },
  PreCompact: { trigger: 'auto', custom_instructions: '' },
  PostCompact: { trigger: 'manual', compact_summary: 'Short.' },
  SessionStart: { source: 'startup', model: 'm' },
  SessionEnd: { reason: 'other' },
  Notification: { message: 'May it?', notification_type: 'permission_prompt' },
  StopFailure: { error: 'unknown', last_assistant_message: 'API Error: 400 It fails.' },
  'StopFailure of a limit': { error: 'rate_limit', error_details: 'Too many.' },
  PostToolBatch: {
    tool_calls: [
      { ...bash, tool_response: 'secret' },
      { tool_name: 'Write', tool_input: WRITE, tool_use_id: 'c2', tool_response: 'Written.' },
    ],
  },
  'PostToolBatch of a helper': { ...helper, tool_calls: [{ ...bash, tool_response: 'secret' }] },
});

const geminiShell = { tool_name: 'run_shell_command', tool_input: COMMAND };
const request = { model: 'm', messages: [{ role: 'user', content: 'Go.' }] };
const gemini = payloads(
  'hook_event_name',
  { session_id: 's1', transcript_path: '/t.json', cwd: '/shop', timestamp: TIME },
  {
    BeforeTool: geminiShell,
    'BeforeTool of a server': {
      tool_name: 'mcp_git_log',
      tool_input: { a: 1 },
      mcp_context: { server_name: 'git', tool_name: 'log' },
    },
    AfterTool: { ...geminiShell, tool_response: { llmContent: 'secret', returnDisplay: 'secret' } },
    BeforeModel: { llm_request: request },
    AfterModel: {
      llm_request: request,
      llm_response: { candidates: [{ content: { role: 'model', parts: ['secret'] } }] },
    },
    BeforeToolSelection: { llm_request: request },
    BeforeAgent: { prompt: 'Go.' },
    AfterAgent: { prompt: 'Go.', prompt_response: 'Done.', stop_hook_active: false },
    SessionStart: { source: 'startup' },
    SessionEnd: { reason: 'exit' },
    PreCompress: { trigger: 'auto' },
    Notification: { notification_type: 'ToolPermission', message: 'May it?', details: {} },
  },
);

const patch =
  '*** Begin Patch\n*** Add File: a.txt\n+one\n*** Update File: b.txt\n@@\n-one\n+two\n*** End Patch';
const codex = payloads(
  'hook_event_name',
  { ...claudeLike, turn_id: 't1', model: 'm', permission_mode: 'bypassPermissions' },
  {
    PreToolUse: bash,
    'PreToolUse of a patch': {
      tool_name: 'apply_patch',
      tool_input: { command: patch },
      tool_use_id: 'c2',
    },
    PermissionRequest: {
      tool_name: 'Bash',
      tool_input: { ...COMMAND, description: 'pushes' },
    },
    PostToolUse: { ...bash, tool_response: 'secret' },
    UserPromptSubmit: { prompt: 'Go.' },
    Stop: { stop_hook_active: false, last_assistant_message: 'Done.' },
    'UserPromptSubmit of a helper': { ...helper, prompt: 'Go.' },
    'PreToolUse of a helper': { ...bash, ...helper },
    SubagentStart: helper,
    SubagentStop: { ...helper, ...ofHelper },
    PreCompact: { trigger: 'auto' },
    PostCompact: { trigger: 'auto' },
    SessionStart: { source: 'startup' },
    SessionEnd: { reason: 'other' },
  },
);

const taskOfCopilot = { agent_id: 'a1', agent_type: 'task', parent_agent_id: 's1' };
const copilot = payloads(
  'hook_event_name',
  { session_id: 's1', timestamp: TIME, cwd: '/shop' },
  {
    PreToolUse: { tool_name: 'Bash', tool_input: { ...COMMAND, description: 'pushes' } },
    PostToolUse: {
      tool_name: 'Bash',
      tool_input: COMMAND,
      tool_result: { result_type: 'success', text_result_for_llm: 'secret' },
    },
    PostToolUseFailure: { tool_name: 'Read', tool_input: { path: '/x' }, error: 'no such file' },
    UserPromptSubmit: { prompt: 'Go.' },
    Stop: { transcript_path: '/t.jsonl', stop_reason: 'end_turn', stop_hook_active: false },
    'PreToolUse of a helper': {
      session_id: 's1',
      ...taskOfCopilot,
      tool_name: 'Bash',
      tool_input: { ...COMMAND, description: 'pushes' },
    },
    SubagentStart: {
      hook_event_name: undefined,
      session_id: undefined,
      sessionId: 's1',
      timestamp: 1795773724913,
      transcriptPath: '/t.jsonl',
      agentName: 'task',
      ...taskOfCopilot,
    },
    SubagentStop: {
      ...taskOfCopilot,
      agent_name: 'task',
      last_assistant_message: 'Found.',
      stop_reason: 'end_turn',
      stop_hook_active: false,
    },
    ErrorOccurred: {
      error: { name: 'Error', message: 'It fails.', stack: '' },
      error_context: 'model_call',
      recoverable: false,
    },
    PreCompact: { trigger: 'auto', custom_instructions: '' },
    SessionStart: { source: 'new', initial_prompt: 'Go.' },
    SessionEnd: { reason: 'complete' },
    Notification: { notification_type: 'agent_idle', message: 'It waits.' },
  },
);

const editing = {
  tool_name: 'editFiles',
  tool_input: { files: ['/shop/a', '/shop/b'] },
  tool_use_id: 'c2',
};
const terminal = {
  tool_name: 'runTerminalCommand',
  tool_input: COMMAND,
  tool_use_id: 'c1',
};
const vscode = payloads(
  'hookEventName',
  { timestamp: TIME, cwd: '/shop', sessionId: 's1', transcript_path: '/t.json' },
  {
    PreToolUse: terminal,
    'PreToolUse of files': editing,
    PostToolUse: { ...terminal, tool_response: 'secret' },
    UserPromptSubmit: { prompt: 'Go.' },
    Stop: { stop_hook_active: false },
    SubagentStart: { agent_id: 'a1', agent_type: 'Plan' },
    SubagentStop: { agent_id: 'a1', agent_type: 'Plan', stop_hook_active: false },
    PreCompact: { trigger: 'auto' },
    SessionStart: { source: 'new' },
  },
);

const cursorShell = {
  tool_name: 'Shell',
  tool_input: { ...COMMAND, working_directory: '/shop' },
  tool_use_id: 'c1',
  cwd: '/shop',
};
const cursor = payloads(
  'hook_event_name',
  {
    conversation_id: 's1',
    generation_id: 'g1',
    model: 'auto',
    cursor_version: '3.1.0',
    workspace_roots: ['/shop'],
    user_email: 'ada@example.com',
    transcript_path: null,
  },
  {
    preToolUse: { ...cursorShell, agent_message: 'I push.' },
    'preToolUse of a server': { tool_name: 'MCP:log', tool_input: { a: 1 }, tool_use_id: 'c2' },
    postToolUse: { ...cursorShell, tool_output: '{"output":"secret"}', duration: 3 },
    postToolUseFailure: {
      ...cursorShell,
      error_message: 'secret',
      failure_type: 'error',
      is_interrupt: false,
      duration: 3,
    },
    beforeSubmitPrompt: { prompt: 'Go.', attachments: [] },
    stop: { status: 'completed', loop_count: 0 },
    subagentStart: {
      subagent_id: 'a1',
      subagent_type: 'explore',
      task: 'Go.',
      parent_conversation_id: 's1',
      tool_call_id: 'c1',
      is_parallel_worker: false,
    },
    subagentStop: {
      subagent_id: 'a1',
      subagent_type: 'explore',
      status: 'completed',
      summary: 'Done.',
      modified_files: [],
      tool_call_count: 1,
      loop_count: 0,
    },
    preCompact: { trigger: 'auto', context_usage_percent: 90, is_first_compaction: true },
    sessionStart: { session_id: 's1', is_background_agent: false, composer_mode: 'agent' },
    sessionEnd: { session_id: 's1', reason: 'completed', final_status: 'ok', duration_ms: 5 },
  },
);

const antigravity = payloads(
  'hookEventName',
  {
    conversationId: 's1',
    workspacePaths: ['/shop'],
    transcriptPath: '/t.jsonl',
    artifactDirectoryPath: '/a',
  },
  {
    PreToolUse: {
      toolCall: { name: 'run_command', args: { CommandLine: 'git push', Cwd: '/shop' } },
      stepIdx: 3,
    },
    'PreToolUse of a file': {
      toolCall: { name: 'write_to_file', args: { TargetFile: '/shop/a', CodeContent: 'one' } },
      stepIdx: 4,
    },
    'PreToolUse of a file that is read': {
      toolCall: { name: 'view_file', args: { AbsolutePath: '/shop/.env' } },
      stepIdx: 5,
    },
    PostToolUse: {
      toolCall: { name: 'run_command', args: { CommandLine: 'git push', Cwd: '/shop' } },
      stepIdx: 3,
      error: '',
    },
    Stop: { executionNum: 1, terminationReason: 'done', fullyIdle: true },
  },
);

const execute = { tool_name: 'Execute', tool_input: COMMAND };
const droid = payloads(
  'hookEventName',
  { sessionId: 's1', transcriptPath: '/t.jsonl', cwd: '/shop', permissionMode: 'off' },
  {
    PreToolUse: execute,
    'PreToolUse of a file': { tool_name: 'Create', tool_input: WRITE },
    PostToolUse: { ...execute, tool_response: { output: 'secret' } },
    UserPromptSubmit: { prompt: 'Go.' },
    Stop: { stopHookActive: false },
    SubagentStop: { stopHookActive: false },
    PreCompact: { trigger: 'manual', customInstructions: '' },
    SessionStart: { source: 'startup' },
    SessionEnd: { reason: 'other' },
    Notification: { message: 'Task completed' },
  },
);

const qwenShell = {
  ...geminiShell,
  tool_use_id: 'toolu_1',
  tool_call_id: 'c1',
};
const qwen = payloads(
  'hook_event_name',
  { ...claudeLike, timestamp: TIME, permission_mode: 'yolo', prompt_id: 'p1' },
  {
    PreToolUse: qwenShell,
    PermissionRequest: { ...geminiShell, permission_suggestions: [] },
    PostToolUse: {
      ...qwenShell,
      tool_response: { llmContent: 'secret', returnDisplay: 'secret' },
      duration_ms: 3,
    },
    PostToolUseFailure: { ...qwenShell, error: 'secret', is_interrupt: false, duration_ms: 3 },
    UserPromptSubmit: { prompt: 'Go.', submitted_prompt: 'Go.' },
    Stop: { stop_hook_active: false, last_assistant_message: 'Done.', background_tasks: [] },
    'PreToolUse of a helper': { ...qwenShell, agent_id: 'a1' },
    SubagentStart: helper,
    SubagentStop: { ...helper, ...ofHelper, crons: [] },
    StopFailure: { error: 'server_error', error_details: 'It fails.' },
    PostToolBatch: {
      tool_calls: [
        {
          ...geminiShell,
          tool_use_id: 'c1',
          tool_call_id: 'c1',
          status: 'success',
          tool_response: {
            response_parts: [{ functionResponse: { id: 'c1', response: { output: 'secret' } } }],
            result_display: 'secret',
            execution_status: 'success',
            content_length: 6,
          },
        },
      ],
    },
    PreCompact: { trigger: 'auto', custom_instructions: '' },
    PostCompact: { trigger: 'auto', compact_summary: 'Short.' },
    SessionStart: { source: 'startup', model: 'm' },
    SessionEnd: { reason: 'other' },
    Notification: { message: 'It waits.', notification_type: 'auth_success' },
  },
);

const openhandsShell = { tool_name: 'terminal', tool_input: COMMAND };
const fileEditor = {
  tool_name: 'file_editor',
  tool_input: { command: 'str_replace', path: '/shop/a.txt', old_str: 'one', new_str: 'two' },
};
const openhands = payloads(
  'event_type',
  { session_id: 's1', working_dir: '/shop', metadata: {} },
  {
    PreToolUse: openhandsShell,
    'PreToolUse of a file': fileEditor,
    PostToolUse: { ...openhandsShell, tool_output: 'secret' },
    UserPromptSubmit: { message: 'Go.' },
    Stop: { metadata: { reason: 'finish' } },
    SessionStart: {},
    SessionEnd: {},
  },
);

const exec = { tool_name: 'exec', tool_input: { ...COMMAND, shell_id: 'main' } };
const devin = payloads('hook_event_name', claudeLike, {
  PreToolUse: exec,
  'PreToolUse of a file': { tool_name: 'edit', tool_input: EDIT },
  PermissionRequest: exec,
  PostToolUse: { ...exec, tool_response: { success: true, output: 'secret', error: null } },
  UserPromptSubmit: { prompt: 'Go.' },
  Stop: { stop_hook_active: false },
  SessionStart: { source: 'startup' },
  SessionEnd: { reason: 'other' },
});

const shellInfo = { command_line: 'git push', cwd: '/shop' };
const editInfo = {
  file_path: '/shop/a.txt',
  edits: [{ old_string: 'one', new_string: 'two' }],
};
const mcpInfo = { mcp_server_name: 'git', mcp_tool_name: 'log', mcp_tool_arguments: { a: 1 } };
const windsurf = payloads(
  'agent_action_name',
  { trajectory_id: 's1', execution_id: 'e1', timestamp: TIME },
  {
    pre_run_command: { tool_info: shellInfo },
    pre_write_code: { tool_info: editInfo },
    pre_read_code: { tool_info: { file_path: '/shop/.env' } },
    pre_mcp_tool_use: { tool_info: mcpInfo },
    post_run_command: { tool_info: shellInfo },
    post_write_code: { tool_info: editInfo },
    post_read_code: { tool_info: { file_path: '/shop/.env' } },
    post_mcp_tool_use: { tool_info: { ...mcpInfo, mcp_result: 'secret' } },
    pre_user_prompt: { tool_info: { user_prompt: 'Go.' } },
    post_cascade_response: { tool_info: { response: 'Done.' } },
  },
);

const kiroShell = { tool_name: 'execute_bash', tool_input: COMMAND };
const kiro = payloads(
  'hook_event_name',
  { cwd: '/shop', session_id: 's1' },
  {
    preToolUse: kiroShell,
    'preToolUse of a file': {
      tool_name: 'fs_write',
      tool_input: { path: '/shop/a', content: 'x' },
    },
    postToolUse: { ...kiroShell, tool_response: { success: true, result: ['secret'] } },
    userPromptSubmit: { prompt: 'Go.' },
    stop: { assistant_response: 'Done.' },
    agentSpawn: {},
  },
);

const gooseShell = {
  matcher_context: 'developer__shell',
  tool_name: 'developer__shell',
  tool_input: COMMAND,
  tool_call_id: 'c1',
};
const goose = payloads(
  'event',
  { session_id: 's1', working_dir: '/shop' },
  {
    PreToolUse: gooseShell,
    PostToolUse: { ...gooseShell, message: 'secret' },
    PostToolUseFailure: { ...gooseShell, message: 'secret' },
    UserPromptSubmit: { message: 'Go.' },
    Stop: { last_assistant_message: 'Done.' },
    SessionStart: {},
    SessionEnd: {},
  },
);

const commands = { id: 'c1', name: 'run_commands', input: { commands: ['git push', 'ls'] } };
const cline = payloads(
  'hookName',
  {
    clineVersion: '3.65.0',
    timestamp: TIME,
    taskId: 's1',
    workspaceRoots: ['/shop'],
    userId: 'u1',
    agent_id: 'a1',
    parent_agent_id: null,
  },
  {
    tool_call: {
      tool_call: commands,
      preToolUse: { toolName: 'run_commands', parameters: { commands: '["git push","ls"]' } },
    },
    'tool_call of one command': {
      tool_call: { id: 'c1', name: 'run_commands', input: { commands: ['git push'] } },
    },
    'tool_call of a file': {
      tool_call: { id: 'c2', name: 'editor', input: { path: '/shop/a', new_text: 'one' } },
    },
    tool_result: {
      tool_result: {
        ...commands,
        output: [{ query: 'git push', result: 'secret', success: true }],
        durationMs: 3,
      },
    },
    prompt_submit: { userPromptSubmit: { prompt: 'Go.', attachments: [] } },
    agent_start: { taskStart: { taskMetadata: {} } },
    agent_end: { taskComplete: { taskMetadata: {} } },
    agent_error: { error: { name: 'Error', message: 'It fails.', stack: '' }, iteration: 1 },
  },
);

const opencodeShell = { tool_name: 'bash', tool_input: COMMAND, tool_use_id: 'c1' };
const opencode = payloads(
  'hook_event_name',
  { session_id: 's1', cwd: '/shop' },
  {
    PreToolUse: opencodeShell,
    'PreToolUse of a file': {
      tool_name: 'write',
      tool_input: { filePath: '/shop/a.txt', content: 'one' },
      tool_use_id: 'c2',
    },
    PostToolUse: { ...opencodeShell, tool_response: 'secret', exit_code: 3 },
    PostToolUseFailure: { ...opencodeShell, error: 'secret' },
    UserPromptSubmit: { prompt: 'Go.' },
    Stop: { stop_hook_active: false, last_assistant_message: 'Done.' },
    SessionStart: { source: 'startup' },
    SessionEnd: { reason: 'other' },
  },
);

/**
 * What each agent sends at each of its events: as it was seen (Claude Code, Gemini CLI, Codex, Copilot CLI, Qwen Code,
 * Cline), else as its documentation or its source has it.
 */
export const PAYLOADS: Readonly<Record<DialectName, Payloads>> = {
  claude,
  gemini,
  codex,
  copilot,
  vscode,
  cursor,
  antigravity,
  droid,
  qwen,
  openhands,
  devin,
  windsurf,
  kiro,
  goose,
  cline,
  opencode,
};
