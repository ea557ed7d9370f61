import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { networkOf } from '../http/quota.js';
import { isSentBy } from './people.js';

/** Where a request comes from. */
export interface Sender {
  readonly address: string;
  /** What to count it by; empty where it may come from anybody behind a proxy. */
  readonly network: string;
}

/** Where a request comes from that nobody has passed on. */
export function senderOf({ socket: { remoteAddress: address = '' } }: IncomingMessage): Sender {
  return { address, network: networkOf(address) };
}

/**
 * Where requests come from that a proxy passes on.
 *
 * @param proxies whose word counts, which is the last one of `X-Forwarded-For`
 * @throws Error for what is no address
 */
export function senderBehind(proxies: readonly string[]): typeof senderOf {
  const isTrusted = isSentBy(proxies);
  return (request) => {
    const { address } = senderOf(request);
    const said = isTrusted(request) ? String(request.headers['x-forwarded-for'] ?? '') : '';
    const last = said.slice(said.lastIndexOf(',') + 1).trim();
    if (isIP(last) === 0) return { address, network: '' };
    return { address: last, network: networkOf(last) };
  };
}
