import type { Content, Part } from '@google/genai';
// The types are the host's own.
// @ts-ignore
import type { LlmResponse } from '@google/adk';
import type { ModelTurn } from '../../core/modelCall.js';
import { isAnswerText } from '../../protocol/response.js';
import { markOf, refusalOf, type HooksMark, type Maybe } from '../mark.js';

/** What is left of an event beside its content, where hooks have changed the answer: all else may repeat it. */
const WITHOUT_WORDS = [
  'partial',
  'turnComplete',
  'interrupted',
  'errorCode',
  'errorMessage',
  'finishReason',
  'usageMetadata',
  'modelVersion',
  'interactionId',
  'liveSessionId',
] as const;

/**
 * What the host goes on with; `undefined` where hooks left the answer as it was given.
 *
 * @param isChanged hooks have changed it, or another piece of it
 */
export function toAnswer(
  turn: ModelTurn,
  given?: LlmResponse,
  isChanged = false,
): Maybe<LlmResponse> {
  const refusal = refusalOf(turn);
  const mark = markOf(turn);
  const content = refusal === undefined ? contentOf(turn) : textContent(refusal);
  if (!given) return { content, ...(mark && marked(mark)) };
  if (isChanged) {
    const parts = content.parts?.filter(isSeen) ?? [];
    return { ...withoutWords(given), content: { ...content, parts }, ...(mark && marked(mark)) };
  }
  return mark && { ...given, ...marked(mark, given) };
}

/** Whether hooks left the answer as it was given. */
export function isLeft(turn: ModelTurn, given: LlmResponse): boolean {
  const { parts: left = [] } = contentOf(turn);
  const before: readonly Part[] = given.content?.parts ?? [];
  const others = left.filter((part) => !isAnswerText(part));
  const othersBefore = before.filter((part) => !isAnswerText(part));
  return (
    refusalOf(turn) === undefined &&
    textIn(left) === textIn(before) &&
    others.length === othersBefore.length &&
    others.every((part, at) => part === othersBefore[at])
  );
}

/** An event without what may repeat an answer that hooks have changed, or not seen yet. */
export function withoutWords(given: LlmResponse): LlmResponse {
  const kept = WITHOUT_WORDS.flatMap((name) => {
    const value: unknown = given[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}

/** The answer by which a stopped agent ends. */
export function stopAnswer(reason: string): LlmResponse {
  return { content: textContent(reason), ...marked({ stopped: reason }) };
}

function marked(hookstack: HooksMark, given?: LlmResponse): Pick<LlmResponse, 'customMetadata'> {
  return { customMetadata: { ...given?.customMetadata, hookstack } };
}

/** Hooks read no thoughts, no output of code that the provider ran, and no speech. */
function isSeen(part: Part): boolean {
  const { thought, executableCode, codeExecutionResult, inlineData } = part;
  const isSpeech = inlineData?.mimeType?.startsWith('audio/') ?? false;
  return !thought && !executableCode && !codeExecutionResult && !isSpeech;
}

function textIn(parts: readonly Part[]): string {
  return parts
    .filter(isAnswerText)
    .map(({ text }) => text)
    .join('');
}

function contentOf({ response: { candidates } }: ModelTurn): Content {
  return candidates?.[0]?.content ?? { role: 'model', parts: [] };
}

function textContent(text: string): Content {
  return { role: 'model', parts: [{ text }] };
}
