import type { ModelRequest } from '@openai/agents';
import { toGenerated as generatedOf } from './aiHarness.js';
import { mockModel as scripted } from './openaiHarness.js';

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: object;
}

function answerOf(calls: readonly Call[]) {
  const text = calls.length === 0 ? 'Done.' : '';
  return {
    text,
    chunks: ReadableStream.from([text]),
    calls: calls.map((call) => ({ ...call, args: { ...call.args } })),
  };
}

/** An answer of a model of the AI SDK: these calls, or without one a text. */
export function toGenerated(calls: readonly Call[]) {
  return generatedOf(answerOf(calls));
}

/** A model of the OpenAI Agents SDK that makes these calls, and is done then. */
export function mockModel(calls: readonly Call[]) {
  const requests: ModelRequest[] = [];
  const left = calls.length > 0 ? [calls] : [];
  const model = scripted((request) => {
    requests.push(request);
    return answerOf(left.shift() ?? []);
  });
  return { model, requests };
}
