import type { DialectName } from '../protocol/types.js';
import { isLoopback } from '../util/loopback.js';
import { hostEnvironment } from '../util/requester.js';

/** Where a question of an agent goes. */
export type FleetAddress =
  | { readonly kind: 'http'; readonly url: URL }
  | {
      readonly kind: 'nats';
      /** `host:port`. */
      readonly server: string;
      /** Whether everything goes through TLS: unless the server is on this machine. */
      readonly tls: boolean;
      readonly team: string;
      readonly agent: string;
    };

/** Codes of errors by which nothing of what was sent has reached a server. */
export const UNREACHABLE: readonly string[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
];

/** What teams and agents are called: a part of a subject, in which dots and wildcards have a meaning. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/u;

/** Whether a text can be the name of a team, an agent or a server. */
export function isFleetName(text: string): boolean {
  return NAME.test(text);
}

/** The team of all policy servers, whose word the record takes. */
export const SERVERS_TEAM = 'policy';
/** In place of a team and an agent: who asks without credentials, on this machine. */
export const LOCAL = 'local';
/** Completes "TEAM/AGENT". */
export const ASKER_FORM = `of letters, digits, "-" and "_"; no agent is of the team ${SERVERS_TEAM}, which is that of servers, or ${LOCAL}, which is nobody's`;

/** Whether it is `TEAM/AGENT`, as somebody who asks can be called. */
export function isAskerName(text: string): boolean {
  const [team = '', ...agent] = text.split('/');
  if (team === SERVERS_TEAM || team === LOCAL || agent.length !== 1) return false;
  return [team, ...agent].every(isFleetName);
}

/**
 * Reads the address of a policy server: `https://HOST/PATH`, or `nats://HOST:PORT/TEAM/AGENT`. Of the variables of
 * this process, those that begin with `HOOKSTACK_` can be named in its path: `${HOOKSTACK_AGENT}`.
 *
 * @param valueOf what a variable holds. Default: in this process
 * @param isServer whether it is of a policy server itself, whose names are checked
 * @throws Error for anything else, for a secret in the address, and for `http://` to another machine
 */
export function parseFleetAddress(
  text: string,
  valueOf: (variable: string) => string | undefined = (variable) => hostEnvironment()[variable],
  isServer = false,
): FleetAddress {
  const url = parseUrl(text);
  if (url.username || url.password) {
    throw new Error('its url holds a password: put it into a file, and name that as "tokenFile"');
  }
  const isLocal = isLoopback(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) {
    url.pathname = fillIn(url.pathname, valueOf);
    return { kind: 'http', url };
  }
  if (url.protocol === 'nats:' || url.protocol === 'tls:') {
    const who = fillIn(url.pathname.slice(1), valueOf);
    const [team = '', agent = ''] = who.split('/');
    if (!isServer && !isAskerName(who)) {
      const form = `write nats://HOST:PORT/TEAM/AGENT, ${ASKER_FORM}`;
      throw new Error(`its url does not say who asks: ${form}`);
    }
    return { kind: 'nats', ...natsServerOf(url), team, agent };
  }
  if (url.protocol === 'http:') {
    throw new Error(
      `its url is http:// to another machine (${url.hostname}), where everybody in between can read and answer: use https://`,
    );
  }
  throw new Error(`its url begins with ${url.protocol}//: use https:// or nats://`);
}

/**
 * Reads the address of NATS for those that belong to no team: `nats://HOST:PORT`.
 *
 * @throws Error for anything else
 */
export function parseNatsServer(text: string): { readonly server: string; readonly tls: boolean } {
  const url = parseUrl(text);
  const { protocol, hostname, pathname, username, password } = url;
  if (username || password) throw new Error('its url holds a password: put it into a file');
  if (!/^(?:nats|tls):$/u.test(protocol) || !/^\/?$/u.test(pathname) || !hostname) {
    throw new Error('its url cannot be read: write nats://HOST:PORT');
  }
  return natsServerOf(url);
}

function natsServerOf({ protocol, hostname, port }: URL) {
  const tls = protocol === 'tls:' || !isLoopback(hostname);
  return { server: `${hostname}:${port || '4222'}`, tls };
}

/** @param server `host:port`, of which an IPv6 address stands in brackets */
export function endpointOf(server: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`tcp://${server}`);
  return { host: hostname.replaceAll(/[[\]]/gu, ''), port: Number(port) };
}

/** The formats of questions that a policy server reads over NATS. */
export function isReadOverNats(dialect: DialectName | undefined): dialect is 'claude' | undefined {
  return dialect === undefined || dialect === 'claude';
}

export const NOT_OVER_NATS =
  'policy servers read our own format and that of Claude Code over NATS: for other agents use https://, or a group without a dialect';

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new Error(
      'its url cannot be read: write https://HOST/PATH or nats://HOST:PORT/TEAM/AGENT',
    );
  }
}

/** URLs escape braces. */
const REFERENCE = /\$(?:\{|%7B)(\w+)(?:\}|%7D)/giu;

function fillIn(path: string, valueOf: (variable: string) => string | undefined): string {
  return path.replaceAll(REFERENCE, (_, name: string) => {
    const isOurs = name.startsWith('HOOKSTACK_');
    const value = isOurs ? valueOf(name) : undefined;
    if (value === undefined || value === '') {
      const why = isOurs
        ? 'is not set: set it where the agent starts'
        : 'does not begin with HOOKSTACK_: rename it';
      throw new Error(
        `its url names the variable ${name}, which ${why}, or write the name into the url`,
      );
    }
    return encodeURIComponent(value);
  });
}
