import type { GenerateContentResponse, Part } from '@google/genai';
import type { ModelTurn } from '../../core/modelCall.js';
import { answerParts, answerText } from '../../protocol/response.js';
import { isRecord } from '../../util/records.js';
import { markOf, refusalOf } from '../mark.js';
import { carrying, originOf, readArguments, toResponse } from '../translate.js';
import type { AnyPart, Generated } from './types.js';

const FINISH: Readonly<Record<string, string>> = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  'content-filter': 'SAFETY',
};

/** A tool call that the host is to run. */
export function isToolCall(
  part: AnyPart,
): part is AnyPart & { toolCallId: string; toolName: string } {
  return part.type === 'tool-call' && part.providerExecuted !== true;
}

/** What hooks see of parts of an answer. */
export function toGivenResponse(
  parts: readonly AnyPart[],
  end?: Pick<AnyPart, 'finishReason' | 'usage'>,
): GenerateContentResponse {
  const reason = isRecord(end?.finishReason) ? String(end.finishReason['unified']) : undefined;
  return toResponse(
    parts.length > 0 ? parts.map(toPart) : undefined,
    isRecord(end?.usage) ? toUsage(end.usage) : undefined,
    reason === undefined ? undefined : (FINISH[reason] ?? 'OTHER'),
  );
}

function toPart(part: AnyPart): Part {
  if (part.type === 'text-delta') return carrying({ text: String(part.delta) }, part);
  if (part.type === 'text') return carrying({ text: String(part.text) }, part);
  if (!isToolCall(part)) return carrying({}, part);
  const { toolCallId: id, toolName: name } = part;
  return carrying({ functionCall: { id, name, args: readArguments(part.input) ?? {} } }, part);
}

function toUsage({ inputTokens, outputTokens }: Record<string, unknown>) {
  const [input, output] = [totalOf(inputTokens), totalOf(outputTokens)];
  return { input, output, total: input + output };
}

function totalOf(tokens: unknown): number {
  return Number((isRecord(tokens) && tokens['total']) || 0);
}

/** Whether the answer is not the model's, or is not to be used. */
function isInstead({ synthetic, blocked }: ModelTurn): boolean {
  return synthetic || blocked;
}

/** The text to give where there is nothing of the model: that of a hook, or why there is none. */
export function textInstead(turn: ModelTurn): string {
  return answerText(turn.response) || (refusalOf(turn) ?? '');
}

/** What hooks can see of an answer, or what says nothing of it. */
function isSeen({ type }: AnyPart): boolean {
  return /^(?:text|stream-start|response-metadata|error|finish)/.test(type);
}

/**
 * The parts of the model's answer that are left, and whether its text is another one. Where hooks took anything of it
 * away, it might come back in what they could not see.
 */
export function leftOf(turn: ModelTurn, given: readonly AnyPart[], givenText: string) {
  const kept = new Set(answerParts(turn.response).map(originOf));
  const isStopped = turn.verdict.kind === 'stop';
  const text = answerText(turn.response);
  const isChanged = text !== givenText;
  const isKept = (part: AnyPart) => !isStopped && kept.has(part);
  const isTouched =
    isInstead(turn) || isStopped || isChanged || !given.filter(isToolCall).every(isKept);
  return {
    text,
    isChanged,
    isTouched,
    isLeft: (part: AnyPart) => (isToolCall(part) ? isKept(part) : !isTouched || isSeen(part)),
  };
}

/** How the answer ends. What is said of one that hooks have touched may quote it. */
export function endOf(
  turn: ModelTurn,
  { finishReason, providerMetadata }: Pick<AnyPart, 'finishReason' | 'providerMetadata'>,
  isTouched: boolean,
) {
  const { verdict } = turn;
  const own = !isTouched && isRecord(providerMetadata) ? providerMetadata : undefined;
  if (verdict.kind === 'allow') return { finishReason, providerMetadata: own };
  const { kind } = verdict;
  return {
    finishReason: {
      unified: kind === 'stop' || turn.synthetic ? 'stop' : 'other',
      raw: `${kind} by hooks`,
    },
    providerMetadata: { ...own, hookstack: markOf(turn) },
  };
}

export const NO_ANSWER: Generated = {
  content: [],
  finishReason: { unified: 'stop', raw: undefined },
  usage: {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  },
  warnings: [],
};

/** What the host gets of an answer that came in one piece. */
export function toGenerated(turn: ModelTurn, given: Generated = NO_ANSWER): Generated {
  const { isChanged, isTouched, isLeft } = leftOf(turn, given.content, textOf(given.content));
  const { body: _, ...response } = given.response ?? {};
  const end = {
    ...endOf(turn, given, isTouched),
    ...(isTouched && given.response && { response }),
  };
  if (isInstead(turn)) {
    return { ...given, ...end, content: [{ type: 'text', text: textInstead(turn) }] };
  }
  const content = isChanged
    ? answerParts(turn.response).flatMap((part) => toGivenPart(part))
    : given.content;
  return { ...given, ...end, content: content.filter(isLeft) };
}

export function textOf(parts: readonly AnyPart[]): string {
  return parts.map(({ type, text }) => (type === 'text' ? String(text) : '')).join('');
}

function toGivenPart(part: Part): AnyPart[] {
  const origin = originOf(part) as AnyPart | undefined;
  if (part.text === undefined || part.text === origin?.text) return origin ? [origin] : [];
  return [{ type: 'text', text: part.text }];
}
