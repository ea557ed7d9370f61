import type { JsonEdit } from '../shared/editJson.js';
import { isRecord } from '../../util/records.js';
import { recordIn, type Message } from './rpc.js';

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

/** A server of a client's settings, and the keys that lead to it. */
interface Listed {
  readonly server: string;
  readonly place: readonly string[];
  readonly settings: Message;
}

/** All servers of a client's settings. A file may list some for each of several clients. */
export function findServers(settings: Readonly<Record<string, unknown>>): readonly Listed[] {
  return PLACES.flatMap((place) => {
    const servers = Object.entries(recordIn(settings, ...place));
    return servers.flatMap(([server, each]) =>
      isRecord(each) ? [{ server, place: [...place, server], settings: each }] : [],
    );
  });
}

/** @param chosen names of servers; none for all */
export function planInstall(
  settings: Readonly<Record<string, unknown>>,
  chosen: readonly string[],
  undo: boolean,
  program: Program,
): InstallPlan {
  const listed = findServers(settings);
  const names = namesOf(listed, program);
  const changes: ServerChange[] = [];
  const edits: JsonEdit[] = [];
  for (const each of listed) {
    const { server, place } = each;
    if (chosen.length > 0 && !chosen.includes(server)) continue;
    const change = planServer(each.settings, names.get(each) ?? '', undo, program);
    const { command, args, ...told } = change;
    changes.push({ server, ...told });
    if (command === undefined) continue;
    edits.push({ path: [...place, 'command'], value: command });
    edits.push({ path: [...place, 'args'], value: args });
  }
  return { changes, edits };
}

/**
 * How hooks will call each server. No two are called the same, as hooks could not tell their tools apart: what hooks know
 * already stays, then servers whose own name will do keep it, and the others get a number.
 */
function namesOf(listed: readonly Listed[], program: Program): ReadonlyMap<Listed, string> {
  const names = new Map<Listed, string>();
  const taken = new Set<string>();
  const give = (each: Listed, name: string) => {
    names.set(each, name);
    taken.add(name);
  };
  const open: Listed[] = [];
  for (const each of listed) {
    const wrapped = readWrapped(each.settings, program);
    if (wrapped) give(each, wrapped.name);
    else open.push(each);
  }
  for (const each of open) {
    const { server } = each;
    if (toName(server) === server && !taken.has(server)) give(each, server);
  }
  for (const each of open) {
    if (!names.has(each)) give(each, numbered(toName(each.server), taken));
  }
  return names;
}

function numbered(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let next = 2; taken.has(free); next += 1) free = `${name}-${next}`;
  return free;
}

interface Planned extends Omit<ServerChange, 'server'> {
  readonly command?: string;
  /** Absent to remove them. */
  readonly args?: readonly string[];
}

function planServer(settings: Message, name: string, undo: boolean, program: Program): Planned {
  const { command, args = [] } = settings;
  if (typeof command !== 'string') {
    return { left: 'no command starts it: servers elsewhere are not covered' };
  }
  if (!isTexts(args)) return { left: 'its "args" are no list of texts' };
  const wrapped = readWrapped(settings, program);
  if (undo) {
    if (!wrapped) return { left: 'hookstack is not in front of it' };
    const [own, ...rest] = wrapped.command;
    if (own === undefined) return { left: 'no "--" stands before its command: change it by hand' };
    return { command: own, name: wrapped.name, ...(rest.length > 0 && { args: rest }) };
  }
  if (wrapped) return { left: `hookstack is in front of it already, as "${wrapped.name}"` };
  const [own, ...place] = program;
  return { command: own, args: [...place, 'mcp', '--name', name, '--', command, ...args], name };
}

/** As a package, with or without its version, or as what npm writes for it. */
const OWN_WORD = /(?:^|[\\/])hookstack(?:@[^\\/]*|\.(?:cmd|ps1|exe))?(?:[\\/]|$)/iu;

/** What hookstack starts, where a client starts hookstack; no command where none can be told from its options. */
function readWrapped(
  { command, args = [] }: Message,
  program: Program,
): { readonly name: string; readonly command: readonly string[] } | undefined {
  if (typeof command !== 'string' || !isTexts(args)) return undefined;
  const start = args.indexOf('mcp');
  if (start < 0) return undefined;
  const before = [command, ...args.slice(0, start)];
  const isOurs = before.at(-1) === program.at(-1) || before.some((word) => OWN_WORD.test(word));
  const own = args.slice(start + 1);
  const end = own.indexOf('--');
  const name = nameIn(end < 0 ? own : own.slice(0, end));
  if (!isOurs || name === undefined) return undefined;
  return { name, command: end < 0 ? [] : own.slice(end + 1) };
}

function nameIn(options: readonly string[]): string | undefined {
  const at = options.findLastIndex((option) => /^--name(?:=|$)/u.test(option));
  const option = options[at];
  return option === '--name' ? options[at + 1] : option?.slice('--name='.length);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** A name that can stand in the names of tools. */
function toName(server: string): string {
  const name = server.replaceAll(/[^A-Za-z0-9.-]+/gu, '_').replaceAll(/^[^A-Za-z0-9]+|_+$/gu, '');
  return name === '' ? 'server' : name;
}
