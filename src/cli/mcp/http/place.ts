import { validateHeaderName, validateHeaderValue } from 'node:http';
import { isLoopback } from '../../../util/loopback.js';
import { hostEnvironment } from '../../../util/requester.js';
import { parseListen, type Address } from '../../shared/http/listen.js';
import { printNotice, toVisible } from '../../shared/terminal.js';
import { UsageError } from '../../shared/usageError.js';

/** Where a server over HTTP is, and how clients reach it. */
export interface Place {
  readonly url: URL;
  /** Headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where clients come in; absent for one that speaks through stdin and stdout. */
  readonly listen?: Address;
}

/** Variables with a header each. Others could see what stands on a command line. */
export const HEADER_VARIABLE = /^HOOKSTACK_MCP_HEADER_(\d{1,3})$/u;

/**
 * Reads where a server is. Headers are taken out of the environment, as no hook is to have them.
 *
 * @throws UsageError for what is no URL, holds a password, or would let other machines in
 */
export function readPlace(text: string, listen: string | undefined): Place {
  const url = readUrl(text);
  const headers = takeHeaders();
  if (listen === undefined) return { url, headers };
  if (Object.keys(headers).length > 0) {
    throw new UsageError(
      'HOOKSTACK_MCP_HEADER_1 would be the login of every program of this machine: with --listen, write headers into the settings of the client',
    );
  }
  const address = parseListen(listen);
  if (isLoopback(address.host)) return { url, headers, listen: address };
  throw new UsageError(
    `--listen ${toVisible(listen)} can be reached from other machines: listen on 127.0.0.1`,
  );
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/u.test(url.protocol)) {
    throw new UsageError('--url is no address of a server: write https://HOST/PATH');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(
      '--url holds a password, which others can see: put it into HOOKSTACK_MCP_HEADER_1 ("Authorization: Basic …")',
    );
  }
  url.hash = '';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    printNotice(
      'warning',
      `--url is http:// to another machine (${toVisible(url.hostname)}), where everybody in between can read and answer: use https://`,
    );
  }
  return url;
}

function takeHeaders(): Record<string, string> {
  const env = hostEnvironment();
  const headers: Record<string, string> = {};
  for (const variable of Object.keys(env)
    .filter((each) => HEADER_VARIABLE.test(each))
    .toSorted()) {
    const [, name = '', value = ''] = /^([^:]*):[ \t]*(.*)$/su.exec(env[variable] ?? '') ?? [];
    Reflect.deleteProperty(process.env, variable);
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw new UsageError(`${variable} is no header: write "Name: value", in one line`);
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}
