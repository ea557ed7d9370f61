import { setTimeout as delay } from 'node:timers/promises';
import type { GenerateContentParameters, GenerateContentResponse, Models } from '@google/genai';
import { createResponse } from '../protocol/response.js';
import { readRecordedCalls, type RecordedCall } from './recordedCalls.js';

/** A model that answers from a file, without a network. */
export interface RecordedModel {
  /** For `runAgent` and `GeminiChat`, in place of those of the SDK. */
  readonly models: Pick<Models, 'generateContentStream'>;
  /** What was asked, also what was refused, in order. */
  readonly requests: readonly GenerateContentParameters[];
  /** How many recorded calls have not been used. */
  readonly remaining: number;
}

/**
 * Makes a model that answers the n-th request with the n-th recorded call.
 *
 * A request is refused when the file has no call left, or records another method at this place; the recorded call is
 * then kept. A recorded error is thrown with its code as `status`, as the SDK does.
 *
 * @param file path of the recorded calls, one JSON object a line; `readRecordedCalls` says how they look
 * @throws Error that starts with `file:line:` or `file:` when the file is unreadable or not as expected
 */
export async function readRecordedModel(file: string): Promise<RecordedModel> {
  const calls = await readRecordedCalls(file);
  const requests: GenerateContentParameters[] = [];
  let used = 0;
  return {
    models: {
      async generateContentStream(request) {
        requests.push(request);
        const call = calls[used];
        if (call?.method !== 'generateContentStream') {
          const line = call?.line ?? (calls.at(-1)?.line ?? 0) + 1;
          throw new Error(`${file}:${line}: ${whyRefused(request, call, calls.length)}`);
        }
        used++;
        const signal = request.config?.abortSignal;
        if (call.error) {
          await delay(call.delayMs, undefined, { signal });
          const { message, code } = call.error;
          throw Object.assign(new Error(message), { name: 'ApiError', status: code });
        }
        return streamChunks(call, signal);
      },
    },
    requests,
    get remaining() {
      return calls.length - used;
    },
  };
}

function whyRefused(
  { model }: GenerateContentParameters,
  call: RecordedCall | undefined,
  count: number,
): string {
  const problem = call
    ? `${call.method} is recorded. Make the calls in the recorded order, or change this line.`
    : `all ${count} recorded calls are used. Record one more call here.`;
  return `generateContentStream of model ${model} was asked, but ${problem}`;
}

async function* streamChunks(
  { chunks, delayMs, abortAfter }: RecordedCall,
  signal: AbortSignal | undefined,
): AsyncGenerator<GenerateContentResponse> {
  for (const chunk of chunks.slice(0, abortAfter)) {
    // Waited for even when it is 0: over a network, each chunk comes for itself.
    await delay(delayMs, undefined, { signal });
    // Each answer is a new one, as hosts may change it.
    yield createResponse(structuredClone(chunk));
  }
  if (abortAfter !== undefined) {
    throw new Error(`The recorded stream breaks off after ${abortAfter} chunks ("abortAfter")`);
  }
}
