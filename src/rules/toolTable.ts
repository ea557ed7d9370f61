import { dialects } from '../dialects/dialects.js';
import { ourToolName } from '../dialects/translate.js';

/** What patterns call by one word: all tools that do this. */
export type ToolKind = 'command' | 'read' | 'edit' | 'fetch' | 'other';

/** Names of arguments, of all agents and their versions. */
export interface ToolRow {
  readonly kind: ToolKind;
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Files of which nothing but names is told. */
  readonly names?: readonly string[];
  /** Whether all in a directory is read. */
  readonly isBelow?: true;
  /** Which of the files in the directory, as a glob. */
  readonly only?: readonly string[];
  /** Files, directories with all in them, and globs. */
  readonly sets?: readonly string[];
  readonly commands?: readonly string[];
  readonly addresses?: readonly string[];
  /** A patch of files. */
  readonly patch?: readonly string[];
}

const FILE = ['file_path', 'absolute_path', 'path', 'filePath', 'file', 'notebook_path'];
const FOLDER = ['path', 'dir_path', 'directory'];
export const URLS = ['url', 'urls', 'uri', 'prompt', 'query'];
export const COMMANDS = ['command', 'commands', 'cmd', 'script', 'chars'];
export const PLACES = ['directory', 'dir_path', 'workdir', 'cwd'];

const READS_FILE: ToolRow = { kind: 'read', reads: FILE };
const WRITES_FILE: ToolRow = { kind: 'edit', writes: FILE };
const PATCHES: ToolRow = {
  kind: 'edit',
  writes: FILE,
  patch: ['input', 'patch', 'patchText', 'command'],
};
const RUNS: ToolRow = { kind: 'command', commands: COMMANDS };
const FETCHES: ToolRow = { kind: 'fetch', addresses: URLS };
/** It works on nothing that patterns of files, commands or addresses could mean. */
const NOTHING: ToolRow = { kind: 'other' };

/** The tools by our names, and those of other agents that have none of ours. */
const TOOLS: Readonly<Record<string, ToolRow>> = {
  run_shell_command: RUNS,
  read_file: READS_FILE,
  read_many_files: { kind: 'read', sets: ['paths', 'include', 'path', 'files'] },
  write_file: WRITES_FILE,
  replace: WRITES_FILE,
  glob: { kind: 'read', names: FOLDER, only: ['pattern', 'query'] },
  search_file_content: { kind: 'read', reads: FOLDER, isBelow: true, only: ['include', 'glob'] },
  list_directory: { kind: 'read', reads: FOLDER },
  web_fetch: FETCHES,
  google_web_search: NOTHING,
  write_todos: NOTHING,
  task: NOTHING,
  AskUserQuestion: NOTHING,
  BashOutput: NOTHING,
  EnterPlanMode: NOTHING,
  ExitPlanMode: NOTHING,
  KillShell: NOTHING,
  TaskOutput: NOTHING,
  TaskStop: NOTHING,
  ToolSearch: NOTHING,
  save_memory: NOTHING,
  question: NOTHING,
  skill: NOTHING,
  Skill: NOTHING,
  task_tracker: NOTHING,
  Monitor: RUNS,
  write_stdin: RUNS,
  PowerShell: RUNS,
  NotebookRead: READS_FILE,
  NotebookEdit: WRITES_FILE,
  MultiEdit: WRITES_FILE,
  Delete: WRITES_FILE,
  LSP: READS_FILE,
  lsp: READS_FILE,
  view_image: READS_FILE,
  apply_patch: PATCHES,
  ApplyPatch: PATCHES,
  browser: FETCHES,
};

const theirNames = new Map<string, Set<string>>();
for (const { tools, otherTools = [] } of Object.values(dialects)) {
  for (const name of otherTools) addName(name, name);
  for (const { ours, theirs } of tools) for (const name of [ours, ...theirs]) addName(name, ours);
}
for (const name of Object.keys(TOOLS)) addName(name, name);

function addName(name: string, ours: string): void {
  theirNames.set(name, (theirNames.get(name) ?? new Set()).add(ours));
}

/** All names of tools that are known, ours and those of any agent. */
export function knownTools(): readonly string[] {
  return [...theirNames.keys()];
}

/** Our names of the tools that some agent calls by this one; itself, where none does. */
export function ourToolNames(name: string): readonly string[] {
  const known = theirNames.get(name);
  if (known) return [...known, name];
  const names = Object.values(dialects).map((dialect) => ourToolName(dialect, name));
  return [...new Set([name, ...names])];
}

/** Our names of the tools of a kind, and those of other agents that have none of ours. */
export function toolsOf(kind: ToolKind): readonly string[] {
  return Object.keys(TOOLS).filter((name) => TOOLS[name]?.kind === kind);
}

/** What a tool is, by any name of it; `undefined` where it is not known. */
export function kindOfTool(name: string): ToolKind | undefined {
  const kinds = ourToolNames(name).map((each) => rowOf(each)?.kind);
  return kinds.find((kind) => kind !== undefined);
}

/** What is known of a tool, by any name of it. */
export function rowOfTool(name: string): ToolRow | undefined {
  return rowOf(name) ?? rowOf(theirNames.get(name)?.values().next().value ?? '');
}

function rowOf(name: string): ToolRow | undefined {
  return Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
}
