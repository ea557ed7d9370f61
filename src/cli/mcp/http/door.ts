import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setMaxListeners } from 'node:events';
import { errorMessage } from '../../../util/errorMessage.js';
import { admitLocal } from '../../shared/http/admitLocal.js';
import { closeServer, listen, type Address } from '../../shared/http/listen.js';
import { BodyReader } from '../../shared/http/readBody.js';
import { send } from '../../shared/http/respond.js';
import { MAX_LINE_BYTES } from '../lines.js';
import type { McpProxy } from '../proxy.js';
import { Exchange, type DoorContext } from './exchange.js';
import { OAuthPages } from './oauthPages.js';
import { Waiting } from './pending.js';
import { KeptAnswers, Sessions } from './sessions.js';
import { Upstream } from './upstream.js';

export interface DoorOptions extends Address {
  /** What hooks call the server. */
  readonly name: string;
  readonly url: URL;
  readonly proxy: McpProxy;
  readonly warn: (what: string) => void;
}

export interface Door {
  /** What a client is to write in place of the server's URL. */
  readonly url: string;
  close: () => Promise<void>;
}

/** In ms, that a client may take between two requests before its connection is closed. */
const IDLE_MS = 60_000;
/** Of all messages that are read at a time, in messages of the largest size. */
const BODIES_AT_A_TIME = 4;
const METHODS = new Set(['GET', 'POST', 'DELETE']);

/** @throws Error where the address cannot be listened to */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const { url, proxy, name, warn } = options;
  const over = new AbortController();
  // Each request listens.
  setMaxListeners(0, over.signal);
  const upstream = new Upstream(url);
  const server = createServer({ keepAliveTimeout: IDLE_MS });
  const origin = `http://${await listen(server, options)}`;
  const bodies = new BodyReader(MAX_LINE_BYTES, BODIES_AT_A_TIME);
  const pages = new OAuthPages(upstream, origin, bodies);
  const context: DoorContext = {
    name,
    proxy,
    upstream,
    pages,
    over: over.signal,
    bodies,
    sessions: new Sessions(
      (forHooks) => proxy.newSession(forHooks),
      (session) => proxy.endSession(session),
    ),
    waiting: new Waiting(proxy),
    kept: new KeptAnswers(),
  };
  server.on('request', (request, response) => {
    // Node ends the connection.
    response.on('error', () => undefined);
    route(context, request, response).catch((error: unknown) => {
      warn(`has failed a request: ${errorMessage(error)}`);
      if (response.headersSent) response.destroy();
      else send(response, 500, { error: 'hookstack could not pass this on: its stderr says why' });
    });
  });
  return {
    url: `${origin}${url.pathname}`,
    close: async () => {
      over.abort();
      await closeServer(server, LAST_WORDS_MS);
      upstream.close();
    },
  };
}

async function route(
  context: DoorContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { upstream, pages } = context;
  const rejection = admitLocal(request, true);
  if (rejection) return send(response, rejection.status, { error: rejection.error });
  const [path = '', query] = (request.url ?? '').split('?', 2);
  const { method = '' } = request;
  if (path !== upstream.url.pathname && pages.has(method, path))
    return pages.answer(path, request, response);
  if (path !== upstream.url.pathname) {
    const error = `There is nothing at this path: the server is at ${upstream.url.pathname}`;
    return send(response, 404, { error });
  }
  if (query !== undefined) {
    const error = 'The address has a query: start hookstack mcp with it, as a part of --url';
    return send(response, 400, { error });
  }
  if (!METHODS.has(method)) {
    const error = 'Only GET, POST and DELETE have a meaning here';
    return send(response, 405, { error }, { Allow: [...METHODS].join(', ') });
  }
  await new Exchange(context, request, response).run();
}

/** For answers on their way, in ms. */
const LAST_WORDS_MS = 500;
