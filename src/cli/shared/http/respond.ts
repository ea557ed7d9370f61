import type { IncomingMessage, ServerResponse } from 'node:http';
import { orUndefined } from '../../../util/paths.js';
import { isRecord } from '../../../util/records.js';
import type { BodyReader } from './readBody.js';

/** No page but the own one may show, frame, keep or read what is sent. A list, which Node writes in a third of the time. */
const GUARDS = Object.entries({
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}).flat();
const JSON_TYPE = { 'Content-Type': 'application/json' };
const JSON_LIST = Object.entries(JSON_TYPE).flat();

/** After it nothing more is read of this connection. */
export const PARTING = { Connection: 'close' };

export function write(
  response: ServerResponse,
  status: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
): void {
  if (response.headersSent || response.destroyed) return;
  const own = headers ? Object.entries({ ...JSON_TYPE, ...headers }).flat() : JSON_LIST;
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, [...GUARDS, 'Content-Length', length, ...own]);
  // Answers to what came together leave together: one by one, each would wake up who waits for it.
  if (unsent.push([response, body]) === 1) setImmediate(sendAll);
}

const unsent: [ServerResponse, string][] = [];

function sendAll(): void {
  for (const [response, body] of unsent.splice(0)) response.end(body);
}

export function send(response: ServerResponse, status: number, body: object, headers = {}): void {
  write(response, status, JSON.stringify(body), headers);
}

/** Begins an answer that does not end. */
export function beginStream(response: ServerResponse): void {
  const type = ['Content-Type', 'text/event-stream'];
  response.writeHead(200, [...GUARDS, ...type, 'X-Accel-Buffering', 'no']);
}

export function wrongMethod(response: ServerResponse, method: string): void {
  send(response, 405, { error: `Only ${method} has a meaning here` }, { Allow: method });
}

export const JSON_ONLY = 'Send application/json, not compressed';

/** What a form of another page can send is none. */
export function isJson(request: IncomingMessage): boolean {
  return isPlain(request, /^application\/json\s*(?:;|$)/iu);
}

export function isForm(request: IncomingMessage): boolean {
  return isPlain(request, /^application\/x-www-form-urlencoded\s*(?:;|$)/iu);
}

function isPlain({ headers }: IncomingMessage, known: RegExp): boolean {
  const { 'content-type': type = '', 'content-encoding': encoding } = headers;
  return known.test(type) && encoding === undefined;
}

/** The value of a header. One that came twice is none. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

/**
 * Reads what is sent as JSON; `undefined` where it has answered why it cannot.
 *
 * @param from who sends it
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  bodies: BodyReader,
  from: string,
): Promise<string | undefined> {
  if (!isJson(request)) {
    send(response, 415, { error: JSON_ONLY });
    return undefined;
  }
  const body = await bodies.read(request, from);
  if (body === 'broken') return undefined;
  if ('text' in body) return body.text;
  // What is still on its way is not read.
  send(response, body.status, { error: body.error }, PARTING);
  return undefined;
}

/** Reads the JSON object that a person's page sends, as {@link readJson}. */
export async function readSaid(
  ...[request, response, bodies, from]: Parameters<typeof readJson>
): Promise<Record<string, unknown> | undefined> {
  const text = await readJson(request, response, bodies, from);
  if (text === undefined) return undefined;
  const value = orUndefined<unknown>(() => JSON.parse(text));
  if (isRecord(value)) return value;
  send(response, 400, { error: 'The body is no JSON object' });
  return undefined;
}
