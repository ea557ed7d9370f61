import { createHash, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a provider says of the person, and how it does that. */
export interface Said {
  readonly claims?: Record<string, unknown>;
  /** What it says beside the token, to who shows that. */
  readonly userinfo?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
  /** The signature; default one of the key that it publishes. */
  readonly signature?: (input: string) => string;
}

export interface OidcProvider {
  readonly issuer: string;
  /** What is said at the next sign-in. */
  next: Said;
  /** The paths that were asked for. */
  readonly asked: string[];
  close(): void;
}

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A small OpenID provider, at which everybody is signed in already: it sends each browser back at once. */
export async function startOidcProvider(
  client: { readonly id: string; readonly secret: string },
  way?: 'client_secret_basic',
): Promise<OidcProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  /** Codes that nobody has used. */
  const codes = new Map<string, URLSearchParams>();
  const tokens = new Set<string>();
  const asked: string[] = [];
  const provider = { issuer: '', next: {} as Said, asked, close: () => void server.close() };

  const authorize = (query: URLSearchParams, response: ServerResponse) => {
    const code = randomUUID();
    codes.set(code, query);
    const back = new URL(query.get('redirect_uri') ?? '');
    back.search = new URLSearchParams({ code, state: query.get('state') ?? '' }).toString();
    response.writeHead(302, { Location: back.href }).end();
  };

  const token = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const form = new URLSearchParams(body);
    const code = form.get('code') ?? '';
    const granted = codes.get(code);
    codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const basic = atob(request.headers.authorization?.split(' ')[1] ?? '').split(':');
    const [id, secret] = way
      ? basic.map(decodeURIComponent)
      : [form.get('client_id'), form.get('client_secret')];
    const isRight =
      id === client.id &&
      secret === client.secret &&
      granted?.get('code_challenge') === challenge &&
      granted.get('redirect_uri') === form.get('redirect_uri');
    if (!isRight) return tell(response, { error: 'invalid_grant' }, 400);
    const id_token = idToken(provider, granted, client.id, privateKey);
    const access_token = randomUUID();
    tokens.add(access_token);
    return tell(response, { access_token, token_type: 'Bearer', id_token });
  };

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', provider.issuer);
    const { issuer } = provider;
    provider.asked.push(pathname);
    if (pathname === '/authorize') authorize(searchParams, response);
    else if (pathname === '/token') void token(request, response);
    else if (pathname === '/userinfo') {
      const { authorization = '' } = request.headers;
      const isShown = tokens.delete(authorization.replace('Bearer ', ''));
      tell(response, { sub: 'subject-1', ...provider.next.userinfo }, isShown ? 200 : 401);
    } else if (pathname === '/jwks') {
      const key = publicKey.export({ format: 'jwk' });
      tell(response, { keys: [{ ...key, kid: 'key', use: 'sig', alg: 'RS256' }] });
    } else {
      tell(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        userinfo_endpoint: `${issuer}/userinfo`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        ...(way && { token_endpoint_auth_methods_supported: [way] }),
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      });
    }
  }).listen(0, 'localhost');
  await once(server, 'listening');
  // Another site than 127.0.0.1, for a browser.
  provider.issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  return provider;
}

function idToken(
  { issuer, next }: OidcProvider,
  asked: URLSearchParams,
  aud: string,
  key: KeyObject,
): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud,
    iat,
    exp: iat + 60,
    nonce: asked.get('nonce'),
    sub: 'subject-1',
    email: 'ann@example.com',
    email_verified: true,
    groups: ['sre'],
    ...next.claims,
  };
  const input = `${base64({ alg: 'RS256', kid: 'key', ...next.header })}.${base64(claims)}`;
  const signature =
    next.signature?.(input) ?? sign('sha256', Buffer.from(input), key).toString('base64url');
  return `${input}.${signature}`;
}

function tell(response: ServerResponse, said: object, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(said));
}
