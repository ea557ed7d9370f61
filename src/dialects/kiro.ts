import { HookEventName } from '../protocol/types.js';
import { common } from './claudeLike.js';
import type { Dialect } from './dialect.js';

const { BeforeTool, AfterTool, BeforeAgent, AfterAgent, SessionStart } = HookEventName;
const CALL = ['tool_name', 'tool_input'] as const;

/** The format of hooks for Kiro, and for Amazon Q before it: exit code 2 refuses, and stdout is what the model reads. */
export const kiro: Dialect = {
  ...common,
  agent: 'Kiro',
  settings: {
    files: ['.kiro/hooks/*.json'],
    form: 'triggers',
    head: { version: 'v1' },
    pluginFiles: [],
    notRead: 'hooks within agents',
  },
  isSender: ({ hook_event_name: name }) => NAMES.has(String(name)),
  events: [
    {
      event: BeforeTool,
      name: 'PreToolUse',
      sentAs: 'preToolUse',
      fields: CALL,
      exitCode: 'nothing',
    },
    {
      event: AfterTool,
      name: 'PostToolUse',
      sentAs: 'postToolUse',
      fields: [...CALL, 'tool_response'],
      exitCode: 'context',
    },
    {
      event: BeforeAgent,
      name: 'UserPromptSubmit',
      sentAs: 'userPromptSubmit',
      fields: ['prompt'],
      exitCode: 'context',
    },
    {
      event: AfterAgent,
      name: 'Stop',
      sentAs: 'stop',
      fields: [['prompt_response', 'assistant_response']],
      exitCode: 'nothing',
    },
    {
      event: SessionStart,
      name: 'SessionStart',
      sentAs: 'agentSpawn',
      fields: [],
      exitCode: 'context',
    },
  ],
  otherEvents: ['sessionStart', 'sessionEnd', 'preTaskExec', 'postTaskExec'],
  common: ['hook_event_name', 'cwd', 'session_id'],
  tools: [
    { ours: 'run_shell_command', theirs: ['execute_bash', 'shell'] },
    { ours: 'write_file', theirs: ['fs_write', 'write'], arguments: { file_path: 'path' } },
    { ours: 'read_file', theirs: ['fs_read', 'read'], arguments: { file_path: 'path' } },
  ],
  otherTools: ['use_aws'],
  plainText: { otherwise: 'context' },
};

const NAMES = new Set(kiro.events.map(({ sentAs }) => String(sentAs)));
