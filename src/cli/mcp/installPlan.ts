import type { JsonEdit } from '../../config/settings/editJson.js';
import { isRecord } from '../../util/records.js';
import { recordIn } from './rpc.js';

/** What becomes of one server of a client's settings. */
export interface ServerChange {
  /** As the file calls it. */
  readonly server: string;
  /** As hooks call it; absent where it stays as it is. */
  readonly name?: string;
  /** Why it stays as it is. */
  readonly left?: string;
}

export interface InstallPlan {
  readonly changes: readonly ServerChange[];
  readonly edits: readonly JsonEdit[];
}

/** Where clients list their servers: most of them; VS Code in mcp.json; VS Code in its settings. */
const PLACES = [['mcpServers'], ['servers'], ['mcp', 'servers']] as const;

/** How a client is to start hookstack. */
export type Program = readonly [command: string, ...args: string[]];

/** The servers of a client's settings, and the keys that lead to them; none where the file lists none. */
export function findServers(settings: Readonly<Record<string, unknown>>) {
  return PLACES.map((place) => ({ place, servers: recordIn(settings, ...place) })).find(
    ({ servers }) => Object.values(servers).some(isRecord),
  );
}

/** @param chosen names of servers; none for all */
export function planInstall(
  settings: Readonly<Record<string, unknown>>,
  chosen: readonly string[],
  undo: boolean,
  program: Program,
): InstallPlan {
  const { place = [], servers = {} } = findServers(settings) ?? {};
  const names = chosen.length > 0 ? chosen : Object.keys(servers);
  const changes: ServerChange[] = [];
  const edits: JsonEdit[] = [];
  for (const server of names) {
    const change = planServer(server, recordIn(servers, server), undo, program);
    const { command, args, ...told } = change;
    changes.push({ server, ...told });
    if (command === undefined) continue;
    edits.push({ path: [...place, server, 'command'], value: command });
    edits.push({ path: [...place, server, 'args'], value: args });
  }
  return { changes, edits };
}

interface Planned extends Omit<ServerChange, 'server'> {
  readonly command?: string;
  /** Absent to remove them. */
  readonly args?: readonly string[];
}

function planServer(
  server: string,
  { command, args = [] }: Readonly<Record<string, unknown>>,
  undo: boolean,
  program: Program,
): Planned {
  if (typeof command !== 'string') {
    return { left: 'no command starts it: servers elsewhere are not covered' };
  }
  if (!Array.isArray(args) || !args.every((each) => typeof each === 'string')) {
    return { left: 'its "args" are no list of texts' };
  }
  const wrapped = readWrapped(command, args, program);
  if (undo) {
    if (!wrapped) return { left: 'hookstack is not in front of it' };
    const [own = '', ...rest] = wrapped.command;
    return { command: own, name: wrapped.name, ...(rest.length > 0 && { args: rest }) };
  }
  if (wrapped) return { left: `hookstack is in front of it already, as "${wrapped.name}"` };
  const name = toName(server);
  const [own, ...place] = program;
  return {
    command: own,
    args: [...place, 'mcp', '--name', name, '--', command, ...args],
    name,
  };
}

/** What hookstack starts, where a client starts hookstack. */
function readWrapped(
  command: string,
  args: readonly string[],
  program: Program,
): { readonly name: string; readonly command: readonly string[] } | undefined {
  const start = args.indexOf('mcp');
  const end = args.indexOf('--', start);
  const options = args.slice(start + 1, end);
  const name = options[options.indexOf('--name') + 1];
  const before = [command, ...args.slice(0, Math.max(start, 0))];
  const isOurs =
    before.at(-1) === program.at(-1) ||
    before.some((word) => word.split(/[\\/]/u).includes('hookstack'));
  const isWrapped = start >= 0 && end > start && isOurs && options.includes('--name');
  return isWrapped && name !== undefined ? { name, command: args.slice(end + 1) } : undefined;
}

/** A name that can stand in the names of tools. */
function toName(server: string): string {
  const name = server.replaceAll(/[^A-Za-z0-9.-]+/gu, '_').replaceAll(/^[^A-Za-z0-9]+|_+$/gu, '');
  return name === '' ? 'server' : name;
}
