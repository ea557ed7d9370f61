import { readFile } from 'node:fs/promises';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';
import { APPROVALS_PATH } from './approvalEnvelope.js';
import type { FleetAddress } from './address.js';
import type { TlsFiles } from './natsConnection.js';
import { HEADERS, headersOf } from './question.js';
import type { PostApproval, Posted, Posting } from './remoteApprover.js';

/** An answer of more bytes is none. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * How the policy servers at an address are reached.
 *
 * @param options.secret a bearer token over HTTP; over NATS as `SecretSource` says
 */
export function postTo(
  address: FleetAddress,
  options: TlsFiles & { readonly secret?: string | undefined },
): PostApproval {
  if (address.kind === 'http') return (posting) => postOverHttp(address.url, posting, options);
  return async ({ id, body, timeoutMs, signal }) => {
    const { askOverNats } = await import('./natsQuestions.js');
    const question = { id, timeoutMs };
    const text = new TextEncoder().encode(body);
    const answer = await askOverNats(address, {
      ...options,
      question,
      text,
      to: 'approve',
      signal,
    });
    return { status: answer.status, body: answer.text };
  };
}

async function postOverHttp(
  base: URL,
  posting: Posting,
  { secret, ...files }: Parameters<typeof postTo>[1],
): Promise<Posted> {
  const { id, body, timeoutMs, signal } = posting;
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/u, '')}${APPROVALS_PATH}`;
  const late = AbortSignal.timeout(Math.ceil(timeoutMs));
  const response = await send(url, body, {
    method: 'POST',
    headers: {
      ...headersOf({ id, timeoutMs }),
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      ...(secret !== undefined && { Authorization: `Bearer ${secret}` }),
    },
    signal: signal ? AbortSignal.any([signal, late]) : late,
    ...(await readTls(files)),
  });
  const text = await readText(response);
  const status = response.statusCode ?? 0;
  if (status === 200 && response.headers[HEADERS.question.toLowerCase()] !== id) {
    throw new Error('the answer that came is one to another question');
  }
  return { status, body: text };
}

function send(url: URL, body: string, options: RequestOptions): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    request(url, options, resolve).once('error', reject).end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too large to be one');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function readTls({ caFile, certFile, keyFile }: TlsFiles) {
  const [ca, cert, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

async function read(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : readFile(file, 'utf8');
}
