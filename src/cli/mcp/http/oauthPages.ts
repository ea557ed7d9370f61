import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRecord } from '../../../util/records.js';
import { send } from '../../serve/respond.js';
import {
  decoded,
  isGood,
  mediaTypeOf,
  passedHeaders,
  readWhole,
  type Upstream,
} from './upstream.js';

const RESOURCE = '/.well-known/oauth-protected-resource';
const PAGES = [
  RESOURCE,
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
];
/** Where clients of 2025-03-26 go at a server that has no such page. */
const ENDPOINTS = new Set(['/authorize', '/token', '/register']);
/** As RFC 9728 writes it. */
const METADATA = /(resource_metadata\s*=\s*)(?:"([^"]*)"|([^\s,"]+))/giu;

/**
 * Where a client learns how to log in. Of all that is said there one thing changes, the address of the server, as clients
 * refuse a page about another address than theirs. Login and tokens are between client, browser and authorization server.
 */
export class OAuthPages {
  /** Where the page of this server is, if it has said so. */
  #metadata: URL | undefined;

  /** @param origin of the door */
  constructor(
    private readonly upstream: Upstream,
    private readonly origin: string,
  ) {}

  has(path: string): boolean {
    return PAGES.some((page) => path === page || path.startsWith(`${page}/`));
  }

  /** Sends a client on to the server's own place for a login. Says whether it has asked for one. */
  sendOn(path: string, { url = '' }: IncomingMessage, response: ServerResponse): boolean {
    if (!ENDPOINTS.has(path)) return false;
    response.writeHead(307, { location: new URL(url, this.upstream.url).href }).end();
    return true;
  }

  get #path(): string {
    const { pathname } = this.upstream.url;
    return pathname === '/' ? RESOURCE : `${RESOURCE}${pathname}`;
  }

  /** Headers of the server, in which its page is the one here. */
  rewritten(headers: Record<string, string | string[]>): Record<string, string | string[]> {
    const { 'www-authenticate': challenge } = headers;
    if (challenge === undefined) return headers;
    const said = [challenge].flat().join(', ');
    const changed = said.replaceAll(
      METADATA,
      (whole: string, begin: string, quoted?: string, plain = '') => {
        const place = quoted ?? plain;
        const url = URL.canParse(place) ? new URL(place) : undefined;
        // To another place the client goes by itself, or not: the door goes wherever no stranger could send it.
        if (url?.origin !== this.upstream.url.origin) return whole;
        this.#metadata = url;
        return `${begin}"${this.origin}${this.#path}"`;
      },
    );
    return { ...headers, 'www-authenticate': changed };
  }

  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers } = request;
    const version = headers['mcp-protocol-version'];
    const over = new AbortController();
    response.once('close', () => over.abort());
    const page = await this.upstream
      .request(
        {
          method: 'GET',
          headers: {
            accept: headers.accept ?? 'application/json',
            ...(typeof version === 'string' && { 'mcp-protocol-version': version }),
          },
          signal: over.signal,
        },
        this.#placeOf(path),
      )
      .catch((error: unknown) => String(error));
    if (typeof page === 'string') return send(response, 502, { error: page });
    const body = decoded(page);
    const text = body && (await readWhole(body));
    if (!text) return send(response, 502, { error: 'The page of the server cannot be read' });
    const { 'content-encoding': _read, ...kept } = passedHeaders(page.headers);
    const isOurs = path.startsWith(RESOURCE) && isGood(page);
    const shown = isOurs && mediaTypeOf(page).endsWith('json') ? this.#withOurAddress(text) : text;
    response.writeHead(page.statusCode ?? 502, { ...kept, 'content-length': shown.length });
    response.end(shown);
  }

  #placeOf(path: string): URL {
    if (path === this.#path && this.#metadata) return this.#metadata;
    return new URL(path, this.upstream.url);
  }

  #withOurAddress(text: Buffer): Buffer {
    try {
      const page: unknown = JSON.parse(text.toString());
      if (!isRecord(page) || typeof page['resource'] !== 'string') return text;
      const { resource } = page;
      if (new URL(resource).origin !== this.upstream.url.origin) return text;
      const { pathname } = new URL(resource);
      const ours = `${this.origin}${pathname === '/' ? '' : pathname}`;
      return Buffer.from(JSON.stringify({ ...page, resource: ours }));
    } catch {
      return text;
    }
  }
}
