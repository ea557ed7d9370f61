import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRecord } from '../../../util/records.js';
import type { BodyReader, NoBody } from '../readBody.js';

export const JSON_ONLY = 'Send application/json, not compressed';

/** No page but the own one may show, frame, keep or read what is sent. */
const GUARDS = {
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

export function write(response: ServerResponse, status: number, body: string, headers = {}): void {
  if (response.headersSent || response.destroyed) return;
  const length = Buffer.byteLength(body);
  const all = {
    ...GUARDS,
    'Content-Type': 'application/json',
    'Content-Length': length,
    ...headers,
  };
  response.writeHead(status, all);
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

export function send(response: ServerResponse, status: number, body: object, headers = {}): void {
  write(response, status, JSON.stringify(body), headers);
}

/** Begins an answer that does not end. */
export function beginStream(response: ServerResponse): void {
  response.writeHead(200, {
    ...GUARDS,
    'Content-Type': 'text/event-stream',
    'X-Accel-Buffering': 'no',
  });
}

export function wrongMethod(response: ServerResponse, method: string): void {
  send(response, 405, { error: `Only ${method} has a meaning here` }, { Allow: method });
}

/** What a form of another page can send is none. */
export function isJson({ headers }: IncomingMessage): boolean {
  const { 'content-type': type = '', 'content-encoding': encoding } = headers;
  return /^application\/json\s*(?:;|$)/iu.test(type) && encoding === undefined;
}

export function refuseBody(response: ServerResponse, why: NoBody): void {
  if (why === 'broken') return;
  const [status, error] = {
    too_large: [413, 'The body is too large'] as const,
    no_room: [503, 'Too many large bodies are on their way: ask again'] as const,
    no_text: [400, 'The body is not UTF-8'] as const,
  }[why];
  // What is still on its way is not read.
  send(response, status, { error }, { Connection: 'close' });
}

/**
 * Reads the JSON object that a person's page sends; `undefined` where it has answered why it cannot.
 *
 * @param from who sends it
 */
export async function readSaid(
  request: IncomingMessage,
  response: ServerResponse,
  bodies: BodyReader,
  from: string,
): Promise<Record<string, unknown> | undefined> {
  if (!isJson(request)) {
    send(response, 415, { error: JSON_ONLY });
    return undefined;
  }
  const body = await bodies.read(request, from);
  if ('why' in body) {
    refuseBody(response, body.why);
    return undefined;
  }
  const value = parse(body.text);
  if (isRecord(value)) return value;
  send(response, 400, { error: 'The body is no JSON object' });
  return undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
