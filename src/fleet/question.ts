import { randomUUID } from 'node:crypto';

/**
 * What stands around the JSON of an event on its way to a policy server, as headers of HTTP and of NATS. Times are
 * lengths and no clock times, so that no two clocks have to agree.
 */
export const HEADERS = {
  /** Names the question: the same one again gets the same answer. The answer repeats it. */
  question: 'Hookstack-Question',
  /** Ms that the asker waits, from when he sent it. */
  timeout: 'Hookstack-Timeout',
  /** The span of the hook that asks: what the server does is a part of it. */
  span: 'Hookstack-Span',
  /** The model's id of the tool call. */
  call: 'Hookstack-Call',
  /** Over NATS: `claude` where the JSON is that agent's. Over HTTP the path says so. */
  format: 'Hookstack-Format',
  /** Over NATS: the status that HTTP would have; its absence is 200. */
  status: 'Hookstack-Status',
} as const;

/** A question on its way. */
export interface Question {
  readonly id: string;
  readonly timeoutMs: number;
  readonly span?: string;
  readonly call?: string;
}

/** What a policy server answers to `POST /v1/events/<Event>`: what a hook prints on stdout, and this beside it. */
export interface FleetNote {
  /** Whether every hook of the server was healthy. */
  readonly success: boolean;
  /** Names of the hooks that decided so. */
  readonly decidedBy?: readonly string[];
  readonly hooks: readonly {
    readonly name: string;
    readonly success: boolean;
    readonly durationMs: number;
    readonly why?: string;
  }[];
  /** Effects that only hooks of other agents have. */
  readonly foreign?: object;
}

/** Where the note stands in an answer. */
export const NOTE_KEY = 'hookstack';

export function newQuestionId(): string {
  return randomUUID();
}

/** Reads what stands around a question. What is missing or malformed is made up, as any program may ask. */
export function readQuestion(
  header: (name: string) => string | undefined,
  longestMs: number,
): Question {
  const id = header(HEADERS.question);
  const timeout = Number(header(HEADERS.timeout) ?? '');
  const span = header(HEADERS.span);
  const call = decoded(header(HEADERS.call));
  return {
    id: id !== undefined && ID.test(id) ? id : newQuestionId(),
    timeoutMs: timeout > 0 ? Math.min(timeout, longestMs) : longestMs,
    ...(span !== undefined && SPAN.test(span) && { span }),
    ...(call !== undefined && call.length <= 256 && { call }),
  };
}

/** Headers carry ASCII. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const ID = /^[A-Za-z0-9_-]{1,64}$/u;
const SPAN = /^[0-9a-f]{16}$/u;

export function headersOf({ id, timeoutMs, span, call }: Question): Record<string, string> {
  return {
    [HEADERS.question]: id,
    [HEADERS.timeout]: String(Math.max(1, Math.round(timeoutMs))),
    ...(span !== undefined && { [HEADERS.span]: span }),
    ...(call !== undefined && { [HEADERS.call]: encodeURIComponent(call) }),
  };
}
