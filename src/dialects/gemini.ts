import type { HookEventName } from '../hooks/types.js';
import {
  readCommonFields,
  type Dialect,
  type DialectAnswer,
  type MatcherReading,
} from './dialect.js';

/** The format of hooks for Gemini CLI. Names and fields that are not here are ours. */
export const gemini: Dialect = {
  agent: 'Gemini CLI',
  events: {},
  tools: [{ ours: 'search_file_content', theirs: ['search_file_content', 'grep_search'] }],
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
  plainText: { otherwise: 'user' },
  answers: { AfterModel: readModelVerdict, otherwise: readCommonFields },
};

/** Only names of tools are matched by expressions; and what a notification is about, by nothing. */
function readMatcher(matcher: string, event: HookEventName): MatcherReading {
  const trimmed = matcher.trim();
  if (trimmed === '' || trimmed === '*' || event === 'Notification') return 'all';
  const isOfTool = event === 'BeforeTool' || event === 'AfterTool';
  return isOfTool ? { expression: trimmed, otherwise: 'itself' } : { names: [trimmed] };
}

/** A refused answer ends the turn and is dropped: what a stop means here. */
function readModelVerdict(said: Fields): DialectAnswer {
  const { output, forUser } = readCommonFields(said);
  const isRefused = output['decision'] === 'deny' || output['decision'] === 'block';
  const stop = isRefused ? { continue: false, stopReason: output['reason'] } : {};
  return { output: { ...output, ...stop }, forUser };
}

type Fields = Readonly<Record<string, unknown>>;
