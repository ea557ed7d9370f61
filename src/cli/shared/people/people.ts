import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Somebody who has proved who it is. */
export interface Person {
  /** Also says how that was proved: no two people have the same. */
  readonly id: string;
  /** As others are told. */
  readonly name: string;
  readonly groups: readonly string[];
  /** Of what proved it, from which nobody can learn that. Once it proves nothing any more, the session is over. */
  readonly proof: string;
}

/** How people prove who they are. */
export interface People {
  readonly kind: 'token' | 'proxy' | 'oidc';
  /** Who sends a request to sign in; `undefined` where nothing proves it. */
  identify(request: IncomingMessage, said: Readonly<Record<string, unknown>>): Person | undefined;
  /**
   * Who it is now; `undefined` where what proved it does so no more.
   *
   * @param request of that person; without one, as far as can be said
   */
  refresh(person: Person, request?: IncomingMessage): Person | undefined;
}

/**
 * Who has which token, by what {@link proofOf} makes of it: the time of a search tells nothing of one.
 */
export type TokenHolders = ReadonlyMap<string, string>;

/**
 * People with a token each.
 *
 * @param agents whose tokens are none of people, also where both were given the same: who asks must not answer
 */
export function peopleWithTokens(holders: TokenHolders, agents?: TokenHolders): People {
  const personOf = (proof: string): Person | undefined => {
    const name = agents?.has(proof) ? undefined : holders.get(proof);
    return name === undefined ? undefined : { id: `token ${name}`, name, groups: [], proof };
  };
  return {
    kind: 'token',
    identify: (_, { token }) => (typeof token === 'string' ? personOf(proofOf(token)) : undefined),
    refresh: ({ id, proof }) => {
      const now = personOf(proof);
      return now?.id === id ? now : undefined;
    },
  };
}

/** What servers keep of a token, to know later whether it is still one. */
export function proofOf(token: string): string {
  return hash('sha256', `hookstack approver ${token}`);
}

/** Names that can stand in a list, in a log and in a record, and mean one person. */
export function isPersonName(name: unknown): name is string {
  return typeof name === 'string' && /^[\p{L}\p{N}._@+:/-]{1,128}$/u.test(name);
}

/** Which headers say who has signed in, and whose. */
export interface ProxyOptions {
  readonly userHeader: string;
  readonly groupsHeader?: string | undefined;
  /** Addresses, or networks such as `10.0.0.0/8`. */
  readonly proxies: readonly string[];
}

/**
 * People whom a proxy has signed in, as its headers say of each request.
 *
 * @throws Error for what is no address
 */
export function peopleOfProxy({ userHeader, groupsHeader, proxies }: ProxyOptions): People {
  const isTrusted = isSentBy(proxies);
  const identify = (request: IncomingMessage): Person | undefined => {
    if (!isTrusted(request)) return undefined;
    const name = onlyOf(request, userHeader);
    if (!isPersonName(name)) return undefined;
    const groups = groupsHeader === undefined ? '' : onlyOf(request, groupsHeader);
    if (groups === undefined) return undefined;
    const list = groups.split(',').map((group) => group.trim());
    // To many directories, "ann" and "Ann" are one: so they are no two people here.
    const id = `proxy ${name.toLowerCase()}`;
    return { id, name, groups: list.filter(Boolean), proof: 'proxy' };
  };
  return {
    kind: 'proxy',
    identify,
    refresh: (person, request) => {
      const now = request ? identify(request) : person.proof === 'proxy' ? person : undefined;
      return now?.id === person.id ? now : undefined;
    },
  };
}

/**
 * Whether a request comes from one of these: addresses, or networks such as `10.0.0.0/8`.
 *
 * @throws Error for what is no address
 */
export function isSentBy(proxies: readonly string[]): (request: IncomingMessage) => boolean {
  const list = addressesOf(proxies);
  return ({ socket: { remoteAddress = '', remoteFamily } }) =>
    isIP(remoteAddress) !== 0 &&
    list.check(remoteAddress, remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4');
}

function addressesOf(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of proxies) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d+))?$/u.exec(each) ?? [];
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    try {
      if (bits === undefined) list.addAddress(address, family);
      else list.addSubnet(address, Number(bits), family);
    } catch (cause) {
      throw new Error(`${each} is no address, and no network such as 10.0.0.0/8`, { cause });
    }
  }
  return list;
}

/** Where a client sends one, too, a proxy may add its own: then it is not known which is which. */
function onlyOf({ headersDistinct }: IncomingMessage, name: string): string | undefined {
  const values = headersDistinct[name.toLowerCase()] ?? [];
  return values.length === 1 ? values[0] : values.length === 0 ? '' : undefined;
}
