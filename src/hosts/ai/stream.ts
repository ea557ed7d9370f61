import type { GenerateContentResponse } from '@google/genai';
import type { ModelTurn } from '../../core/modelCall.js';
import { answerText } from '../../protocol/response.js';
import { carrying, originOf } from '../translate.js';
import { endOf, isToolCall, leftOf, NO_ANSWER, textInstead, toGivenResponse } from './answer.js';
import { marked, type CallMark } from './memory.js';
import type { AnyPart } from './types.js';

/** Turns the model's stream into chunks that hooks understand, and notes what came. */
export async function* toChunks(
  stream: ReadableStream<AnyPart>,
  came: AnyPart[],
): AsyncGenerator<GenerateContentResponse> {
  for await (const part of stream) {
    came.push(part);
    const parts = part.type === 'text-delta' || isToolCall(part) ? [part] : [];
    yield carrying(toGivenResponse(parts, part.type === 'finish' ? part : undefined), part);
  }
}

type Turn = AsyncGenerator<GenerateContentResponse, ModelTurn, undefined>;

/**
 * The stream for the host. Text passes as it comes. Tool calls wait for the end of the answer, with what comes behind them,
 * because the host runs them at once, and hooks may still drop them.
 *
 * @param first what the turn gave first
 * @param onEnd is told how the call ended, and whether text was shown that a hook has changed since; gives what calls of
 *   tools are to carry
 */
export async function* toStream(
  turn: Turn,
  first: Promise<IteratorResult<GenerateContentResponse, ModelTurn>>,
  signal: AbortSignal | undefined,
  came: readonly AnyPart[],
  onEnd: (turn: ModelTurn, isShownUnchanged: boolean) => CallMark | undefined,
): AsyncGenerator<AnyPart> {
  const shown = new Set<AnyPart>();
  let text = '';
  let isWaiting = false;
  let step: Awaited<typeof first> | undefined;
  try {
    for (step = await first; !step.done; step = await turn.next()) {
      const part = originOf(step.value) as AnyPart | undefined;
      if (!part) continue;
      isWaiting ||= isToolCall(part) || part.type === 'finish';
      if (isWaiting) continue;
      shown.add(part);
      if (part.type !== 'text-delta') yield part;
      else {
        const delta = answerText(step.value);
        text += delta;
        yield { ...part, delta };
      }
    }
  } catch (error) {
    throw signal?.aborted && error === signal.reason ? toAbortError(error) : error;
  } finally {
    if (!step?.done) await turn.return(undefined as never);
  }
  const ended = step.value;
  const mark = onEnd(ended, text !== '' && text !== answerText(ended.response));
  for (const part of restOf(ended, came, shown, text)) yield marked(part, mark);
}

/** The host knows an abort by the name of the error, whatever reason its caller gave. */
function toAbortError(error: unknown): unknown {
  const isKnown = error instanceof Error && /^(?:AbortError|TimeoutError)$/.test(error.name);
  return isKnown ? error : new DOMException(String(error), 'AbortError');
}

function* restOf(
  turn: ModelTurn,
  came: readonly AnyPart[],
  shown: ReadonlySet<AnyPart>,
  shownText: string,
): Generator<AnyPart> {
  const left = leftOf(turn, came, came.map(deltaOf).join(''));
  const isInstead = turn.synthetic || turn.blocked;
  const text = isInstead ? textInstead(turn) : left.text;
  // What was shown cannot be taken back.
  const isNew = shownText === '' && (isInstead || left.isChanged);
  if (came.length === 0) yield { type: 'stream-start', warnings: [] } as AnyPart;
  let isPending = isNew && text !== '';
  for (const part of came) {
    if (shown.has(part) || part.type === 'finish' || !left.isLeft(part)) continue;
    const isText = part.type.startsWith('text-');
    if (isPending && (isText || isToolCall(part))) {
      isPending = false;
      yield* textBlock(text);
    }
    if (!isNew || !isText) yield part;
  }
  if (isPending) yield* textBlock(text);
  const finish = came.find(({ type }) => type === 'finish');
  const { finishReason, usage } = NO_ANSWER;
  const last = finish ?? { type: 'finish', finishReason, usage };
  if (finish || isInstead) yield { ...last, ...endOf(turn, last, left.isTouched) };
}

function deltaOf({ type, delta }: AnyPart): string {
  return type === 'text-delta' ? String(delta) : '';
}

function* textBlock(delta: string): Generator<AnyPart> {
  const id = 'hookstack';
  yield { type: 'text-start', id };
  yield { type: 'text-delta', id, delta };
  yield { type: 'text-end', id };
}
