import {
  array,
  enums,
  integer,
  is,
  object,
  optional,
  record,
  size,
  string,
  type,
  unknown,
  validate,
} from 'superstruct';
import type { Infer } from 'superstruct';
import { MAX_TIMEOUT_MS } from '../process/command/limits.js';
import { errorMessage } from '../util/errorMessage.js';
import { readText as readFileText, reasonOf } from '../util/guardedRead.js';

export type RecordedMethod = 'generateContentStream' | 'generateContent';

/** `code` is the HTTP status, 400 to 599. */
export type GeminiError = Infer<typeof geminiError>;

export interface RecordedCall {
  readonly method: RecordedMethod;
  /** From 1. */
  readonly line: number;
  /** Of `generateContent`, its one response; empty where `error` is present. */
  readonly chunks: readonly Readonly<Record<string, unknown>>[];
  readonly error?: GeminiError;
  /** Before each chunk, or before the error. */
  readonly delayMs: number;
  /** The number of chunks after which the connection breaks. */
  readonly abortAfter?: number;
}

/**
 * Reads a file of recorded model calls: one JSON object a line, empty lines skipped.
 *
 * A line is `{"method": "generateContentStream", "response": [chunk, …]}` or
 * `{"method": "generateContent", "response": {…}}`; a call that failed has
 * `"error": {"code": 503, "message": "…", "status": "UNAVAILABLE"}` in place of `response`. Optional keys:
 * `"delayMs"`, and `"abortAfter"`, a number of chunks (only 0 for `generateContent`).
 *
 * @returns the calls in the order of the file
 * @throws Error that starts with `file:line:` for the first line that is none of the above, or with `file:`
 *   when the file cannot be read
 */
export async function readRecordedCalls(file: string): Promise<RecordedCall[]> {
  const text = await readText(file);
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((content, index) => ({ content, line: index + 1 }))
    .filter(({ content }) => content.trim() !== '')
    .map(({ content, line }) => parseCall(content, line, `${file}:${line}`));
}

/** Somebody has chosen it, and its lines may hold long conversations. */
const MAX_BYTES = 256 * 1024 * 1024;

const RESPONSE_SHAPES = {
  generateContentStream: 'an array of objects, one for each chunk',
  generateContent: 'one object',
} as const satisfies Record<RecordedMethod, string>;

const USAGE =
  'Write {"method": "generateContentStream", "response": [chunk, …]} or {"method": "generateContent", "response": {…}}, on one line.';

const chunkList = array(record(string(), unknown()));

// A real error has further keys, such as `details`; they are passed on as they are.
const geminiError = type({ code: size(integer(), 400, 599), message: string(), status: string() });

// Unknown keys are refused: a misspelt `delayMs` would otherwise be ignored silently.
const recordedLine = object({
  method: enums(['generateContentStream', 'generateContent']),
  response: optional(unknown()),
  error: optional(geminiError),
  delayMs: optional(size(integer(), 0, MAX_TIMEOUT_MS)),
  abortAfter: optional(size(integer(), 0, Number.MAX_SAFE_INTEGER)),
});

async function readText(file: string): Promise<string> {
  try {
    return await readFileText(file, { maxBytes: MAX_BYTES });
  } catch (cause) {
    throw new Error(
      `${file}: the recorded calls cannot be read (${reasonOf(cause)}). Name a file that exists and is readable.`,
      { cause },
    );
  }
}

function parseCall(content: string, line: number, place: string): RecordedCall {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new Error(`${place}: ${problem}`, cause === undefined ? undefined : { cause });
  };
  const [failure, entry] = validate(parseJson(content, refuse), recordedLine);
  if (failure) {
    const { type: kind, key, message } = failure;
    return refuse(`${kind === 'never' ? `unknown key "${String(key)}"` : message}. ${USAGE}`);
  }

  const { method, response, error, delayMs = 0, abortAfter } = entry;
  if ((response === undefined) === (error === undefined)) {
    return refuse('exactly one of "response" and "error" is needed. Remove or add one.');
  }
  const chunks = error ? [] : method === 'generateContent' ? [response] : response;
  if (!is(chunks, chunkList)) {
    return refuse(`"response" of ${method} must be ${RESPONSE_SHAPES[method]}. ${USAGE}`);
  }
  if (error && abortAfter !== undefined) {
    return refuse(
      '"abortAfter" breaks off a response, and this call has an "error" instead. Remove one.',
    );
  }
  const most = method === 'generateContent' ? 0 : chunks.length;
  if (abortAfter !== undefined && abortAfter > most) {
    return refuse(
      `"abortAfter" is ${abortAfter}, and this call can break off after ${most} chunks at most. Lower it.`,
    );
  }
  return {
    method,
    line,
    chunks,
    delayMs,
    ...(error && { error }),
    ...(abortAfter !== undefined && { abortAfter }),
  };
}

function parseJson(content: string, refuse: (problem: string, cause: unknown) => never): unknown {
  try {
    return JSON.parse(content);
  } catch (cause) {
    return refuse(`not JSON (${errorMessage(cause)}). ${USAGE}`, cause);
  }
}
