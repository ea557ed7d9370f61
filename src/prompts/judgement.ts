import { events } from '../protocol/events.js';
import { parseAnswer } from '../protocol/readHookOutput.js';
import type { HookEventName } from '../protocol/types.js';

/** Characters of each text of an answer. */
const MAX_TEXT = 4_000;

const DECISIONS: Readonly<Record<string, 'allow' | 'ask' | 'deny'>> = {
  allow: 'allow',
  approve: 'allow',
  ask: 'ask',
  deny: 'deny',
  block: 'deny',
};

/**
 * Reads what a model answered, as what a hook prints. An `allow` is no decision, so that a model never lets pass what
 * somebody else would ask about. A question where nobody can be asked is a denial.
 *
 * @throws Error that says what is wrong with the answer
 */
export function readJudgement(text: string, event: HookEventName): string {
  const answer = parseAnswer(withoutCodeFence(text.trim()));
  if (!answer) throw new Error(`it answered no JSON object: ${shown(text)}`);
  const { reason, additionalContext } = answer;
  const decision = decisionIn(answer);
  for (const [name, value] of Object.entries({ reason, additionalContext })) {
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw new Error(`it answered a "${name}" that is no text: ${shown(text)}`);
  }
  const { canAsk = false, answers } = events[event];
  const heard = decision === 'ask' && !canAsk ? 'deny' : decision;
  const objects = heard === 'ask' || heard === 'deny';
  const context = 'additionalContext' in answers ? cut(additionalContext) : undefined;
  return JSON.stringify({
    ...(objects && { decision: heard, reason: cut(reason) ?? 'The model gave no reason' }),
    ...(context !== undefined && {
      hookSpecificOutput: { hookEventName: event, additionalContext: context },
    }),
  });
}

/** In our words, or in those of Claude Code's prompts: `{ "ok": true }`. */
function decisionIn(answer: Record<string, unknown>): 'allow' | 'ask' | 'deny' | undefined {
  const { decision, ok } = answer;
  if (decision === undefined && typeof ok === 'boolean') return ok ? 'allow' : 'deny';
  if (decision === undefined && typeof answer['additionalContext'] === 'string') return undefined;
  const known =
    typeof decision === 'string' && Object.hasOwn(DECISIONS, decision) && DECISIONS[decision];
  if (known) return known;
  throw new Error('it answered no "decision" of "allow", "ask" and "deny"');
}

/** Models like to put JSON between such lines. */
function withoutCodeFence(text: string): string {
  return /^```(?:json)?\s*\n([^]*)\n```$/u.exec(text)?.[1] ?? text;
}

function cut(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, MAX_TEXT) : undefined;
}

function shown(text: string): string {
  const short = text.trim().slice(0, 200);
  return JSON.stringify(short);
}
