import type { Agent, IncomingMessage } from 'node:http';
import type { Agent as SecureAgent } from 'node:https';
import { StringDecoder } from 'node:string_decoder';
import { errorCode, errorMessage } from '../util/errorMessage.js';
import { UNREACHABLE } from './address.js';
import { certificateAdvice, certificatesOf } from './certificates.js';
import { ended, headersOf, type Asking, type FleetAnswer, type TlsFiles } from './question.js';

// Not imported: where all code is in one file, that would load them for everybody, and most ask no server.
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

/** What came of one request: an answer, or why there is none. */
export type HttpAnswer =
  | (FleetAnswer & { readonly retryAfterMs?: number })
  | { readonly error: Error; readonly isUnasked: boolean };

/**
 * Posts a question. Redirections are not followed: they would take the token elsewhere. A server that hangs costs the
 * time of one question: the next ones fail at once.
 *
 * @throws Error for files of TLS that cannot be read, and the reason of a signal that aborts
 */
export async function postQuestion(url: URL, asking: Asking): Promise<HttpAnswer> {
  const { signal, tls } = asking;
  const files = JSON.stringify([tls.caFile, tls.certFile, tls.keyFile]);
  const agent = url.protocol === 'https:' ? secureAgent(files, tls) : plainAgent;
  if (await hangs(url, agent, signal)) {
    const why = `was not asked: ${url.origin} hangs, as it has answered neither a question before in time nor GET /healthz; it is tried again every ${REST_MS / 1000} s`;
    return { error: new Error(why), isUnasked: false };
  }
  try {
    const response = await send(url, agent, asking);
    return await receive(response, asking);
  } catch (error) {
    if ((signal.reason as Error | undefined)?.name === 'TimeoutError')
      doubts.set(url.origin, { until: 0 });
    signal.throwIfAborted();
    const advice = certificateAdvice(error, 'as "caFile"');
    const isReached = !NEVER_REACHED.has(String(errorCode(error)));
    // Certificates may have been replaced. A server that believes none of ours may say nothing of that, and hang up.
    if (isReached && secureAgents.delete(files)) closeIdle(agent);
    const what = isReached ? 'got no answer' : 'reached no server';
    const why = `${what} at ${url.origin} (${errorMessage(error)}); ${advice ?? 'see whether it runs'}`;
    const isUnasked = !isReached || advice !== undefined;
    return { error: new Error(why, { cause: error }), isUnasked };
  }
}

/** Ms between trials of a server that hangs, and for its answer to one. */
const REST_MS = 3000;
const TRIAL_MS = 1000;

/** Servers that have let a question wait for too long, by origin: they first have to show that they are there. */
const doubts = new Map<string, { readonly until: number; readonly trial?: Promise<boolean> }>();

/** All wait for the same trial, for as long as they can. */
async function hangs(url: URL, agent: Agent, signal: AbortSignal): Promise<boolean> {
  const now = performance.now();
  let doubt = doubts.get(url.origin);
  if (doubt && now > doubt.until) {
    doubt = { until: now + REST_MS, trial: staysSilent(url, agent) };
    doubts.set(url.origin, doubt);
  }
  if (!doubt?.trial) return false;
  if (await Promise.race([doubt.trial, ended(signal)])) return true;
  if (doubts.get(url.origin) === doubt) doubts.delete(url.origin);
  return false;
}

/** Whether nobody says anything, whatever that would be: behind a load balancer, another server may. */
async function staysSilent(url: URL, agent: Agent): Promise<boolean> {
  const { get } = url.protocol === 'https:' ? https : http;
  const signal = AbortSignal.timeout(TRIAL_MS);
  const look = () =>
    new Promise<void>((resolve, reject) => {
      get(new URL('/healthz', url), { agent, signal }, (response) => {
        response.resume();
        resolve();
      }).once('error', (error) => (signal.aborted ? reject(error) : resolve()));
    });
  return Promise.any([look(), look()]).then(
    () => false,
    () => true,
  );
}

/** Of a kept connection that has ended before an answer began: mostly the server, one of ours, had closed it already. */
const STALE = 'STALE';

/** Nobody works on what was sent, or answers the same when it comes again. */
const NEVER_REACHED: ReadonlySet<string> = new Set([...UNREACHABLE, STALE]);

function send(
  url: URL,
  agent: Agent,
  { body, question, secret, headers, format, signal }: Asking,
): Promise<IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent,
        signal,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': body.byteLength,
          accept: 'application/json',
          ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
          ...headersOf(question),
        },
      },
      resolve,
    );
    sent.once('error', (error) =>
      reject(sent.reusedSocket && !format ? Object.assign(error, { code: STALE }) : error),
    );
    // Of an answer that changes the protocol, nothing else is told.
    sent.once('close', () => reject(new Error('the connection was closed without one')));
    sent.end(body);
  });
}

async function receive(response: IncomingMessage, { maxAnswerBytes }: Asking): Promise<HttpAnswer> {
  const { statusCode: status = 0, headers } = response;
  const decoder = new StringDecoder('utf8');
  let text = '';
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    // What is too long is no answer, and need not be read to its end.
    if (bytes > maxAnswerBytes) break;
    text += decoder.write(chunk);
  }
  const retryAfter = Number(headers['retry-after']);
  return {
    status,
    text: text.replace(/^\uFEFF/u, ''),
    isCut: bytes > maxAnswerBytes,
    ...(retryAfter >= 0 && { retryAfterMs: retryAfter * 1000 }),
  };
}

/** Connections stay open between events. Node does not wait for those that are idle. */
const KEEPING = {
  keepAlive: true,
  maxSockets: 256,
  maxFreeSockets: 8,
  scheduling: 'lifo',
} as const;
const plainAgent = new http.Agent(KEEPING);
const secureAgents = new Map<string, SecureAgent>();

/** One for each set of files, whose certificates are read when it is made. */
function secureAgent(key: string, files: TlsFiles): SecureAgent {
  const known = secureAgents.get(key);
  if (known) return known;
  try {
    const agent = new https.Agent({ ...KEEPING, ...certificatesOf(files) });
    secureAgents.set(key, agent);
    return agent;
  } catch (error) {
    throw new Error(`was not asked: ${errorMessage(error)}`, { cause: error });
  }
}

/** Closes what is kept open. Questions on their way get their answers. */
export function closeIdleAgents(): void {
  for (const agent of [plainAgent, ...secureAgents.values()]) closeIdle(agent);
}

function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}
