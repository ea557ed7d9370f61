import { asHookContext, asSystemNote } from './llmContent.js';

/** What a hook said after nobody waited for it any more. */
export interface LateAnswer {
  readonly context?: string | undefined;
  /** Why it blocks, or stops; both come too late. */
  readonly reason?: string | undefined;
  readonly systemMessage?: string | undefined;
  /** Whether an agent that has finished is to go back to work with it. */
  readonly wakes: boolean;
}

/** What the model is to read, in the words of the hook. */
export function textsOf({ context, reason, systemMessage }: LateAnswer): readonly string[] {
  const note = systemMessage && asSystemNote(systemMessage);
  return [context, reason, note].filter((text): text is string => Boolean(text));
}

/** The same as our model reads all that hooks say: fenced. */
export function notesOf({ context, reason, systemMessage }: LateAnswer): readonly string[] {
  const fenced = [context, reason].filter(Boolean).map((text) => asHookContext(String(text)));
  return [...fenced, ...(systemMessage ? [asSystemNote(systemMessage)] : [])];
}
