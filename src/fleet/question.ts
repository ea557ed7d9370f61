import type { DialectName } from '../protocol/types.js';
import { randomUUID } from 'node:crypto';
import { orUndefined } from '../util/paths.js';

/**
 * What stands around the JSON of an event on its way to a policy server, as headers of HTTP and of NATS. Times are
 * lengths and no clock times, so that no two clocks have to agree.
 */
export const HEADERS = {
  /** Names the question: the mark of its answer repeats it, and a server that is asked it again says the same. */
  question: 'Hookstack-Question',
  /** The protocol that the asker reads. Who says nothing of it is none of ours. */
  version: 'Hookstack-Version',
  /** Ms that the asker waits, from when he sent it. */
  timeout: 'Hookstack-Timeout',
  /** The span of the hook that asks: what the server does is a part of it. */
  span: 'Hookstack-Span',
  /** The trace of that span, as W3C has it. Who stands between the two may have put a span of its own into it. */
  trace: 'traceparent',
  /** The model's id of the tool call. */
  call: 'Hookstack-Call',
  /** Over NATS: `claude` where the JSON is that agent's. Over HTTP the path says so. */
  format: 'Hookstack-Format',
  /** Over NATS: the status that HTTP would have; its absence is 200. */
  status: 'Hookstack-Status',
} as const;

/** The protocol of questions and answers. One that the other side has to know is a new version. */
export const PROTOCOL_VERSION = 1;

/**
 * Where one server takes questions.
 *
 * @param server default: all, each of which says there whether it has the question with that id
 */
export function directSubject(server: string | undefined, who: string): string {
  return `hooks.at.${server ?? '_'}.${who}`;
}

/** Where an answer is marked as one. */
export const NOTE_KEY = 'hookstack';

/** A question on its way. */
export interface Question {
  readonly id: string;
  readonly timeoutMs: number;
  readonly span?: string;
  /** 32 hexadecimal digits. */
  readonly trace?: string;
  readonly call?: string;
  /** Whether the asker reads marks, as agents do that run this library. */
  readonly readsMarks?: boolean;
}

/** Files of TLS, in PEM. */
export interface TlsFiles {
  /** Whom to believe. Default: whom the system believes. */
  readonly caFile?: string | undefined;
  /** A certificate of one's own, and its key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** What is put to a server, in whose name, and for how long. */
export interface Asking {
  readonly body: Uint8Array;
  readonly question: Question;
  readonly secret?: string | undefined;
  readonly tls: TlsFiles;
  /** More headers of HTTP. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Over NATS, the agent in whose format the body is, where it is another one. */
  readonly format?: DialectName;
  /** Bytes of the answer to keep. */
  readonly maxAnswerBytes: number;
  /** Whether the server may be one for another agent, which marks no answer. */
  readonly mayBeUnmarked?: boolean;
  /** Aborts at the deadline, and when the answer is not wanted any more. */
  readonly signal: AbortSignal;
}

/** What a policy server says: the status that HTTP has, or would have, and the JSON. */
export interface FleetAnswer {
  readonly status: number;
  readonly text: string;
  /** Whether some of the text was dropped, as it was too long. */
  readonly isCut?: boolean;
}

/** Why a question has no answer, in words that complete "The hook …". */
export class QuestionFailed extends Error {
  override readonly name = 'QuestionFailed';

  /** What to do about it, where that is known. */
  readonly advice: string | undefined;

  /** @param isUnasked whether nobody can have answered, so that it may be asked again */
  constructor(
    message: string,
    readonly isUnasked: boolean,
    { advice, ...options }: ErrorOptions & { readonly advice?: string | undefined } = {},
  ) {
    super(message, options);
    this.advice = advice;
  }
}

/** Rejects with the reason of a signal, once that aborts. */
export function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** There was no answer in time. */
export class QuestionLate extends QuestionFailed {}

export function newQuestionId(): string {
  return randomUUID();
}

/** No question to hooks takes longer, in ms, whatever it says: as long as agents wait for a hook. */
const LONGEST_MS = 600_000;

/** Reads what stands around a question. What is missing or malformed is made up, as any program may ask. */
export function readQuestion(
  header: (name: string) => string | undefined,
  longestMs = LONGEST_MS,
): Question {
  const id = header(HEADERS.question);
  const timeout = Number(header(HEADERS.timeout) ?? '');
  const span = header(HEADERS.span);
  const trace = TRACE.exec(header(HEADERS.trace) ?? '')?.[1];
  // Headers carry ASCII.
  const written = header(HEADERS.call);
  const call = written && orUndefined(() => decodeURIComponent(written));
  return {
    id: id !== undefined && ID.test(id) ? id : newQuestionId(),
    timeoutMs: timeout > 0 ? Math.min(timeout, longestMs) : longestMs,
    ...(span !== undefined && SPAN.test(span) && { span }),
    ...(trace !== undefined && { trace }),
    ...(call !== undefined && call.length <= 256 && { call }),
    ...(header(HEADERS.version) !== undefined && { readsMarks: true }),
  };
}

const ID = /^[A-Za-z0-9_-]{1,64}$/u;
const SPAN = /^[0-9a-f]{16}$/u;
const TRACE = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-/u;

export function headersOf({ id, timeoutMs, span, trace, call }: Question): Record<string, string> {
  return {
    [HEADERS.question]: id,
    [HEADERS.version]: String(PROTOCOL_VERSION),
    [HEADERS.timeout]: String(Math.max(1, Math.round(timeoutMs))),
    ...(span !== undefined && { [HEADERS.span]: span }),
    ...(span !== undefined && trace !== undefined && { [HEADERS.trace]: `00-${trace}-${span}-01` }),
    ...(call !== undefined && { [HEADERS.call]: encodeURIComponent(call) }),
  };
}
