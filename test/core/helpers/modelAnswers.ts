import type { Candidate, FunctionCall, Part } from '@google/genai';
import type { GeminiError } from '../../../src/agent/recordedCalls.js';

/** One answer of the recorded model, as a line of its file. */
export interface RecordedAnswer {
  readonly method: 'generateContentStream';
  readonly response?: readonly object[];
  readonly error?: GeminiError;
  readonly delayMs?: number;
  readonly abortAfter?: number;
}

/** One chunk of a stream. */
export function chunk(parts: readonly Part[], candidate: Partial<Candidate> = {}): object {
  return { candidates: [{ index: 0, content: { role: 'model', parts }, ...candidate }] };
}

/** A streamed answer. */
export function stream(...chunks: object[]): RecordedAnswer {
  return { method: 'generateContentStream', response: chunks };
}

/** A streamed answer of texts, one a chunk. */
export function reply(...texts: string[]): RecordedAnswer {
  return stream(...texts.map((text) => chunk([{ text }])));
}

/** A streamed answer of tool calls, all in one chunk. */
export function callTools(...calls: FunctionCall[]): RecordedAnswer {
  return stream(chunk(calls.map((functionCall) => ({ functionCall }))));
}

/** A failed call. */
export function failure(code: number, message: string): RecordedAnswer {
  return { method: 'generateContentStream', error: { code, message, status: 'UNAVAILABLE' } };
}
