import { isRecord } from '../../util/records.js';
import { isTexts, type Planned, type Program } from './listedServer.js';
import type { Message } from './rpc.js';

/*
 * Servers over HTTP in the settings of a client. Their headers go where hookstack finds them and others do not: into the
 * environment. What the settings had is read back from what stands there.
 */

/** What clients call the address. */
const URL_KEYS = ['url', 'httpUrl', 'serverUrl'] as const;
/** What they call the transport, in letters alone. */
const HTTP_TYPES = new Set(['http', 'streamablehttp']);
/** With these a client logs in, or makes headers, by itself. */
const LOGINS = ['oauth', 'auth', 'authorization', 'headersHelper', 'authProviderType'] as const;
const HEADER = 'HOOKSTACK_MCP_HEADER_';
const ADDRESS = 'HOOKSTACK_MCP_URL';
const WAS = '--was';

/** What becomes of a server that no command starts. */
export function planRemote(settings: Message, name: string, program: Program): Planned {
  const { type, headers = {}, env = {} } = settings;
  const key = URL_KEYS.find((each) => typeof settings[each] === 'string');
  const url = key === undefined ? undefined : settings[key];
  if (typeof url !== 'string') return { left: 'neither a command nor a url says where it is' };
  const problem = whyNotTaken(settings, url);
  if (problem !== undefined) return { left: problem };
  if (!isRecordOfTexts(headers)) return { left: 'its "headers" are no texts' };
  if (!isRecord(env)) return { left: 'its "env" is no object' };
  const [own, ...place] = program;
  const isOpen = mayBeSeen(url);
  const was = [typeof type === 'string' && type, key].filter(Boolean).join(',');
  const words = [...place, 'mcp', '--name', name, WAS, was, ...(isOpen ? ['--url', url] : [])];
  const variables = Object.fromEntries(
    Object.entries(headers).map(([header, value], index) => [
      `${HEADER}${index + 1}`,
      `${header}: ${value}`,
    ]),
  );
  const added = { ...env, ...(!isOpen && { [ADDRESS]: url }), ...variables };
  return {
    name,
    written: {
      ...(type !== undefined && { type: 'stdio' }),
      command: own,
      args: words,
      ...(Object.keys(added).length > 0 && { env: added }),
      ...(key !== undefined && { [key]: undefined }),
      headers: undefined,
    },
  };
}

function whyNotTaken(settings: Message, url: string): string | undefined {
  const { type } = settings;
  const letters = typeof type === 'string' ? type.toLowerCase().replaceAll(/[^a-z]/gu, '') : 'http';
  if (letters === 'sse' || /\/sse\/?(?:[?#]|$)/u.test(url)) {
    return 'it speaks SSE, the transport of before 2025-03-26, which is not covered';
  }
  if (!HTTP_TYPES.has(letters)) return `its type is ${String(type)}, which is not covered`;
  const login = LOGINS.find((each) => settings[each] !== undefined);
  return (
    login &&
    `its client logs in ("${login}"): start hookstack mcp --listen 127.0.0.1:PORT --url URL, and write that address as its url`
  );
}

/** Others see a command line. A query may hold a key, and what the client fills in, too. */
function mayBeSeen(url: string): boolean {
  return URL.canParse(url) && !/[?$@{}]/u.test(url);
}

/** The keys that a server over HTTP had; `undefined` for one that was started by a command. */
export function remoteAsItWas({ type, args, env = {} }: Message): Message | undefined {
  if (!isTexts(args) || !isRecord(env)) return undefined;
  const was = wordBehind(args, WAS)?.split(',');
  const key = URL_KEYS.find((each) => each === was?.at(-1));
  const url = wordBehind(args, '--url') ?? env[ADDRESS];
  if (!was || key === undefined || url === undefined) return undefined;
  const kept: [string, unknown][] = [];
  const headers: [string, unknown][] = [];
  for (const [variable, value] of Object.entries(env)) {
    const header = variable.startsWith(HEADER) && /^([^:]*): (.*)$/su.exec(String(value));
    if (header) headers.push([header[1] ?? '', header[2]]);
    else if (variable !== ADDRESS) kept.push([variable, value]);
  }
  return {
    ...(type !== undefined && { type: was.length > 1 ? was[0] : undefined }),
    command: undefined,
    args: undefined,
    env: kept.length > 0 ? Object.fromEntries(kept) : undefined,
    [key]: url,
    headers: headers.length > 0 ? Object.fromEntries(headers) : undefined,
  };
}

/** Before the `--` of a command, which has words of its own. */
function wordBehind(args: readonly string[], option: string): string | undefined {
  const end = args.indexOf('--');
  const at = args.indexOf(option, args.indexOf('mcp'));
  return at < 0 || (end >= 0 && at > end) ? undefined : args[at + 1];
}

function isRecordOfTexts(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((each) => typeof each === 'string');
}
