import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRecord } from '../../../util/records.js';
import type { BodyReader } from '../../shared/http/readBody.js';
import { headerOf, isForm, isJson, JSON_ONLY, PARTING, send } from '../../shared/http/respond.js';
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
/** Where clients of 2025-03-26 log in at a server that has no such page. */
const LOGIN = '/authorize';
const LOGIN_POSTS = new Set(['/token', '/register']);
/** What a page is asked with; a login with what it says of the client too. */
const ASKED = ['accept', 'mcp-protocol-version'];
const POSTED = [...ASKED, 'authorization', 'content-type'];
/** As RFC 9728 writes it. */
const METADATA = /(resource_metadata\s*=\s*)(?:"([^"]*)"|([^\s,"]+))/giu;

/**
 * Where a client learns how to log in. Of all that is said there one thing changes, the address of the server, as clients
 * refuse a page about another address than theirs. Login and tokens are between client, browser and authorization server.
 */
export class OAuthPages {
  /** Where the page of this server is, if it has said so. */
  #metadata: URL | undefined;
  /** No other page of the server is for whoever can reach the door. */
  readonly #pages: ReadonlySet<string>;

  /** @param origin of the door */
  constructor(
    private readonly upstream: Upstream,
    private readonly origin: string,
    private readonly bodies: BodyReader,
  ) {
    const { pathname } = upstream.url;
    const ends = ['', pathname, pathname.replace(/\/$/u, '')];
    this.#pages = new Set(PAGES.flatMap((page) => ends.map((end) => `${page}${end}`)));
  }

  has(method: string, path: string): boolean {
    if (method === 'POST') return LOGIN_POSTS.has(path);
    return method === 'GET' && (path === LOGIN || this.#pages.has(path));
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
    const { method = 'GET', url = path } = request;
    // A browser asks, which has its cookies for the server's own address.
    if (path === LOGIN) {
      return void response.writeHead(302, { location: new URL(url, this.upstream.url).href }).end();
    }
    const isPost = method === 'POST';
    if (isPost && !isJson(request) && !isForm(request)) {
      return send(response, 415, { error: `${JSON_ONLY}, or a form` });
    }
    const said = isPost ? await this.bodies.read(request, undefined) : undefined;
    if (said === 'broken') return;
    if (said && 'error' in said) return send(response, said.status, { error: said.error }, PARTING);
    const headers: Record<string, string> = {};
    for (const name of isPost ? POSTED : ASKED) {
      const value = headerOf(request, name);
      if (value !== undefined) headers[name] = value;
    }
    const over = new AbortController();
    response.once('close', () => over.abort());
    const body = said && { body: Buffer.from(said.text) };
    const page = await this.upstream
      .request({ method, headers, signal: over.signal, ...body }, this.#placeOf(path))
      .catch((error: unknown) => String(error));
    if (typeof page === 'string') return send(response, 502, { error: page });
    const whole = decoded(page);
    const text = whole && (await readWhole(whole));
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
