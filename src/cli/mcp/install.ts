import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonEdit } from '../shared/editJson.js';
import { editSettings, planSettings } from '../shared/editSettings.js';
import { findProgram } from '../../process/command/findProgram.js';
import { diffLines } from '../../trace/diff.js';
import { isRecord } from '../../util/records.js';
import { suggestName } from '../../util/suggestName.js';
import { printJson, printLine, printNotice, toOneLine, toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { planRemote, remoteAsItWas } from './installRemote.js';
import { isTexts, type Planned, type Program, type ServerChange } from './listedServer.js';
import { recordIn, type Message } from './rpc.js';

interface InstallOptions {
  readonly into?: string;
  readonly undo?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const CONTEXT = 2;
const MAX_CHANGED = 2000;

/** Writes `hookstack mcp` into the settings of a client of MCP, in place of its servers, or takes it out again. */
export async function install(
  servers: readonly string[],
  { into, undo = false, dryRun = false, json = false }: InstallOptions,
): Promise<void> {
  if (into === undefined) {
    throw new UsageError(
      'Say which file lists the servers: --into .mcp.json (Claude Code), .cursor/mcp.json, .vscode/mcp.json, .gemini/settings.json, or that of another client',
    );
  }
  const file = path.resolve(into);
  const program = findOwnProgram();
  let plan: InstallPlan = { changes: [], edits: [] };
  const decide = (settings: Readonly<Record<string, unknown>>) => {
    checkServers(into, settings, servers);
    plan = planInstall(settings, servers, undo, program);
    return plan.edits;
  };
  const { before, after } = await planSettings(file, decide);
  const diff = diffLines(toUnix(before), toUnix(after), CONTEXT, MAX_CHANGED).flat();
  if (!dryRun) await editSettings(file, decide);
  if (json)
    printJson({ file, dryRun, undo, changed: before !== after, servers: plan.changes, diff });
  else for (const line of report(file, plan, diff, { undo, dryRun })) printLine(line);
  if (program.length > 1 && plan.edits.length > 0 && !undo) {
    printNotice(
      'note',
      'hookstack is not on the PATH: its place on this machine was written. Install it with npm install --global hookstack to share the file',
    );
  }
}

function checkServers(
  into: string,
  settings: Readonly<Record<string, unknown>>,
  chosen: readonly string[],
): void {
  const found = findServers(settings);
  if (found.length === 0) {
    throw new UsageError(
      `${toVisible(into)} lists no servers under "mcpServers", "servers" or "mcp.servers"; name the file in which your client does`,
    );
  }
  const known = found.map(({ server }) => server);
  const missing = chosen.find((name) => !known.includes(name));
  if (missing === undefined) return;
  throw new UsageError(
    `${toVisible(into)} has no server "${toVisible(missing)}"; ${suggestName(missing, known)}`,
  );
}

/** By its name, where a client finds it by that; else by its place. */
function findOwnProgram(): Program {
  if (findProgram('hookstack') !== undefined) return ['hookstack'];
  const manifest = fileURLToPath(import.meta.resolve('hookstack/package.json'));
  return [process.execPath, path.join(path.dirname(manifest), 'dist/cli.cjs')];
}

function report(
  file: string,
  { changes }: InstallPlan,
  diff: readonly string[],
  { undo, dryRun }: { readonly undo: boolean; readonly dryRun: boolean },
): string[] {
  const verb = dryRun ? 'would be' : 'is now';
  const lines = changes.map(({ server, name = '', left }) => {
    const title = toOneLine(server);
    if (left !== undefined) return `${title}: left as it is: ${toOneLine(left)}`;
    if (undo) return `${title}: ${dryRun ? 'would be ' : ''}restored`;
    return `${title}: ${verb} behind hookstack, its tools are mcp__${name}__…`;
  });
  const isChanged = !dryRun && !undo && changes.some(({ left }) => left === undefined);
  const next = `Restart the client, or its servers. To take it back: hookstack mcp install --into ${toVisible(file)} --undo`;
  const shown = dryRun ? diff.map(toVisible) : [];
  return [toVisible(file), ...shown, ...lines, ...(isChanged ? [next] : [])];
}

function toUnix(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

interface InstallPlan {
  readonly changes: readonly ServerChange[];
  readonly edits: readonly JsonEdit[];
}

/** Where clients list their servers: most of them; VS Code in mcp.json; VS Code in its settings. */
const PLACES = [['mcpServers'], ['servers'], ['mcp', 'servers']] as const;

/** A server of a client's settings, and the keys that lead to it. */
interface Listed {
  readonly server: string;
  readonly place: readonly string[];
  readonly settings: Message;
}

/** All servers of a client's settings. A file may list some for each of several clients. */
function findServers(settings: Readonly<Record<string, unknown>>): readonly Listed[] {
  return PLACES.flatMap((place) =>
    Object.entries(recordIn(settings, ...place)).flatMap(([server, each]) =>
      isRecord(each) ? [{ server, place: [...place, server], settings: each }] : [],
    ),
  );
}

/** @param chosen names of servers; none for all */
function planInstall(
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
    const { written, ...told } = change;
    changes.push({ server, ...told });
    for (const [key, value] of Object.entries(written ?? {})) {
      edits.push({ path: [...place, key], value });
    }
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
  for (const each of listed) {
    const wrapped = readWrapped(each.settings, program);
    if (wrapped) give(each, wrapped.name);
  }
  const open = listed.filter((each) => !names.has(each));
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

const NOT_IN_FRONT = 'hookstack is not in front of it';

function planServer(settings: Message, name: string, undo: boolean, program: Program): Planned {
  const { command, args = [] } = settings;
  if (typeof command !== 'string') {
    return undo ? { left: NOT_IN_FRONT } : planRemote(settings, name, program);
  }
  if (!isTexts(args)) return { left: 'its "args" are no list of texts' };
  const wrapped = readWrapped(settings, program);
  if (undo) {
    if (!wrapped) return { left: NOT_IN_FRONT };
    const remote = remoteAsItWas(settings);
    if (remote) return { written: remote, name: wrapped.name };
    const [own, ...rest] = wrapped.command;
    if (own === undefined) return { left: 'no "--" stands before its command: change it by hand' };
    return {
      written: { command: own, args: rest.length > 0 ? rest : undefined },
      name: wrapped.name,
    };
  }
  if (wrapped) return { left: `hookstack is in front of it already, as "${wrapped.name}"` };
  const [own, ...place] = program;
  const words = [...place, 'mcp', '--name', name, '--', command, ...args];
  return { written: { command: own, args: words }, name };
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

/** A name that can stand in the names of tools. */
function toName(server: string): string {
  const name = server.replaceAll(/[^A-Za-z0-9.-]+/gu, '_').replaceAll(/^[^A-Za-z0-9]+|_+$/gu, '');
  return name === '' ? 'server' : name;
}
