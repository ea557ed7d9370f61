import type { Candidate, FunctionCall, GenerateContentResponse, Part } from '@google/genai';

/**
 * Makes a model response that did not come from the SDK: a hook's synthetic answer, or the chunks of a stream
 * put together. It has the accessors `text` and `functionCalls` of the SDK's class, which is not used here
 * because loading the SDK takes longer than everything else that this package loads.
 */
export function createResponse(fields: Partial<GenerateContentResponse>): GenerateContentResponse {
  return new ModelResponse(fields) as GenerateContentResponse;
}

class ModelResponse {
  declare candidates?: Candidate[];

  constructor({ text: _text, functionCalls: _calls, ...data }: Partial<GenerateContentResponse>) {
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(data));
  }

  get text(): string | undefined {
    return answerParts(this).some(isAnswerText) ? answerText(this) : undefined;
  }

  get functionCalls(): FunctionCall[] | undefined {
    const calls = functionCallsOf(this);
    return calls.length > 0 ? calls : undefined;
  }
}

export type Answer = Pick<GenerateContentResponse, 'candidates'>;

/** The parts of the answer. */
export function answerParts(response: Answer): Part[] {
  return response.candidates?.[0]?.content?.parts ?? [];
}

/** The text of the answer itself, without thoughts; `''` where there is none. */
export function answerText(response: Answer): string {
  const texts = answerParts(response).filter(isAnswerText);
  return texts.map((part) => part.text).join('');
}

export function functionCallsOf(response: Answer): FunctionCall[] {
  return answerParts(response).flatMap((part) => part?.functionCall ?? []);
}

/** Whether a part is text of the answer itself. Text marked as a thought is not. */
export function isAnswerText(part: Part): part is Part & { text: string } {
  return typeof part?.text === 'string' && !part.thought;
}

/** An answer of the model that consists of one text. */
export function textResponse(text: string): GenerateContentResponse {
  return createResponse({
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text }] },
        finishReason: 'STOP' as NonNullable<Candidate['finishReason']>,
      },
    ],
  });
}

/** An answer without any content, by which an agent can tell that the model produced no output. */
export function emptyResponse(): GenerateContentResponse {
  return createResponse({ candidates: [] });
}

/**
 * Puts the chunks of one stream together: parts in the order of arrival, neighbouring plain texts joined,
 * of every other field the last value that arrived.
 */
export function collectResponse(
  chunks: readonly GenerateContentResponse[],
): GenerateContentResponse {
  const fields = new Map<string, unknown>();
  const candidates = new Map<number, Candidate>();
  for (const chunk of chunks) {
    const { candidates: pieces, ...rest } = chunk;
    for (const [name, field] of Object.entries(definedFields(rest))) fields.set(name, field);
    for (const piece of pieces ?? []) {
      const index = piece.index ?? 0;
      candidates.set(index, joinCandidates(candidates.get(index), piece));
    }
  }
  const ordered = [...candidates.keys()].toSorted((a, b) => a - b);
  return createResponse({
    ...Object.fromEntries(fields),
    candidates: ordered.flatMap((index) => candidates.get(index) ?? []),
  });
}

function joinCandidates(first: Candidate | undefined, piece: Candidate): Candidate {
  const parts = [...(first?.content?.parts ?? [])];
  for (const part of piece.content?.parts ?? []) {
    const last = parts.at(-1);
    if (last && isPlainText(last) && isPlainText(part)) {
      parts[parts.length - 1] = { text: `${last.text}${part.text}` };
    } else {
      parts.push(part);
    }
  }
  return {
    ...first,
    ...definedFields(piece),
    content: {
      ...first?.content,
      ...definedFields(piece.content ?? {}),
      role: piece.content?.role ?? first?.content?.role ?? 'model',
      parts,
    },
  };
}

function isPlainText(part: Part): part is { text: string } {
  return typeof part?.text === 'string' && Object.keys(part).length === 1;
}

function definedFields<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== undefined),
  ) as Partial<T>;
}
