import { readCommonFields, type Dialect, type DialectAnswer } from './dialect.js';

/** The format of hooks for Gemini CLI. Names and fields that are not here are ours. */
export const gemini: Dialect = {
  agent: 'Gemini CLI',
  events: {},
  moments: {},
  tools: [{ ours: 'search_file_content', theirs: ['search_file_content', 'grep_search'] }],
  timeoutUnit: { name: 'milliseconds', ms: 1 },
  matches: 'part',
  subjects: {},
  environment: ({ cwd, session_id }) => ({ GEMINI_CWD: cwd, GEMINI_SESSION_ID: session_id }),
  commonInput: ({ session_id, transcript_path, cwd, timestamp }) => ({
    session_id,
    transcript_path,
    cwd,
    timestamp,
  }),
  eventInput: {},
  plainText: { otherwise: 'user' },
  answers: { AfterModel: readModelVerdict, otherwise: readCommonFields },
};

/** A refused answer ends the turn and is dropped: what a stop means here. */
function readModelVerdict(said: Fields): DialectAnswer {
  const { output, forUser } = readCommonFields(said);
  const isRefused = output['decision'] === 'deny' || output['decision'] === 'block';
  const stop = isRefused ? { continue: false, stopReason: output['reason'] } : {};
  return { output: { ...output, ...stop }, forUser };
}

type Fields = Readonly<Record<string, unknown>>;
