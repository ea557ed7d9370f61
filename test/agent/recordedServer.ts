import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../src/util/errorMessage.js';
import {
  readRecordedCalls,
  type GeminiError,
  type RecordedCall,
  type RecordedMethod,
} from '../../src/agent/recordedCalls.js';

/** A request as it arrived at the model. */
export interface RecordedRequest {
  readonly method: RecordedMethod;
  /** The model's name in the request's path, without `models/`. */
  readonly model: string;
  /** The JSON body. */
  readonly body: unknown;
}

/** A running model that answers from a file. */
export interface RecordedModel {
  /** For `new GoogleGenAI({ apiKey, httpOptions: { baseUrl } })`. */
  readonly baseUrl: string;
  /** A key made for this model; whoever does not send it, such as another user of the machine, is refused. */
  readonly apiKey: string;
  /** The latest requests for recorded methods, also refused ones, in order of arrival: at most 64 MiB of bodies. */
  readonly requests: readonly RecordedRequest[];
  /** How many recorded calls have not been used. */
  readonly remaining: number;
  /** Stops the server, breaking streams that are still open. May be called again. */
  close(): Promise<void>;
}

/**
 * Starts a model that speaks the Gemini REST protocol on a free port of 127.0.0.1 and answers the n-th
 * request with the n-th recorded call. It does not keep the process alive.
 *
 * A request is refused with HTTP 400, which the SDK does not retry, when the file has no call left or
 * records another method at this place; the recorded call is then kept. Requests without the key are refused with
 * 401, bodies over 64 MiB with 413, other paths with 404, and a request that has not arrived whole after 5 s with 408.
 *
 * @param file path of the recorded calls, one JSON object a line; `readRecordedCalls` says how they look
 * @throws Error that starts with `file:line:` or `file:` when the file is unreadable or not as expected
 */
export async function startRecordedModel(file: string): Promise<RecordedModel> {
  const { createServer } = await import('node:http');
  const recording = new Recording(file, await readRecordedCalls(file));
  const apiKey = randomUUID();
  const server = createServer(ARRIVAL_LIMITS, (request, response) => {
    if (request.headers['x-goog-api-key'] !== apiKey) {
      const message = "The request does not have the recorded model's key. Use its apiKey.";
      const error = { code: 401, message, status: 'UNAUTHENTICATED' };
      sendError(response.setHeader('connection', 'close'), error);
      return;
    }
    // This fails only when the client leaves.
    answerRequest(recording, request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => socket.unref()).unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey,
    requests: recording.requests,
    get remaining() {
      return recording.remaining;
    },
    close: () => (closed ??= closeServer(server)),
  };
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** Ms for a request and its headers to arrive: half a request holds up all later ones. */
const ARRIVAL_LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 5000,
  connectionsCheckingInterval: 500,
};

type Route = Pick<RecordedRequest, 'method' | 'model'>;

interface Refusal {
  readonly error: GeminiError;
}

function refuse(code: number, status: string, message: string): Refusal {
  return { error: { code, message, status } };
}

type ReceivedBody = { readonly json: unknown; readonly bytes: number } | Refusal;

class Recording {
  readonly requests: RecordedRequest[] = [];
  readonly #bytes: number[] = [];
  #keptBytes = 0;
  #used = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    readonly file: string,
    readonly calls: readonly RecordedCall[],
  ) {}

  get remaining(): number {
    return this.calls.length - this.#used;
  }

  /** Waits for the bodies of all earlier requests, so that calls are handed out in order of arrival. */
  take(route: Route, body: Promise<ReceivedBody>): Promise<RecordedCall | Refusal> {
    const answer = this.#turn.then(async () => this.#takeNext(route, await body));
    this.#turn = answer;
    return answer;
  }

  #takeNext({ method, model }: Route, body: ReceivedBody): RecordedCall | Refusal {
    if ('error' in body) return body;
    this.#keep({ method, model, body: body.json }, body.bytes);

    const call = this.calls[this.#used];
    if (call?.method === method) {
      this.#used++;
      return call;
    }
    const line = call?.line ?? (this.calls.at(-1)?.line ?? 0) + 1;
    const problem = call
      ? `${call.method} is recorded. Make the calls in the recorded order, or change this line.`
      : `all ${this.calls.length} recorded calls are used. Record one more call here.`;
    const message = `${this.file}:${line}: ${method} of model ${model} was asked, but ${problem}`;
    return refuse(400, 'FAILED_PRECONDITION', message);
  }

  #keep(request: RecordedRequest, bytes: number): void {
    this.requests.push(request);
    this.#bytes.push(bytes);
    this.#keptBytes += bytes;
    while (this.#keptBytes > MAX_KEPT_BYTES) {
      this.requests.shift();
      this.#keptBytes -= this.#bytes.shift() ?? 0;
    }
  }
}

async function answerRequest(
  recording: Recording,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());

  const route = matchRoute(request);
  if (!route) {
    const message = `${request.method} ${request.url} is not served by the recorded model. Use POST /v1beta/models/MODEL:generateContent or :streamGenerateContent?alt=sse (or the same under /v1/).`;
    return sendError(response, { code: 404, message, status: 'NOT_FOUND' });
  }

  const answer = await recording.take(route, receiveBody(request));
  if (!('method' in answer)) return sendError(response, answer.error);
  if (answer.method === 'generateContentStream' && !answer.error) {
    return streamChunks(response, answer, gone.signal);
  }
  await delay(answer.delayMs, undefined, { signal: gone.signal, ref: false });
  if (answer.error) sendError(response, answer.error);
  else if (answer.abortAfter === 0) response.destroy();
  else sendJson(response, 200, answer.chunks[0]);
}

function matchRoute({ method, url = '' }: IncomingMessage): Route | undefined {
  const [path = '', query] = url.split('?', 2);
  const [, model, action] = /^\/v1(?:beta)?\/models\/([^/:]+):(\w+)$/.exec(path) ?? [];
  if (method !== 'POST' || !model) return undefined;
  if (action === 'generateContent') return { method: action, model };
  const asEvents = new URLSearchParams(query).get('alt') === 'sse';
  const isStream = action === 'streamGenerateContent' && asEvents;
  return isStream ? { method: 'generateContentStream', model } : undefined;
}

/** Never rejects. Reads a body that is too large to its end: a client cut off while writing sees no answer. */
async function receiveBody(request: IncomingMessage): Promise<ReceivedBody> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    }
    if (bytes <= MAX_BODY_BYTES) {
      return { json: JSON.parse(Buffer.concat(chunks).toString()), bytes };
    }
    const message = `The request's body has ${bytes} bytes; the recorded model takes ${MAX_BODY_BYTES} at most. Send less.`;
    return refuse(413, 'INVALID_ARGUMENT', message);
  } catch (error) {
    const message = `The request's body is not JSON (${errorMessage(error)}). Send one JSON object.`;
    return refuse(400, 'INVALID_ARGUMENT', message);
  }
}

async function streamChunks(
  response: ServerResponse,
  { chunks, delayMs, abortAfter }: RecordedCall,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  for (const chunk of chunks.slice(0, abortAfter)) {
    // Waited for even when it is 0: chunks of one turn of the event loop leave in one packet.
    await delay(delayMs, undefined, { signal, ref: false });
    await writeFlushed(response, `data: ${toOneLine(chunk)}\r\n\r\n`);
  }
  if (abortAfter === undefined) response.end();
  else response.destroy();
}

// JSON.stringify leaves U+2028 and U+2029 as they are, and version 1 of the SDK takes them for ends of line.
function toOneLine(chunk: object): string {
  return JSON.stringify(chunk).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

function writeFlushed(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

function sendError(response: ServerResponse, error: GeminiError): void {
  sendJson(response, error.code, { error });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
