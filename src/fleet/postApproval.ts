import { APPROVALS_PATH } from './approvalEnvelope.js';
import type { FleetAddress } from './address.js';
import { ask } from './ask.js';
import type { TlsFiles } from './question.js';
import type { PostApproval } from './remoteApprover.js';

/** An answer of more bytes is none. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * How the policy servers at an address are reached.
 *
 * @param options.secret a bearer token over HTTP; over NATS as `SecretSource` says
 */
export function postTo(
  address: FleetAddress,
  { secret, ...tls }: TlsFiles & { readonly secret?: string | undefined },
): PostApproval {
  const to = address.kind === 'http' ? { ...address, url: approvalsAt(address.url) } : address;
  return async ({ id, body, timeoutMs, signal }) => {
    const late = AbortSignal.timeout(Math.ceil(timeoutMs));
    const asking = {
      body: new TextEncoder().encode(body),
      question: { id, timeoutMs },
      secret,
      tls,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      signal: signal ? AbortSignal.any([signal, late]) : late,
    };
    const { status, text } = await ask(to, asking, 'approve');
    return { status, body: text };
  };
}

function approvalsAt(base: URL): URL {
  const url = new URL(base);
  // What is written as the url of a remote hook names the same server.
  url.pathname = `${url.pathname.replace(/(?:\/v1\/events)?\/?$/u, '')}${APPROVALS_PATH}`;
  return url;
}
