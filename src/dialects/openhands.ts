import { HookEventName } from '../protocol/types.js';
import { common } from './claudeLike.js';
import type { AnswerWords, ArgumentForm, Dialect } from './dialect.js';

const { BeforeTool, AfterTool, BeforeAgent, AfterAgent, SessionStart, SessionEnd } = HookEventName;
const CALL = ['tool_name', 'tool_input'] as const;
/** It knows no question, and no other arguments. */
const REFUSAL: AnswerWords = {
  words: { block: 'deny', stop: 'deny' },
  context: 'additionalContext',
};
const NOTED: AnswerWords = { blockIsContext: true, context: 'additionalContext' };

/** One tool for all that is done with files, by its argument "command". */
const editor: ArgumentForm = {
  toTheirs: (tool, { file_path: path, content, old_string, new_string, ...others }) => ({
    ...others,
    ...(tool === 'write_file' && { command: 'create', path, file_text: content }),
    ...(tool === 'replace' && {
      command: 'str_replace',
      path,
      old_str: old_string,
      new_str: new_string,
    }),
    ...(tool === 'read_file' && { command: 'view', path }),
  }),
  toOurs: ({ command, path: file_path, file_text, old_str, new_str, ...others }) => {
    if (command === 'view') return [{ tool: 'read_file', input: { ...others, file_path } }];
    if (command === 'create') {
      return [{ tool: 'write_file', input: { ...others, file_path, content: file_text } }];
    }
    const edit = { ...others, file_path, old_string: old_str, new_string: new_str };
    return [{ tool: 'replace', input: edit }];
  },
};

/** The format of hooks for OpenHands, of which the file alone is as that for Claude Code. */
export const openhands: Dialect = {
  ...common,
  // At the end of the agent, the first one would have it go on.
  refuses: ['continue', 'suppressOutput', 'systemMessage'],
  agent: 'OpenHands',
  settings: { files: ['.openhands/hooks.json'], pluginFiles: [], notRead: 'nothing else' },
  projectVariable: 'OPENHANDS_PROJECT_DIR',
  isSender: ({ event_type: type, working_dir: directory }) =>
    typeof type === 'string' && typeof directory === 'string',
  events: [
    { event: BeforeTool, name: 'PreToolUse', fields: CALL, answer: REFUSAL },
    {
      event: AfterTool,
      name: 'PostToolUse',
      fields: [...CALL, ['tool_response', 'tool_output']],
      answer: NOTED,
    },
    {
      event: BeforeAgent,
      name: 'UserPromptSubmit',
      fields: [['prompt', 'message']],
      answer: REFUSAL,
    },
    { event: AfterAgent, name: 'Stop', fields: [], answer: { words: { block: 'deny' } } },
    { event: SessionStart, name: 'SessionStart', fields: [], answer: NOTED },
    { event: SessionEnd, name: 'SessionEnd', fields: [] },
  ],
  otherEvents: ['Notification'],
  common: [['hook_event_name', 'event_type'], 'session_id', ['cwd', 'working_dir']],
  tools: [
    { ours: 'run_shell_command', theirs: ['terminal'] },
    { ours: 'write_file', theirs: ['file_editor'], form: editor },
    { ours: 'replace', theirs: ['file_editor'], form: editor },
    { ours: 'read_file', theirs: ['file_editor'], form: editor },
  ],
  otherTools: ['task_tracker', 'browser'],
  environment: ({ cwd, session_id }) => ({
    OPENHANDS_PROJECT_DIR: cwd,
    OPENHANDS_SESSION_ID: session_id,
  }),
};
