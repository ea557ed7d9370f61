import type { McpServer } from '../protocol/types.js';
import { expecting, listOfText, nonBlankText, objectOf, oneOf, text } from '../util/checks.js';
import { isRecord, UNSAFE_KEYS } from '../util/records.js';

/** An object of strings. */
export const texts = expecting<Readonly<Record<string, string>>>(
  `an object of strings with no key named ${[...UNSAFE_KEYS].join(', ')}`,
  (value) =>
    isRecord(value) &&
    Object.entries(value).every(([key, item]) => typeof item === 'string' && !UNSAFE_KEYS.has(key)),
  {
    type: 'object',
    propertyNames: { not: { enum: [...UNSAFE_KEYS] } },
    additionalProperties: text.schema,
  },
);

const SERVER =
  'an MCP server: { "command", "args", "env", "cwd" }, or { "type": "http", "url", "headers" }';
const fields = {
  type: oneOf('stdio', 'http'),
  command: nonBlankText,
  args: listOfText,
  env: texts,
  cwd: nonBlankText,
  url: nonBlankText,
  headers: texts,
};
const anyServer = objectOf<McpServer>(SERVER, fields);

/** One MCP server: a program, or an address, and not both. Other keys are those of other programs. */
export const mcpServer = expecting<McpServer>(
  SERVER,
  (value) => anyServer.is(value) && isOneOfBoth(value),
  { ...anyServer.schema, oneOf: [{ required: ['command'] }, { required: ['url'] }] },
  () => 'of which one key is not of its kind, or there is neither "command" nor "url", or both',
);

function isOneOfBoth({ type, command, url }: McpServer): boolean {
  const kind = url === undefined ? 'stdio' : 'http';
  return (command === undefined) !== (url === undefined) && (type ?? kind) === kind;
}

/**
 * Finds the MCP server that a hook names.
 *
 * @param servers what stands under `mcpServers` of the same file
 * @returns without the keys that mean nothing here; or why there is none, as the end of "… the server …"
 */
export function findServer(servers: unknown, name: string): McpServer | string {
  const found: unknown =
    isRecord(servers) && Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (found === undefined) return 'is not under "mcpServers" of this file: add it there';
  const [failure, server] = mcpServer.validate(found);
  if (failure) return `under "mcpServers" is none: ${failure.message}`;
  const known = Object.entries(server).filter(([key]) => Object.hasOwn(fields, key));
  return Object.fromEntries(known);
}
