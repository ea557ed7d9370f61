import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import zlib from 'node:zlib';
import { MAX_LINE_BYTES } from '../lines.js';

/** Of one connection, by RFC 9110, and what each connection says anew. */
const OF_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What would have a client go past the proxy. */
const ELSEWHERE = new Set(['alt-svc', 'location', 'refresh', 'strict-transport-security']);

/** The headers that go on: all but those of one connection. */
export function passedHeaders(
  headers: IncomingHttpHeaders,
  without: ReadonlySet<string> = ELSEWHERE,
): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/u));
  const passed = Object.entries(headers).filter(
    ([name]) => !OF_CONNECTION.has(name) && !named.has(name) && !without.has(name),
  );
  return Object.fromEntries(passed.filter(isSet));
}

function isSet(entry: [string, string | string[] | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}

export interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
}

const MAX_REDIRECTS = 5;
/** Methods and bodies stay the same; after 303 they would not. */
const REDIRECTS = new Set([301, 302, 307, 308]);
/** In ms. Servers close what is idle for some seconds, and a request must not meet that: it cannot be sent again. */
const IDLE_MS = 2500;

/** A server of MCP at a URL. */
export class Upstream {
  readonly #agent: http.Agent;

  constructor(readonly url: URL) {
    const settings = { keepAlive: true, timeout: IDLE_MS };
    this.#agent = url.protocol === 'https:' ? new https.Agent(settings) : new http.Agent(settings);
  }

  /**
   * Sends a request, and follows redirects within its origin. To another one nothing goes, credentials least of all.
   *
   * @param url where, if not the server itself, in its origin
   * @throws Error where there is no response, or a redirect that is not followed
   */
  async request(sent: Sent, url = this.url): Promise<IncomingMessage> {
    let place = url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await this.#send(place, sent);
      const { statusCode = 0, headers } = response;
      if (!REDIRECTS.has(statusCode) || headers.location === undefined) return response;
      response.resume();
      if (!URL.canParse(headers.location, place.href)) {
        throw new Error('it redirects to what is no URL');
      }
      const next = new URL(headers.location, place);
      if (next.origin !== this.url.origin) {
        throw new Error(
          `it redirects to ${next.origin}, where its credentials do not go: if that is the server, write its address in place of ${this.url.origin}`,
        );
      }
      place = next;
    }
    throw new Error(`it redirects more than ${MAX_REDIRECTS} times`);
  }

  #send(url: URL, { method, headers, body, signal }: Sent): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { request } = url.protocol === 'https:' ? https : http;
      const length = body && { 'content-length': body.length };
      const options = {
        method,
        headers: { ...headers, ...length },
        signal,
        agent: this.#agent,
      };
      const sent = request(url, options, (response) => {
        // Who reads learns it from the end.
        response.on('error', () => undefined);
        resolve(response);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

const FLUSH = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const DECODERS: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: () => zlib.createGunzip(FLUSH),
  'x-gzip': () => zlib.createGunzip(FLUSH),
  deflate: () => zlib.createInflate(FLUSH),
  br: () => zlib.createBrotliDecompress(),
};

/** What a response says, no longer compressed; `undefined` where nobody here can read it. */
export function decoded(response: IncomingMessage): Readable | undefined {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return response;
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (!decode) return undefined;
  const body = decode();
  body.on('error', () => response.destroy());
  response.on('close', () => !response.complete && body.destroy());
  response.pipe(body);
  return body;
}

/** All of a body; `undefined` where it was broken off, or is larger than a message may be. */
export async function readWhole(body: Readable): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_LINE_BYTES) return undefined;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}

/** The media type of a response, without its parameters. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

export function isGood({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}
