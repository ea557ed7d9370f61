import { isBlocking } from '../protocol/hookOutput.js';
import { defaultHookTranslator } from '../protocol/hookTranslator.js';
import { withAllowedNames, withToolNames } from '../protocol/renameTools.js';
import { HookEventName } from '../protocol/types.js';
import { isRecord } from '../util/records.js';
import type { AnswerWords, Dialect, DialectAnswer, Fields, MatcherReading } from './dialect.js';
import {
  readCommonFields,
  readReplacement,
  recordOf,
  resultOfText,
  textOf,
  valueAt,
} from './answers.js';
import type { ReplyVerdict } from '../protocol/received.js';
import { theirToolNames } from './translate.js';

const { BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeToolSelection } = HookEventName;
const { BeforeAgent, AfterAgent, SessionStart, SessionEnd, PreCompress, Notification } =
  HookEventName;

const CONTEXT = 'hookSpecificOutput.additionalContext';
const RESPONSE = 'hookSpecificOutput.llm_response';
const REFUSAL = { block: 'deny', stop: 'deny' } as const;
const ADVICE: AnswerWords = { cannotStop: 'at this event, hooks cannot stop Gemini CLI' };

/** The format of hooks for Gemini CLI. Names and fields that are not here are ours. */
export const gemini: Dialect = {
  agent: 'Gemini CLI',
  settings: {
    files: ['.gemini/settings.json'],
    pluginFiles: ['hooks/hooks.json', '.gemini/extensions/*/hooks/hooks.json'],
    notRead: 'system settings, and hooks of installed extensions',
  },
  projectVariable: 'GEMINI_PROJECT_DIR',
  // Of an empty object it makes a choice of tools.
  isSilent: true,
  runsWhatIsNotOffered: true,
  // Nothing that it sends tells whether it was started with a prompt; then it puts a question to nobody, and waits.
  isAttended: ({ HOOKSTACK_PERSON: person, CI: isBuild }) => person === '1' && isBuild !== 'true',
  events: [
    {
      event: BeforeTool,
      name: 'BeforeTool',
      answer: {
        words: { ...REFUSAL, ask: 'ask' },
        contextWith: ['block', 'stop'],
        input: 'hookSpecificOutput.tool_input',
      },
    },
    {
      event: AfterTool,
      name: 'AfterTool',
      toResponse,
      read: readResult,
      // All versions know this one.
      answer: {
        blockIsContext: true,
        context: CONTEXT,
        replaced: (reason) => ({ decision: 'deny', reason }),
      },
    },
    {
      event: BeforeModel,
      name: 'BeforeModel',
      read: readModelAnswer,
      answer: { words: REFUSAL, more: requestOf },
    },
    {
      event: AfterModel,
      name: 'AfterModel',
      read: readModelVerdict,
      answer: { more: ({ changes }) => ({ [RESPONSE]: answerOf(changes?.['llm_response']) }) },
    },
    {
      event: BeforeToolSelection,
      name: 'BeforeToolSelection',
      answer: {
        cannotStop: 'BeforeToolSelection cannot stop Gemini CLI: all tools are switched off',
        more: selectionOf,
      },
    },
    { event: BeforeAgent, name: 'BeforeAgent', answer: { words: REFUSAL, context: CONTEXT } },
    { event: AfterAgent, name: 'AfterAgent', answer: { words: REFUSAL, contextWith: ['block'] } },
    { event: SessionStart, name: 'SessionStart', answer: { ...ADVICE, context: CONTEXT } },
    { event: SessionEnd, name: 'SessionEnd', answer: ADVICE },
    { event: PreCompress, name: 'PreCompress', answer: ADVICE },
    { event: Notification, name: 'Notification', answer: ADVICE },
  ],
  otherEvents: [],
  common: ['session_id', 'transcript_path', 'cwd', 'timestamp', 'hook_event_name'],
  // Hooks read the first name; the others are older.
  tools: [
    {
      ours: 'search_file_content',
      theirs: ['grep_search', 'search_file_content'],
      arguments: { path: 'dir_path', include: 'include_pattern' },
    },
    { ours: 'glob', theirs: ['glob'], arguments: { path: 'dir_path' } },
    { ours: 'list_directory', theirs: ['list_directory'], arguments: { path: 'dir_path' } },
    {
      ours: 'run_shell_command',
      theirs: ['run_shell_command'],
      arguments: { directory: 'dir_path' },
    },
    { ours: 'read_file', theirs: ['read_file'], hostArguments: { absolute_path: 'file_path' } },
  ],
  toolName: (fields) => {
    const { server_name: server, tool_name: tool } = recordOf(fields['mcp_context']);
    const isKnown = typeof server === 'string' && typeof tool === 'string' && server && tool;
    return isKnown ? `mcp__${server}__${tool}` : undefined;
  },
  mcpSeparator: '_',
  replacesArguments: false,
  subjects: {},
  timeoutUnit: { name: 'milliseconds', ms: 1 },
  defaultTimeoutMs: { otherwise: 60_000 },
  readMatcher,
  environment: ({ cwd, session_id }) => ({ GEMINI_CWD: cwd, GEMINI_SESSION_ID: session_id }),
  missingVariables: [],
  denies: (exitCode) => exitCode > 1,
  readsStderr: true,
  plainText: { otherwise: 'user' },
  unsupported: {
    'hookSpecificOutput.tailToolCallRequest': 'no further tool is called',
    'hookSpecificOutput.clearContext': 'the history stays as it is',
  },
};

function toResponse({ tool_response: response }: Fields): Record<string, unknown> {
  if (isRecord(response)) return { llmContent: '', returnDisplay: '', ...response };
  return resultOfText(textOf(response));
}

/** A refused result is hidden, and its reason is what the model reads. */
function readResult(said: Fields): DialectAnswer {
  const { decision, reason } = said;
  const answer = readCommonFields(said);
  if (isBlocking(decision)) return { ...answer, toolOutput: { value: reason, isDenial: true } };
  return readReplacement(said, 'hookSpecificOutput.tool_output');
}

/** In Gemini CLI an answer in place of the model's needs no block. */
function readModelAnswer(said: Fields): DialectAnswer {
  const { output, forUser } = readCommonFields(said);
  const isAnswered = Boolean(valueAt(said, RESPONSE));
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
  const end = { continue: false, stopReason: said['reason'] };
  return { ...answer, output: { ...answer.output, ...end }, theirNames: { stopReason: 'reason' } };
}

function requestOf({ kind, changes = {} }: ReplyVerdict): Fields {
  const isRefused = kind === 'block' || kind === 'stop';
  return isRefused
    ? { [RESPONSE]: answerOf(changes['llm_response']) }
    : { 'hookSpecificOutput.llm_request': withToolNames(changes['llm_request'], theirName) };
}

/** An answer in the form that it reads: with candidates, the first of which has a text. */
function answerOf(response: unknown): Record<string, unknown> | undefined {
  if (!isRecord(response)) return undefined;
  const described = defaultHookTranslator.fromHookLLMResponse(response);
  const { text: _text, ...answer } = defaultHookTranslator.toHookLLMResponse(described);
  const [first, ...others] = answer.candidates;
  const parts = first?.content.parts ?? [];
  const content = { role: 'model', parts: parts.length > 0 ? parts : [''] };
  return { ...answer, candidates: [{ finishReason: 'STOP', ...first, content }, ...others] };
}

function selectionOf({ kind, changes }: ReplyVerdict): Fields {
  const toolConfig = changes?.['toolConfig'];
  const allowed = isRecord(toolConfig) ? withAllowedNames(toolConfig, theirName) : undefined;
  return { 'hookSpecificOutput.toolConfig': kind === 'stop' ? { mode: 'NONE' } : allowed };
}

function theirName(name: string): string {
  return theirToolNames(gemini, name)[0];
}
