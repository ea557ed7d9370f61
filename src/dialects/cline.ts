import { HookEventName } from '../protocol/types.js';
import { recordOf, textOf } from './answers.js';
import { common, patchForm } from './claudeLike.js';
import { errorFields } from './claudeMoments.js';
import type {
  AnswerWords,
  ArgumentForm,
  Dialect,
  DialectAnswer,
  Fields,
  OurCall,
} from './dialect.js';

const { BeforeTool, AfterTool, BeforeAgent, AfterAgent, SessionStart } = HookEventName;
const { SubagentStart, SubagentStop, ModelError } = HookEventName;

const CALL = [
  ['tool_name', 'tool_call.name'],
  ['tool_input', 'tool_call.input'],
  ['tool_use_id', 'tool_call.id'],
] as const;
const RESULT = [
  ['tool_name', 'tool_result.name'],
  ['tool_input', 'tool_result.input'],
  ['tool_response', 'tool_result.output'],
  ['tool_use_id', 'tool_result.id'],
  ['duration_ms', 'tool_result.durationMs'],
] as const;
/** It knows no denial that lets the model go on: the task is ended. */
const CANCEL: AnswerWords = {
  words: { block: true, stop: true },
  decision: 'cancel',
  reason: 'errorMessage',
  context: 'contextModification',
};

const HELPERS = { agent_start: 'subagent_start', agent_end: 'subagent_end' } as const;
const HELPER = ['agent_id', 'agent_type'] as const;

/** One call for each of those that its one call does; `undefined` where one of them cannot be read. */
function callsOf(
  tool: string,
  others: Fields,
  given: unknown,
  read: (each: unknown) => Fields | undefined,
): readonly OurCall[] | undefined {
  const inputs = [given].flat().map(read);
  const isRead = inputs.length > 0 && inputs.every((input) => input !== undefined);
  return isRead ? inputs.map((input) => ({ tool, input: { ...others, ...input } })) : undefined;
}

/** One call that runs several commands. Models write it in several forms, and it takes them all. */
const commands: ArgumentForm = {
  toTheirs: (_tool, { command, ...others }) => ({ ...others, commands: [command] }),
  toOurs: ({ commands: all, command, cmd, ...others }) =>
    callsOf('run_shell_command', others, all ?? command ?? cmd, (each) => {
      if (typeof each === 'string') return { command: each };
      const { command: program, args = [] } = recordOf(each);
      const words = [program, args].flat();
      return words.every((word) => typeof word === 'string')
        ? { command: words.join(' ') }
        : undefined;
    }),
};
/** One call that reads several files. */
const files: ArgumentForm = {
  toTheirs: (_tool, { file_path: file, ...others }) => ({ files: [{ ...others, path: file }] }),
  toOurs: ({ files: all, file_paths, paths, path, ...others }) =>
    callsOf('read_file', others, all ?? file_paths ?? paths ?? path, (each) => {
      const { path: named, file_path = named, filePath = file_path, ...lines } = recordOf(each);
      const file = typeof each === 'string' ? each : filePath;
      return typeof file === 'string' ? { ...lines, file_path: file } : undefined;
    }),
};
/** One call that writes a file, or replaces some of it. */
const edit: ArgumentForm = {
  toTheirs: (tool, { file_path: path, content, old_string, new_string, ...others }) =>
    tool === 'replace'
      ? { ...others, path, old_text: old_string, new_text: new_string }
      : { ...others, path, new_text: content },
  toOurs: ({ path: file_path, old_text, new_text, ...others }) => [
    typeof old_text === 'string'
      ? {
          tool: 'replace',
          input: { ...others, file_path, old_string: old_text, new_string: new_text },
        }
      : { tool: 'write_file', input: { ...others, file_path, content: new_text } },
  ],
};
const patches = patchForm('input');

/** The format of hooks for Cline: a program for each event, whose answer may end the task. */
export const cline: Dialect = {
  ...common,
  refuses: ['continue', 'suppressOutput', 'systemMessage'],
  agent: 'Cline',
  refusal: (reason) => ({ cancel: true, errorMessage: reason }),
  settings: {
    files: ['.clinerules/hooks'],
    userFiles: ['Documents/Cline/Hooks'],
    foundBy: ['.clinerules', '.cline', 'Documents/Cline'],
    form: 'programs',
    pluginFiles: [],
    notRead: 'nothing else',
  },
  isSender: ({ clineVersion: version, taskId: id }) =>
    typeof version === 'string' && typeof id === 'string',
  events: [
    {
      event: BeforeTool,
      name: 'PreToolUse',
      sentAs: 'tool_call',
      fields: CALL,
      read: readCancel,
      answer: { ...CANCEL, input: 'overrideInput' },
    },
    {
      event: AfterTool,
      name: 'PostToolUse',
      sentAs: 'tool_result',
      fields: RESULT,
      read: readCancel,
      answer: {
        words: { stop: true },
        decision: 'cancel',
        reason: 'errorMessage',
        blockIsContext: true,
        context: 'contextModification',
      },
    },
    {
      event: BeforeAgent,
      name: 'UserPromptSubmit',
      sentAs: 'prompt_submit',
      fields: [['prompt', 'userPromptSubmit.prompt']],
      read: readCancel,
      answer: CANCEL,
    },
    {
      event: SessionStart,
      name: 'TaskStart',
      sentAs: 'agent_start',
      fields: [],
      read: readCancel,
      answer: { context: 'contextModification' },
    },
    { event: AfterAgent, name: 'TaskComplete', sentAs: 'agent_end', fields: [] },
    {
      event: ModelError,
      name: 'TaskError',
      sentAs: 'agent_error',
      fields: ['error'],
      toOurs: errorFields,
    },
  ],
  // All that tells a sub-agent is who has started it.
  sentOnly: [
    {
      event: SubagentStart,
      name: HELPERS.agent_start,
      fields: HELPER,
      read: readCancel,
      answer: {},
    },
    {
      event: SubagentStop,
      name: HELPERS.agent_end,
      fields: [...HELPER, ['prompt_response', 'turn.outputText']],
    },
  ],
  eventName: ({ hookName, ...fields }) =>
    isHelper(fields) ? HELPERS[hookName as keyof typeof HELPERS] : undefined,
  isHelper,
  otherEvents: ['agent_resume', 'agent_abort', 'pre_compact', 'session_shutdown'],
  common: [['hook_event_name', 'hookName'], ['session_id', 'taskId'], 'timestamp', 'agent_id'],
  tools: [
    { ours: 'run_shell_command', theirs: ['run_commands'], form: commands },
    { ours: 'write_file', theirs: ['editor'], form: edit },
    { ours: 'replace', theirs: ['editor'], form: edit },
    { ours: 'write_file', theirs: ['apply_patch'], form: patches },
    { ours: 'read_file', theirs: ['read_files'], form: files },
  ],
  denies: () => false,
};

function isHelper({ parent_agent_id: parent }: Fields): boolean {
  return typeof parent === 'string';
}

function readCancel({ cancel, errorMessage: reason, contextModification, overrideInput }: Fields) {
  const context = textOf(contextModification);
  const specific = {
    ...(context !== '' && { additionalContext: context }),
    ...(overrideInput !== undefined && { tool_input: overrideInput }),
  };
  const isCancelled = cancel === true && { continue: false, stopReason: reason };
  return { output: { ...isCancelled, hookSpecificOutput: specific } } satisfies DialectAnswer;
}
