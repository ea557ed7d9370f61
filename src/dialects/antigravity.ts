import { HookEventName } from '../protocol/types.js';
import { failureOfText, readCommonFields, resultOfText, textOf, valueAt } from './answers.js';
import { common } from './claudeLike.js';
import type { AnswerWords, Dialect, DialectAnswer, Fields } from './dialect.js';

const { BeforeTool, AfterTool, AfterAgent } = HookEventName;

const CALL = [
  ['tool_name', 'toolCall.name'],
  ['tool_input', 'toolCall.args'],
] as const;
const PERMISSION: AnswerWords = {
  words: { allow: 'allow', ask: 'ask', block: 'deny', stop: 'deny' },
  explainsAllow: true,
};

/**
 * The format of hooks for Antigravity. It tells no hook what a tool gave, and which event it is only by where the hook
 * stands: so the command of each names its event.
 */
export const antigravity: Dialect = {
  ...common,
  refuses: ['continue', 'suppressOutput', 'systemMessage'],
  agent: 'Antigravity',
  tellsNoEvent: true,
  refusal: (reason) => ({ decision: 'deny', reason }),
  settings: {
    files: ['.agents/hooks.json'],
    userFiles: ['.gemini/config/hooks.json'],
    foundBy: ['.gemini/config', '.gemini/antigravity', '.agents/hooks.json'],
    at: 'hookstack',
    isNamed: true,
    pluginFiles: ['hooks.json'],
    notRead: 'hooks of installed plugins',
  },
  isSender: ({ conversationId: id, workspacePaths: paths }) =>
    typeof id === 'string' && Array.isArray(paths),
  events: [
    { event: BeforeTool, name: 'PreToolUse', fields: CALL, answer: PERMISSION },
    {
      event: AfterTool,
      name: 'PostToolUse',
      fields: CALL,
      toResponse: ({ error }) => (textOf(error) === '' ? resultOfText('') : failureOfText(error)),
      // Nothing is read of it.
      answer: {},
    },
    {
      event: AfterAgent,
      name: 'Stop',
      fields: [],
      read: readEnd,
      answer: { words: { block: 'continue' } },
    },
  ],
  otherEvents: ['PreInvocation', 'PostInvocation', 'SessionStart'],
  common: [
    ['session_id', 'conversationId'],
    ['transcript_path', 'transcriptPath'],
    ['hook_event_name', 'hookEventName'],
  ],
  tools: [
    {
      ours: 'run_shell_command',
      theirs: ['run_command'],
      arguments: { command: 'CommandLine', directory: 'Cwd' },
    },
    { ours: 'read_file', theirs: ['view_file'], arguments: { file_path: 'AbsolutePath' } },
    {
      ours: 'write_file',
      theirs: ['write_to_file'],
      arguments: { file_path: 'TargetFile', content: 'CodeContent' },
    },
    { ours: 'replace', theirs: ['replace_file_content'], arguments: { file_path: 'TargetFile' } },
    { ours: 'task', theirs: ['invoke_subagent'] },
  ],
};

function readEnd(said: Fields): DialectAnswer {
  const { output } = readCommonFields(said);
  const goesOn = valueAt(said, 'decision') === 'continue';
  return { output: { ...output, decision: goesOn ? 'block' : undefined } };
}
