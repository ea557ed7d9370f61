import { DEFAULT_BLOCK_REASON, DEFAULT_STOP_REASON } from '../protocol/hookOutput.js';
import { SPECIFIC } from './answers.js';
import type { AnswerWords, Dialect, Fields } from './dialect.js';
import type { Received, Reply, ReplyVerdict } from './received.js';
import { receivedArguments, replacementOf } from './translate.js';

/** The end of the agent; nothing for every other verdict. */
export function stop({ kind, reason }: ReplyVerdict): Record<string, unknown> {
  return kind === 'stop' ? { continue: false, stopReason: reason ?? DEFAULT_STOP_REASON } : {};
}

export function reasonOf({ reason = DEFAULT_BLOCK_REASON }: ReplyVerdict): string {
  return reason;
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

/** Puts a verdict where the agent reads it. */
export function writeAnswer(
  spoken: Dialect,
  words: AnswerWords,
  verdict: ReplyVerdict,
  received: Received,
): Partial<Reply> {
  const context = [
    ...(words.blockIsContext && verdict.kind === 'block' ? [reasonOf(verdict)] : []),
    ...(verdict.context ?? []),
  ];
  const instead = (refusal: ReplyVerdict): Partial<Reply> => ({
    ...writeAnswer(spoken, words, refusal, received),
    lost: [reasonOf(refusal)],
  });
  const input = inputOf(spoken, words, verdict, received);
  if (typeof input === 'string') return instead({ kind: 'block', reason: input });
  const output =
    verdict.output && words.output && replacementOf(spoken, received, verdict.output.text);
  if (verdict.output && output === undefined) {
    // What a hook wanted hidden must not be read, so that nothing but an end is left.
    const reason = `A hook replaced the result of a tool, and ${spoken.agent} cannot replace the result of this one, so it was stopped.`;
    return instead({ kind: 'stop', reason, context });
  }
  return write(words, { ...verdict, context }, received.theirEvent, { input, output });
}

/** The arguments as the agent takes them, or why the tool must not run. */
function inputOf(
  spoken: Dialect,
  words: AnswerWords,
  { kind, input }: ReplyVerdict,
  received: Received,
): object | string | undefined {
  if (!words.input || !input || kind === 'block' || kind === 'stop') return undefined;
  const { all, changed, dropped } = receivedArguments(spoken, received, input);
  if (spoken.replacesArguments) return all;
  if (dropped.length > 0) {
    return `A hook removed arguments (${dropped.join(', ')}), and ${spoken.agent} cannot remove any, so the tool was not run.`;
  }
  return Object.keys(changed).length > 0 ? changed : undefined;
}

function write(
  words: AnswerWords,
  verdict: ReplyVerdict,
  theirEvent: string,
  { input, output }: { readonly input: unknown; readonly output: unknown },
): Reply {
  const { kind, context = [] } = verdict;
  const { decision = 'decision', reason = 'reason', cannotStop } = words;
  const word = words.words?.[kind];
  const isWithReason = words.contextWith?.includes(kind) === true;
  const explained = [reasonOf(verdict), ...(isWithReason ? context : [])].join('\n\n');
  const places = [
    [decision, word],
    [reason, word && (kind === 'allow' ? verdict.reason : explained)],
    [words.input, input],
    [words.context, context.length > 0 ? context.join('\n\n') : undefined],
    [words.output, output],
  ] as const;
  return {
    json: {
      ...(cannotStop === undefined && stop(verdict)),
      ...placed(theirEvent, places, words.specific?.(verdict)),
    },
    lost: [
      ...(kind === 'stop' && cannotStop !== undefined ? [cannotStop] : []),
      ...(words.context === undefined && !isWithReason ? lostContext(verdict) : []),
    ],
  };
}

function placed(
  theirEvent: string,
  places: readonly (readonly [place: string | undefined, value: unknown])[],
  specific: Fields = {},
): Record<string, unknown> {
  const top: Record<string, unknown> = {};
  const ofEvent: Record<string, unknown> = {};
  for (const [place, value] of places) {
    if (place === undefined || value === undefined) continue;
    if (place.startsWith(SPECIFIC)) ofEvent[place.slice(SPECIFIC.length)] = value;
    else top[place] = value;
  }
  return { ...top, ...withSpecific(theirEvent, { ...ofEvent, ...specific }) };
}
