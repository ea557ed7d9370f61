import { DEFAULT_BLOCK_REASON, DEFAULT_STOP_REASON } from '../protocol/hookOutput.js';
import type { AnswerWords, Dialect, Fields } from './dialect.js';
import type { Received, Reply, ReplyVerdict } from './received.js';
import { receivedArguments, replacementOf } from './translate.js';

/** The end of the agent; nothing for every other verdict. */
export function stop({ kind, reason }: ReplyVerdict): Record<string, unknown> {
  return kind === 'stop' ? { continue: false, stopReason: reason ?? DEFAULT_STOP_REASON } : {};
}

export function reasonOfVerdict({ reason = DEFAULT_BLOCK_REASON }: ReplyVerdict): string {
  return reason;
}

/** Puts a verdict where the agent reads it. */
export function writeAnswer(
  spoken: Dialect,
  words: AnswerWords,
  verdict: ReplyVerdict,
  received: Received,
): Reply {
  const objection =
    words.blockIsContext && verdict.kind === 'block' ? [reasonOfVerdict(verdict)] : [];
  const context = [...objection, ...(verdict.context ?? [])];
  const { input, output, refusal } = valuesOf(spoken, words, verdict, received);
  const said = { ...verdict, context, ...refusal };
  const { kind } = said;
  const { decision = 'decision', reason = 'reason', cannotStop } = words;
  const word = words.words?.[kind];
  const isWithReason = words.contextWith?.includes(kind) === true;
  const explained = [reasonOfVerdict(said), ...(isWithReason ? context : [])].join('\n\n');
  const allowed = words.explainsAllow ? said.reason : undefined;
  const json = placed(received.theirEvent, [
    ...Object.entries(cannotStop === undefined ? stop(said) : {}),
    [decision, word],
    [reason, word && (kind === 'allow' ? allowed : explained)],
    [words.end, kind === 'stop' || undefined],
    [words.input, input],
    [words.context, context.length > 0 ? context.join('\n\n') : undefined],
    [words.output, output],
    ...Object.entries(words.more?.(said) ?? {}),
  ]);
  const isUnread = context.length > 0 && words.context === undefined && !isWithReason;
  return {
    json,
    lost: [
      ...(kind === 'stop' && cannotStop !== undefined ? [cannotStop] : []),
      ...(isUnread ? ['the model reads nothing of hooks at this event'] : []),
      ...(refusal ? [refusal.reason] : []),
    ],
  };
}

/** The arguments and the result as the agent takes them, or what has to be said because it does not. */
function valuesOf(
  spoken: Dialect,
  words: AnswerWords,
  { kind, input, output: given }: ReplyVerdict,
  received: Received,
): {
  readonly input?: Fields | undefined;
  readonly output?: unknown;
  readonly refusal?: { readonly kind: 'block' | 'stop'; readonly reason: string };
} {
  const { agent, replacesArguments } = spoken;
  const output = given && words.output && replacementOf(spoken, received, given.text);
  if (given && output === undefined) {
    // What a hook wanted hidden must not be read, so that nothing but an end is left.
    const reason = `A hook replaced the result of a tool, and ${agent} cannot replace the result of this one, so it was stopped.`;
    return { refusal: { kind: 'stop', reason } };
  }
  if (!words.input || !input || kind === 'block' || kind === 'stop') return { output };
  const { needsDecision } = words;
  if (needsDecision !== undefined && !words.words?.[kind]) {
    return { refusal: { kind: 'block', reason: needsDecision } };
  }
  const { all, changed, dropped } = receivedArguments(spoken, received, input);
  if (replacesArguments) return { input: all };
  if (dropped.length > 0) {
    const reason = `A hook removed arguments (${dropped.join(', ')}), and ${agent} cannot remove any, so the tool was not run.`;
    return { refusal: { kind: 'block', reason } };
  }
  return { input: Object.keys(changed).length > 0 ? changed : undefined };
}

function placed(
  hookEventName: string,
  values: readonly (readonly [place: string | undefined, value: unknown])[],
): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const [place, value] of values) {
    if (place === undefined || value === undefined) continue;
    const names = place.split('.');
    const last = names.pop() ?? '';
    let inside = json;
    for (const name of names) {
      const fresh = name === 'hookSpecificOutput' ? { hookEventName } : {};
      inside = (inside[name] ??= fresh) as Record<string, unknown>;
    }
    inside[last] = value;
  }
  return json;
}
