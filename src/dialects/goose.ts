import { HookEventName } from '../protocol/types.js';
import { common } from './claudeLike.js';
import type { Dialect } from './dialect.js';
import { failureOfText, namesIn } from './answers.js';

const { BeforeTool, AfterTool, BeforeAgent, AfterAgent, SessionStart, SessionEnd } = HookEventName;
const CALL = ['tool_name', 'tool_input', ['tool_use_id', 'tool_call_id']] as const;
const REFUSAL = { words: { block: 'block', stop: 'block' } } as const;

/** The format of hooks for goose, which is that of Open Plugins. */
export const goose: Dialect = {
  ...common,
  refuses: ['continue', 'suppressOutput', 'systemMessage'],
  agent: 'goose',
  settings: {
    files: ['.agents/plugins/hookstack/hooks/hooks.json'],
    // Named, as its hooks are read one by one, for their "on_failure".
    at: 'hooks',
    foundBy: ['.config/goose', '.goose', '.goosehints', '.agents/plugins'],
    pluginFiles: ['.agents/plugins/*/hooks/hooks.json', 'hooks/hooks.json'],
    notRead: 'hooks of installed plugins',
  },
  isSender: ({ event, working_dir: directory }) =>
    typeof event === 'string' && typeof directory === 'string',
  events: [
    { event: BeforeTool, name: 'PreToolUse', fields: CALL, answer: REFUSAL },
    {
      event: AfterTool,
      name: 'PostToolUse',
      fields: [...CALL, ['tool_response', 'message']],
      answer: {},
    },
    {
      event: AfterTool,
      moment: 'failed',
      name: 'PostToolUseFailure',
      fields: CALL,
      toResponse: ({ message }) => failureOfText(message),
      answer: {},
    },
    { event: BeforeAgent, name: 'UserPromptSubmit', fields: [['prompt', 'message']], answer: {} },
    {
      event: AfterAgent,
      name: 'Stop',
      fields: [['prompt_response', 'last_assistant_message']],
      answer: { words: { block: 'block' } },
    },
    { event: SessionStart, name: 'SessionStart', fields: [], answer: {} },
    { event: SessionEnd, name: 'SessionEnd', fields: [], answer: {} },
  ],
  otherEvents: namesIn(
    'PreToolUseResult BeforeReadFile AfterFileEdit BeforeShellExecution AfterShellExecution',
  ),
  common: [['hook_event_name', 'event'], 'session_id', ['cwd', 'working_dir']],
  tools: [
    { ours: 'run_shell_command', theirs: ['developer__shell'] },
    {
      ours: 'replace',
      theirs: ['developer__text_editor'],
      arguments: { file_path: 'path', old_string: 'old_str', new_string: 'new_str' },
    },
  ],
  defaultTimeoutMs: { otherwise: 30_000 },
  missingVariables: ['PLUGIN_ROOT'],
  guardWord: 'block',
};
