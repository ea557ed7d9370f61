import { DEFAULT_BLOCK_REASON, DEFAULT_STOP_REASON } from '../protocol/hookOutput.js';
import type { Fields } from './dialect.js';
import type { ReplyVerdict } from './reverseTypes.js';

/** The end of the agent; nothing for every other verdict. */
export function stop({ kind, reason }: ReplyVerdict): Record<string, unknown> {
  return kind === 'stop' ? { continue: false, stopReason: reason ?? DEFAULT_STOP_REASON } : {};
}

export function reasonOf({ reason = DEFAULT_BLOCK_REASON }: ReplyVerdict): string {
  return reason;
}

/** All that the model is to read, as one text. */
export function contextOf({ context = [] }: Pick<ReplyVerdict, 'context'>): string | undefined {
  return context.length > 0 ? context.join('\n\n') : undefined;
}

/** For events whose answers hold no text for the model. */
export function lostContext({ context = [] }: ReplyVerdict): readonly string[] {
  return context.length > 0 ? ['the model reads nothing of hooks at this event'] : [];
}

/** `hookSpecificOutput`, where one of its fields is there. */
export function withSpecific(hookEventName: string, fields: Fields): Record<string, unknown> {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (known.length === 0) return {};
  return { hookSpecificOutput: { hookEventName, ...Object.fromEntries(known) } };
}
