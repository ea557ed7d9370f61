import type { Decision } from '../context.js';
import { canPrevent, events } from '../protocol/events.js';
import type { ProcessedHookResult } from '../protocol/hookOutput.js';
import { asHookContext, asSystemNote } from '../protocol/llmContent.js';
import type { HookEventName } from '../protocol/types.js';

/** What hooks decided at an event that is about no single call. */
export interface EventVerdict {
  /** The agent is to end. */
  readonly stopped: Decision | null;
  /** A block that counts for this event. */
  readonly objection: Decision | null;
  /** For the model to read. */
  readonly notes: readonly string[];
}

/** @param fired `undefined` where no hook ran */
export function readVerdict(
  event: HookEventName,
  fired: ProcessedHookResult | undefined,
): EventVerdict {
  const { finalOutput: output, decidedBy: hooks } = fired?.aggregated ?? {};
  if (!fired || !output) return { stopped: null, objection: null, notes: [] };
  const by = { event, ...(hooks && { hooks }) };
  const reason = output.isBlockingDecision() ? output.getBlockReason() : undefined;
  const counts = reason !== undefined && canPrevent(event, output);
  const told = counts || !events[event].tellsBlock ? undefined : reason;
  const texts = [output.getAdditionalContext(), told].map((text) => text && asHookContext(text));
  const notes = [...texts, fired.systemMessage && asSystemNote(fired.systemMessage)];
  return {
    stopped: fired.shouldStop ? { ...by, reason: output.getStopReason() } : null,
    objection: counts ? { ...by, reason } : null,
    notes: notes.filter((note): note is string => Boolean(note)),
  };
}
