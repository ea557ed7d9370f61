import { HookEventName } from '../protocol/types.js';
import { failureOfText, readCommonFields, textOf } from './answers.js';
import { claude } from './claude.js';
import { common } from './claudeLike.js';
import type { AnswerWords, Dialect, DialectAnswer, Fields } from './dialect.js';

const { BeforeTool, AfterTool, BeforeAgent, AfterAgent, PreCompress } = HookEventName;
const { SessionStart, SessionEnd, SubagentStart, SubagentStop } = HookEventName;

const CONTEXT: AnswerWords = { blockIsContext: true, context: 'additional_context' };

const CALL = ['tool_name', 'tool_input', 'tool_use_id'] as const;
const END = {
  read: readFollowUp,
  answer: { words: { block: true }, decision: '', reason: 'followup_message' },
} as const;

const HELPER = [
  ['agent_id', 'subagent_id'],
  ['agent_type', 'subagent_type'],
] as const;

const OTHERS =
  'beforeShellExecution beforeMCPExecution beforeReadFile beforeTabFileRead afterShellExecution afterMCPExecution afterFileEdit afterTabFileEdit afterAgentResponse afterAgentThought workspaceOpen';

/** The format of hooks for Cursor. Its events for one kind of tool tell again what `preToolUse` has told. */
export const cursor: Dialect = {
  ...common,
  refuses: ['continue', 'suppressOutput', 'systemMessage'],
  agent: 'Cursor',
  settings: {
    files: ['.cursor/hooks.json'],
    isFlat: true,
    head: { version: 1 },
    userFolder: true,
    runsClaude: { scopes: ['project', 'local', 'user'], ifOn: 'its setting for third-party hooks' },
    pluginFiles: [],
    notRead:
      'hooks of the enterprise, the team and plugins, and those for Claude Code, which it may run',
  },
  projectVariable: 'CURSOR_PROJECT_DIR',
  isSender: ({ cursor_version: version, generation_id: id }) =>
    typeof version === 'string' || typeof id === 'string',
  events: [
    {
      event: BeforeTool,
      name: 'preToolUse',
      fields: CALL,
      read: readPermission,
      answer: {
        words: { allow: 'allow', ask: 'ask', block: 'deny', stop: 'deny' },
        decision: 'permission',
        reason: 'agent_message',
        input: 'updated_input',
      },
    },
    {
      event: AfterTool,
      name: 'postToolUse',
      fields: [...CALL, ['tool_response', 'tool_output'], ['duration_ms', 'duration']],
      read: readContext,
      answer: CONTEXT,
    },
    {
      event: AfterTool,
      moment: 'failed',
      name: 'postToolUseFailure',
      fields: [...CALL, ['duration_ms', 'duration']],
      toResponse: ({ error_message: said }) => failureOfText(said),
      read: readContext,
      answer: CONTEXT,
    },
    {
      event: BeforeAgent,
      name: 'beforeSubmitPrompt',
      fields: ['prompt'],
      read: readPrompt,
      answer: {
        words: { block: false, stop: false },
        decision: 'continue',
        reason: 'user_message',
      },
    },
    { ...END, event: AfterAgent, name: 'stop', fields: ['status', 'loop_count'] },
    {
      event: SubagentStart,
      name: 'subagentStart',
      fields: [...HELPER, ['prompt', 'task']],
      read: readPermission,
      answer: {
        words: { block: 'deny', stop: 'deny' },
        decision: 'permission',
        reason: 'user_message',
      },
    },
    {
      ...END,
      event: SubagentStop,
      name: 'subagentStop',
      fields: [...HELPER, ['prompt', 'task'], ['prompt_response', 'summary']],
    },
    { event: PreCompress, name: 'preCompact', fields: ['trigger'] },
    { event: SessionStart, name: 'sessionStart', fields: [], read: readContext, answer: CONTEXT },
    { event: SessionEnd, name: 'sessionEnd', fields: ['reason'] },
  ],
  otherEvents: OTHERS.split(' '),
  common: [['session_id', 'conversation_id'], 'hook_event_name', 'transcript_path', 'cwd'],
  tools: claude.tools.map((words) =>
    words.ours === 'run_shell_command' ? { ...words, theirs: ['Shell'] } : words,
  ),
  otherTools: ['Delete'],
  toolName: ({ tool_name: name }) => {
    const [, tool] = /^MCP:(.+)$/s.exec(textOf(name)) ?? [];
    return tool === undefined ? undefined : `mcp__cursor__${tool}`;
  },
  environment: ({ cwd }) => ({ CURSOR_PROJECT_DIR: cwd }),
};

/** The reason is for the model; where there is none, for the user. */
function readPermission(said: Fields): DialectAnswer {
  const { permission, agent_message, user_message, updated_input, ...others } = said;
  const reason = textOf(agent_message) || textOf(user_message) || undefined;
  const { output } = readCommonFields(others);
  const changed = updated_input !== undefined && {
    hookSpecificOutput: { tool_input: updated_input },
  };
  return {
    output: {
      ...output,
      ...(permission !== undefined && { decision: permission, reason }),
      ...changed,
    },
    forUser: permission === 'allow' ? [user_message] : [],
    theirNames: { decision: 'permission', 'hookSpecificOutput.tool_input': 'updated_input' },
  };
}

function readPrompt({ continue: goesOn, user_message: reason }: Fields): DialectAnswer {
  return { output: goesOn === false ? { decision: 'block', reason } : {} };
}

function readFollowUp({ followup_message: reason }: Fields): DialectAnswer {
  return { output: textOf(reason) === '' ? {} : { decision: 'block', reason } };
}

function readContext({ additional_context: context }: Fields): DialectAnswer {
  const isContext = textOf(context) !== '';
  return { output: isContext ? { hookSpecificOutput: { additionalContext: context } } : {} };
}
