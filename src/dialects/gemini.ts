import { isBlocking } from '../protocol/hookOutput.js';
import type { HookEventName } from '../protocol/types.js';
import type { Dialect, DialectAnswer, Fields, MatcherReading } from './dialect.js';
import { readCommonFields, readObjection, specificFields } from './answers.js';

/** The format of hooks for Gemini CLI. Names and fields that are not here are ours. */
export const gemini: Dialect = {
  agent: 'Gemini CLI',
  settings: {
    files: ['.gemini/settings.json'],
    pluginFiles: ['hooks/hooks.json', '.gemini/extensions/*/hooks/hooks.json'],
    notRead: 'system settings, and hooks of installed extensions',
  },
  events: {},
  moments: {},
  // Hooks read the first name; the others are older.
  tools: [
    {
      ours: 'search_file_content',
      theirs: ['grep_search', 'search_file_content'],
      arguments: { path: 'dir_path', include: 'include_pattern' },
      own: ['path', 'include'],
    },
    { ours: 'glob', theirs: ['glob'], arguments: { path: 'dir_path' }, own: ['path'] },
    {
      ours: 'list_directory',
      theirs: ['list_directory'],
      arguments: { path: 'dir_path' },
      own: ['path'],
    },
    {
      ours: 'run_shell_command',
      theirs: ['run_shell_command'],
      arguments: { directory: 'dir_path' },
      own: ['directory'],
    },
    { ours: 'read_file', theirs: ['read_file'], arguments: { absolute_path: 'file_path' } },
  ],
  mcpSeparator: '_',
  replacesArguments: false,
  timeoutUnit: { name: 'milliseconds', ms: 1 },
  defaultTimeoutMs: { otherwise: 60_000 },
  readMatcher,
  subjects: {},
  environment: ({ cwd, session_id }) => ({ GEMINI_CWD: cwd, GEMINI_SESSION_ID: session_id }),
  commonInput: ({ session_id, transcript_path, cwd, timestamp }) => ({
    session_id,
    transcript_path,
    cwd,
    timestamp,
  }),
  missingVariables: [],
  eventInput: {},
  denies: (exitCode) => exitCode > 1,
  readsStderr: true,
  plainText: { otherwise: 'user' },
  answers: {
    BeforeTool: readCommonFields,
    AfterTool: readResultVerdict,
    BeforeModel: readModelAnswer,
    AfterModel: readModelVerdict,
    BeforeToolSelection: readAdvice,
    SessionStart: readAdvice,
    SessionEnd: readAdvice,
    PreCompress: readAdvice,
    Notification: readAdvice,
    otherwise: readCommonFields,
  },
  unsupported: {
    'hookSpecificOutput.tailToolCallRequest': 'no further tool is called',
    'hookSpecificOutput.clearContext': 'the history stays as it is',
  },
};

/** A refused result is hidden, and its reason is what the model reads. */
function readResultVerdict(said: Fields): DialectAnswer {
  const answer = readCommonFields(said);
  const { decision, reason } = said;
  if (isBlocking(decision)) return { ...answer, toolOutput: { value: reason, isDenial: true } };
  const { tool_output: value, ...specific } = specificFields(said);
  if (value === undefined || value === null) return answer;
  return {
    ...answer,
    output: { ...answer.output, hookSpecificOutput: specific },
    toolOutput: { value, isDenial: false },
  };
}

/** In Gemini CLI an answer in place of the model's needs no block. */
function readModelAnswer(said: Fields): DialectAnswer {
  const { output, forUser } = readCommonFields(said);
  const isAnswered = Boolean(specificFields(said)['llm_response']);
  return { output: isAnswered ? { ...output, decision: 'block' } : output, forUser };
}

/** Only the names of tools are matched with expressions, and a notification always matches. */
function readMatcher(matcher: string, event: HookEventName): MatcherReading {
  const trimmed = matcher.trim();
  if (trimmed === '' || trimmed === '*' || event === 'Notification') return 'all';
  const isOfTool = event === 'BeforeTool' || event === 'AfterTool';
  return isOfTool ? { expression: trimmed, otherwise: 'itself' } : { names: [trimmed] };
}

/** A refused answer is dropped and ends the turn, as a stop does here. */
function readModelVerdict(said: Fields): DialectAnswer {
  const answer = readCommonFields(said);
  if (!isBlocking(said['decision'])) return answer;
  const stop = { continue: false, stopReason: said['reason'] };
  return { ...answer, output: { ...answer.output, ...stop }, theirNames: { stopReason: 'reason' } };
}

/** Such an event cannot end the agent either. */
function readAdvice({ continue: _end, stopReason: _because, ...said }: Fields): DialectAnswer {
  return readObjection(said);
}
