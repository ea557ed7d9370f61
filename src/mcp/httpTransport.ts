import { MAX_KEPT_ANSWER_BYTES } from '../process/command/limits.js';
import type { Sdk } from './sdk.js';

/** A server's answer to a request for a stream that it need not have, and that would keep this process alive. */
const NO_STREAM = 405;

/** Status codes whose answers have no body. */
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * The way to a server over streamable HTTP. It follows no redirections, which would carry the headers elsewhere, and reads
 * no more of an answer than of one of a command.
 *
 * @param onFault hears why an answer was not read to its end
 */
export function httpTransport(
  Transport: Sdk['StreamableHTTPClientTransport'],
  { url, headers }: { readonly url: URL; readonly headers: Headers },
  onFault: (error: Error) => void,
): InstanceType<Sdk['StreamableHTTPClientTransport']> {
  return new Transport(url, {
    requestInit: { headers, redirect: 'error' },
    fetch: async (target, init) => {
      if (init?.method === 'GET') return new Response(null, { status: NO_STREAM });
      const response = await fetch(target, { ...init, redirect: 'error' });
      return limited(response, onFault);
    },
  });
}

function limited(response: Response, onFault: (error: Error) => void): Response {
  const { body, status, statusText, headers } = response;
  if (!body || WITHOUT_BODY.has(status)) return response;
  let read = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      read += chunk.byteLength;
      if (read <= MAX_KEPT_ANSWER_BYTES) return controller.enqueue(chunk);
      const fault = new Error(`it wrote a message of more than ${MAX_KEPT_ANSWER_BYTES} bytes`);
      controller.error(fault);
      onFault(fault);
    },
  });
  return new Response(body.pipeThrough(counting), { status, statusText, headers });
}
