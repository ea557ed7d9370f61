import type {
  Candidate,
  Content,
  FunctionCall,
  GenerateContentResponse,
  Part,
} from '@google/genai';
import { isRecord } from '../util/records.js';

/**
 * Makes a model response that did not come from the SDK as it is: a hook's answer, or the chunks of a stream put
 * together. It reads like one of the SDK's class, which is not imported, because loading the SDK takes longer than
 * everything else that this package loads.
 *
 * @param like responses that it takes the place of: where one of them is of the SDK's class, so is the new one
 */
export function createResponse(
  fields: Partial<GenerateContentResponse>,
  like: readonly unknown[] = [],
): GenerateContentResponse {
  const own = Object.getOwnPropertyDescriptors({ ...fields }) as PropertyDescriptorMap;
  // Otherwise `text` would be that of one chunk.
  for (const key of ACCESSORS) delete own[key];
  const prototypes: unknown[] = like.filter(isRecord).map((each) => Object.getPrototypeOf(each));
  const prototype = prototypes.find(isOfSdk) ?? ModelResponse.prototype;
  return Object.create(prototype, own) as GenerateContentResponse;
}

const ACCESSORS = ['text', 'data', 'functionCalls', 'executableCode', 'codeExecutionResult'];

/** By its accessors. Those of any other class may work on its own objects only. */
function isOfSdk(prototype: unknown): prototype is object {
  const isObject = typeof prototype === 'object' && prototype !== null;
  return isObject && ACCESSORS.every((key) => key in prototype);
}

class ModelResponse {
  declare candidates?: Candidate[];
  declare usageMetadata?: GenerateContentResponse['usageMetadata'];

  get text(): string | undefined {
    return answerParts(this).some(isAnswerText) ? answerText(this) : undefined;
  }

  get data(): string | undefined {
    const bytes = answerParts(this).map((part) => atob(part?.inlineData?.data ?? ''));
    return btoa(bytes.join('')) || undefined;
  }

  get functionCalls(): FunctionCall[] | undefined {
    const calls = functionCallsOf(this);
    return calls.length > 0 ? calls : undefined;
  }

  get executableCode(): string | undefined {
    return answerParts(this).find((part) => part?.executableCode)?.executableCode?.code;
  }

  get codeExecutionResult(): string | undefined {
    return answerParts(this).find((part) => part?.codeExecutionResult)?.codeExecutionResult?.output;
  }

  get initialPromptTokenCount(): number | undefined {
    return this.usageMetadata?.promptTokenCount;
  }
}

type HasCandidates = Pick<GenerateContentResponse, 'candidates'>;

/** What a chunk brings of answers. A stream may bring anything. */
export function candidatesOf({ candidates }: HasCandidates): Candidate[] {
  return Array.isArray(candidates) ? candidates.filter(isRecord) : [];
}

/** The parts of the answer. */
export function answerParts(response: HasCandidates): Part[] {
  return response.candidates?.[0]?.content?.parts ?? [];
}

/** The text of the answer itself, without thoughts; `''` where there is none. */
export function answerText(response: HasCandidates): string {
  const texts = answerParts(response).filter(isAnswerText);
  return texts.map((part) => part.text).join('');
}

export function functionCallsOf(response: HasCandidates): FunctionCall[] {
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
  for (const chunk of chunks.filter(isRecord)) {
    const { candidates: pieces, ...rest } = chunk;
    for (const [name, field] of Object.entries(definedFields(rest))) fields.set(name, field);
    for (const piece of candidatesOf({ candidates: pieces })) {
      const index = piece.index ?? 0;
      candidates.set(index, joinCandidates(candidates.get(index), piece));
    }
  }
  const ordered = [...candidates].toSorted(([a], [b]) => a - b);
  const joined = {
    ...Object.fromEntries(fields),
    candidates: ordered.map(([, candidate]) => candidate),
  };
  return createResponse(joined, chunks);
}

function joinCandidates(first: Candidate | undefined, piece: Candidate): Candidate {
  const parts = [...(first?.content?.parts ?? [])];
  for (const part of partsOf(piece.content)) {
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

/** The same of the parts of one. */
export function partsOf(content: Content | undefined): Part[] {
  return Array.isArray(content?.parts) ? content.parts : [];
}

function isPlainText(part: Part): part is { text: string } {
  return typeof part?.text === 'string' && Object.keys(part).length === 1;
}

function definedFields<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== undefined),
  ) as Partial<T>;
}
