import { anyObject, expecting, text } from '../util/checks.js';
import { isRecord } from '../util/records.js';

/** One tool call of a model's answer that has come to its end, as hooks read it. */
export interface BatchedCall {
  readonly tool_name: string;
  readonly tool_input: Readonly<Record<string, unknown>>;
  /** What the model reads of it, also where the tool did not run: then with an `error`. */
  readonly tool_response: Readonly<Record<string, unknown>>;
  /** The model's id of the call, where the host knows it. */
  readonly call_id?: string;
}

export const batchedCalls = expecting<readonly BatchedCall[]>(
  'an array of calls, each with "tool_name", "tool_input" and "tool_response"',
  (value) => Array.isArray(value) && value.every(isBatchedCall),
  {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        tool_name: text.schema,
        tool_input: anyObject.schema,
        tool_response: anyObject.schema,
        call_id: text.schema,
      },
      required: ['tool_name', 'tool_input', 'tool_response'],
    },
  },
);

function isBatchedCall(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { tool_name: name, tool_input: input, tool_response: response, call_id: id } = value;
  const hasId = id === undefined || text.is(id);
  return hasId && text.is(name) && isRecord(input) && isRecord(response);
}
