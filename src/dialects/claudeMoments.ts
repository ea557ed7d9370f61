import { isBlocking } from '../protocol/hookOutput.js';
import { readCommonFields, recordOf, textOf } from './answers.js';
import type { DialectAnswer, Fields } from './dialect.js';

/** Its words for what went wrong with a model call, by HTTP status; what is not here is `unknown`. */
const FAULTS: readonly (readonly [status: number, word: string])[] = [
  [400, 'invalid_request'],
  [401, 'authentication_failed'],
  [402, 'billing_error'],
  [404, 'model_not_found'],
  [429, 'rate_limit'],
  [500, 'server_error'],
  [529, 'overloaded'],
];

/** Its word for an error, by which its matchers choose. */
export function faultWord({ status = 0, code }: Fields): string {
  if (FAULTS.some(([, word]) => word === code)) return String(code);
  const found = FAULTS.find(([known]) => known === status)?.[1];
  return found ?? (Number(status) > 500 ? 'server_error' : 'unknown');
}

export function faultFields({ error }: Fields): Record<string, unknown> {
  const fault = recordOf(error);
  return { error: faultWord(fault), error_details: fault['message'] };
}

const UNTOLD = { model: '', messages: [] };

export function faultOf({ error, error_details: details, ...others }: Fields): Fields {
  const code = textOf(error);
  const message = textOf(details) || textOf(others['last_assistant_message']) || code;
  const [, told] = /^API Error: (\d{3})\b/.exec(message) ?? [];
  const status = told === undefined ? FAULTS.find(([, word]) => word === code)?.[0] : Number(told);
  return {
    llm_request: UNTOLD,
    error: {
      message: message || 'The model call has failed',
      ...(code !== '' && { code }),
      ...(status !== undefined && { status }),
    },
  };
}

/** The same of an error as JavaScript has it. */
export function errorFields({ error }: Fields): Fields {
  const message = textOf(recordOf(error)['message']) || 'The model call has failed';
  return { llm_request: UNTOLD, error: { message } };
}

/** The calls of a batch; the result of each is what the model reads. */
export function theirCalls({ tool_calls: calls }: Fields): Record<string, unknown> {
  const all = Array.isArray(calls) ? calls.map(recordOf) : [];
  return {
    tool_calls: all.map(({ call_id: tool_use_id, tool_response: response, ...call }) => ({
      ...call,
      tool_use_id,
      tool_response: recordOf(response)['llmContent'],
    })),
  };
}

/** Nothing comes of what hooks say, but for what the user reads. */
export function readNothing(said: Fields): DialectAnswer {
  return { output: {}, forUser: readCommonFields(said).forUser ?? [] };
}

export function readBatch(said: Fields): DialectAnswer {
  const { output, forUser } = readCommonFields(said);
  const { decision, reason, ...others } = output;
  if (!isBlocking(decision)) return { output, forUser };
  const end = { continue: false, stopReason: others['stopReason'] ?? reason };
  return { output: { ...others, ...end }, forUser, theirNames: { stopReason: 'reason' } };
}
