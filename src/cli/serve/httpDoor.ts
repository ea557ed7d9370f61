import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { APPROVALS_PATH } from '../../fleet/approvalEnvelope.js';
import { readQuestion } from '../../fleet/question.js';
import { isHookEventName } from '../../protocol/events.js';
import { HookEventName } from '../../protocol/types.js';
import type { Rejection } from '../shared/http/admitLocal.js';
import { closeServer, listen, type Address } from '../shared/http/listen.js';
import { admit, type AccessOptions, type Admission, type Stay } from './access.js';
import type { approvalRoutes } from './approvals/approvalRoutes.js';
import type { Asked, PolicyAnswers, Reply } from './answers.js';
import { Connections } from './connections.js';
import type { Metrics } from './metrics.js';
import type { Notices } from './notices.js';
import { BodyReader } from '../shared/http/readBody.js';
import { readinessOf, type ReadyParts } from './readiness.js';
import { headerOf, isJson, JSON_ONLY, write } from '../shared/http/respond.js';

/** Ms that a client has, so that one that sends nothing costs nothing. */
const DOOR_TIMEOUTS = {
  /** For the headers of a request, from when it has connected. */
  headersMs: 5000,
  /** For all of a request. */
  requestMs: 30_000,
  /** Between two requests. */
  idleMs: 60_000,
};

/** What TLS needs, as PEM. With `ca`, clients need a certificate of it. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

export interface HttpDoorOptions extends Address {
  readonly tls?: ServerTls | undefined;
  readonly notices: Notices;
  readonly timeouts?: typeof DOOR_TIMEOUTS;
  readonly access: AccessOptions;
  readonly answers: PolicyAnswers;
  readonly metrics: Metrics;
  /** What it needs to answer. */
  readonly ready: ReadyParts;
  readonly approvals?: ReturnType<typeof approvalRoutes>;
  /** Bytes of a body. */
  readonly maxBody: number;
  /** Default 4096. One who asks gets half. */
  readonly maxConnections?: number;
}

export interface HttpDoor {
  /** Such as `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Has new connections see another certificate, and show one of another authority, and ends those of before. */
  setTls(tls: ServerTls | undefined): void;
  /** Takes no more connections, and ends those that are there once what was answered has been sent. */
  close(): Promise<void>;
}

/** Of all bodies that are read at a time, in bodies of the largest size. */
const BODIES_AT_A_TIME = 4;

/** @throws Error where the address cannot be listened to */
export async function openHttpDoor(options: HttpDoorOptions): Promise<HttpDoor> {
  const { tls } = options;
  let current = tls;
  const routes = new Routes(options);
  const server = await makeServer(options, routes.listener);
  server.on('connection', routes.connections.add);
  // Node would answer, and keep the connection.
  server.on('checkExpectation', routes.listener);
  const at = await listen(server, options);
  return {
    url: `${tls ? 'https' : 'http'}://${at}`,
    setTls: (now) => {
      if (!now || !('setSecureContext' in server) || isDeepStrictEqual(now, current)) return;
      current = now;
      server.setSecureContext(now);
      routes.connections.end();
    },
    close: () => closeServer(server, LAST_WORDS_MS),
  };
}

type Sent = Readonly<Record<string, string>>;

const EVENTS_PATH = '/v1/events';
const EVENT_PATH = `${EVENTS_PATH}/`;
const CLAUDE_PATH = '/v1/claude';

/** Who may ask what, and what becomes of it. */
class Routes {
  readonly #bodies: BodyReader;
  readonly connections: Connections;

  constructor(private readonly options: HttpDoorOptions) {
    this.#bodies = new BodyReader(options.maxBody, BODIES_AT_A_TIME, '--max-body');
    this.connections = new Connections(options.maxConnections ?? 4096);
  }

  #isOver(socket: Socket): boolean {
    return this.options.answers.isDraining || this.connections.isOver(socket);
  }

  readonly listener = (request: IncomingMessage, response: ServerResponse): void => {
    // Node ends the connection.
    response.on('error', () => undefined);
    const { socket } = request;
    this.connections.begin(request, response);
    const isKept = response.shouldKeepAlive;
    response.shouldKeepAlive = false;
    const stay: Stay = (who) => {
      const isRoom = this.connections.hold(socket, who);
      response.shouldKeepAlive = isKept && isRoom && !this.#isOver(socket);
      return isRoom;
    };
    this.#route(request, response, stay).catch((error: unknown) => {
      this.options.notices.tell('error', 'fault', `a request failed: ${String(error)}`);
      this.#send(response, 500, { error: 'The server has failed: its log says how' });
    });
  };

  async #route(request: IncomingMessage, response: ServerResponse, stay: Stay): Promise<void> {
    const { url = '', method } = request;
    const isReading = method === 'GET' || method === 'HEAD';
    const path = url.split('?', 1)[0] ?? '';
    const { access, answers, approvals, metrics } = this.options;
    const isAsking = path === APPROVALS_PATH;
    if (!isAsking && (await approvals?.(request, response, stay))) return;
    const admission = admit(request, access);
    const isHealth = path === '/healthz' || path === '/readyz';
    if (isHealth && isReading) return this.#tellHealth(response, path, admission);
    if ('error' in admission) return this.#refuse(response, admission);
    const { asker } = admission;
    if (!stay(asker)) {
      metrics.refused('full');
      const why = `${asker} has half of all connections already: use these`;
      return this.#reply(response, answers.refusal(headOf(request, path), 503, why));
    }
    if (isAsking && (await approvals?.(request, response, stay, asker))) return;
    if (path === '/metrics' && isReading) return this.#tellFigures(response);
    if (path === CLAUDE_PATH || path === EVENTS_PATH || path.startsWith(EVENT_PATH)) {
      return this.#ask(request, response, path, asker);
    }
    const error = `There is no ${method} of this path: POST ${EVENTS_PATH}, POST ${EVENT_PATH}<Event>, POST ${CLAUDE_PATH}, GET /healthz, GET /readyz, GET /metrics`;
    return this.#wrong(response, 404, error);
  }

  /** Also to whoever has no token: it says next to nothing. */
  #tellHealth(response: ServerResponse, path: string, admission: Admission): void {
    if ('error' in admission && admission.status === 403) return this.#refuse(response, admission);
    const { isDraining } = this.options.answers;
    const readiness = path === '/readyz' && readinessOf(this.options.ready);
    const isWell = readiness ? readiness.ready : !isDraining;
    const body = readiness || { status: isDraining ? 'draining' : 'ok' };
    this.#send(response, isWell ? 200 : 503, body);
  }

  async #tellFigures(response: ServerResponse): Promise<void> {
    const { metrics } = this.options;
    if (!metrics.page) {
      const error =
        'Figures need the package prom-client beside hookstack: npm install prom-client';
      return this.#send(response, 501, { error });
    }
    const { text, contentType } = await metrics.page();
    this.#write(response, 200, text, { 'Content-Type': contentType });
  }

  async #ask(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    asker: string | undefined,
  ): Promise<void> {
    const { answers, metrics } = this.options;
    const named = path.startsWith(EVENT_PATH) ? path.slice(EVENT_PATH.length) : undefined;
    const event = isHookEventName(named) ? named : undefined;
    if (named !== undefined && event === undefined) {
      const known = Object.values(HookEventName).join(', ');
      return this.#wrong(response, 404, `There is no such event; the events are: ${known}`);
    }
    if (request.method !== 'POST') {
      return this.#wrong(response, 405, 'Events are sent with POST', { Allow: 'POST' });
    }
    if (!isJson(request)) return this.#wrong(response, 415, JSON_ONLY);
    const { format, question } = headOf(request, path);
    const body = await this.#bodies.read(request, asker);
    if (body === 'broken') return;
    if ('error' in body) {
      metrics.refused('too_large');
      const { status, error } = body;
      return this.#reply(response, answers.refusal({ format, question }, status, error));
    }
    const asked: Asked = {
      format,
      text: body.text,
      question,
      ...(event && { event }),
      ...(asker !== undefined && { asker }),
    };
    this.#reply(response, await answers.answer(asked));
  }

  #refuse(response: ServerResponse, { status, error }: Rejection): void {
    const { metrics, notices } = this.options;
    metrics.refused('unauthorised');
    const from = response.req.socket.remoteAddress ?? 'somebody who has gone';
    notices.tell('warning', 'access', `a request was refused: ${error} (from ${from})`);
    const challenge = status === 401 && { 'WWW-Authenticate': 'Bearer' };
    this.#send(response, status, { error }, challenge || {});
  }

  #wrong(response: ServerResponse, status: number, error: string, headers = {}): void {
    this.options.metrics.refused('wrong_request');
    this.#send(response, status, { error }, headers);
  }

  #reply(response: ServerResponse, { status, body, retryAfterS }: Reply): void {
    const retry = retryAfterS === undefined ? undefined : { 'Retry-After': String(retryAfterS) };
    this.#write(response, status, body, retry);
  }

  #send(response: ServerResponse, status: number, body: object, headers = {}): void {
    this.#write(response, status, JSON.stringify(body), headers);
  }

  #write(response: ServerResponse, status: number, body: string, headers?: Sent): void {
    if (this.#isOver(response.req.socket)) response.shouldKeepAlive = false;
    write(response, status, body, headers);
  }
}

function headOf(request: IncomingMessage, path: string): Pick<Asked, 'format' | 'question'> {
  const question = readQuestion((name) => headerOf(request, name));
  return { format: path === CLAUDE_PATH ? 'claude' : 'own', question };
}

/** A server that nobody can hold up: what takes too long is ended. */
async function makeServer(
  { tls, notices, timeouts = DOOR_TIMEOUTS }: HttpDoorOptions,
  listener: RequestListener,
): Promise<Server | HttpsServer> {
  const { headersMs, requestMs, idleMs } = timeouts;
  const limits: ServerOptions = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1000, headersMs),
  };
  if (!tls) return createServer(limits, listener);
  const https = await import('node:https');
  const { cert, key, ca } = tls;
  const asked = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true };
  const settings = { ...limits, cert, key, ...asked, handshakeTimeout: headersMs };
  const server = https.createServer(settings, listener);
  server.on('tlsClientError', ({ message }) =>
    notices.tell('warning', 'tls', `a connection was refused, as TLS has failed: ${message}`),
  );
  return server;
}

/** For answers on their way, in ms. */
const LAST_WORDS_MS = 1000;
