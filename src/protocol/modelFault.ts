import { count, expecting, text } from '../util/checks.js';
import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';

/** Why a model call failed, as hooks read it. */
export interface ModelFault {
  readonly message: string;
  /** The HTTP status, where there was one. */
  readonly status?: number;
  /** The code of the error, such as `ECONNRESET`, where it has one. */
  readonly code?: string;
}

export const modelFault = expecting<ModelFault>(
  'an object with "message" (a string), and perhaps "status" (a whole number) and "code" (a string)',
  (value) =>
    isRecord(value) &&
    text.is(value['message']) &&
    count.is(value['status'] ?? 0) &&
    text.is(value['code'] ?? ''),
  {
    type: 'object',
    properties: { message: text.schema, status: count.schema, code: text.schema },
    required: ['message'],
  },
);

/** What hooks read of an error that a model call has thrown. Never throws. */
export function toModelFault(error: unknown): ModelFault {
  const message = errorMessage(error);
  try {
    const { status, code, cause } = error as { status?: unknown; code?: unknown; cause?: unknown };
    // `fetch` says what happened in the cause alone.
    const inner = code ?? (isRecord(cause) || cause instanceof Error ? codeOf(cause) : undefined);
    return {
      message,
      ...(count.is(status) && { status }),
      ...(text.is(inner) && { code: inner }),
    };
  } catch {
    return { message };
  }
}

function codeOf(cause: object): unknown {
  return (cause as { code?: unknown }).code;
}
