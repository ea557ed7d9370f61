import { attempt } from './envelopes.js';

/** Where the fields that every script reads come from; usually the `Config`. */
export interface SessionFacts {
  getSessionId(): string;
  getWorkingDir(): string;
  getTranscriptPath?(): string | undefined;
}

/** The session's id; empty where the host cannot tell it, which keeps nobody from their work. */
export function sessionIdOf(session: SessionFacts): string {
  return attempt(() => session.getSessionId(), '');
}

/** Where the transcript is; `undefined` where there is none, or the host cannot tell. */
export function transcriptPathOf(session: SessionFacts): string | undefined {
  return attempt(() => session.getTranscriptPath?.(), undefined);
}
