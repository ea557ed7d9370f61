import { filesOfPatch } from '../tools/patch.js';
import { quoteWord } from '../util/quoteWord.js';
import { isRecord } from '../util/records.js';
import type { NamedFile } from './paths.js';
import { COMMANDS, PLACES, rowOfTool, URLS, type ToolRow } from './toolTable.js';
import type { Call } from './types.js';

/** What a tool does with its arguments. */
export interface ToolUses {
  readonly reads: readonly NamedFile[];
  readonly writes: readonly NamedFile[];
  /** Texts for a shell. */
  readonly commands: readonly string[];
  /** Absolute path in which they run. */
  readonly directory: string;
  /** Texts that are a URL, or hold some. */
  readonly addresses: readonly string[];
  /** Why it may do something else, the end of "It cannot be told, as …". Only guards look at its uses then. */
  readonly guess?: string;
}

/**
 * What a call does, as far as its tool is known. A tool that is not, such as any of an MCP server, may do anything with its
 * arguments: one that is named like a path, or looks like one, counts as read and as written, what is named like a command
 * as one, and what holds a URL as an address. A guard that looked at known tools alone would be passed by the first server
 * that has a tool for files, and who sets up such a server thinks of no guard.
 */
export function usesOf({ tool, input, cwd }: Call): ToolUses {
  const row = rowOfTool(tool);
  const at = textsAt(input, PLACES)[0];
  const directory = at === undefined ? cwd : absolute(at, cwd);
  return row ? new KnownUses(row, input, cwd, directory) : guessUses(tool, input, directory);
}

/** Of a tool that is known, each worked out when it is asked for: most patterns are about other tools. */
class KnownUses implements ToolUses {
  constructor(
    private readonly row: ToolRow,
    private readonly input: Call['input'],
    private readonly cwd: string,
    readonly directory: string,
  ) {}

  get reads(): readonly NamedFile[] {
    const { row, input, cwd } = this;
    if (row.kind !== 'read') return [];
    const named = row.sets
      ? textsAt(input, row.sets).flatMap((path) => setOf(path, cwd))
      : row.isBelow || row.names
        ? foldersRead(row, input, cwd)
        : this.#filesAt(row.reads);
    return named.concat(this.#others().files);
  }

  get writes(): readonly NamedFile[] {
    const { row, input, cwd } = this;
    if (row.kind !== 'edit') return [];
    const patched = textsAt(input, row.patch).flatMap(filesOfPatch);
    return this.#filesAt(row.writes).concat(
      this.#others().files,
      patched.map((path) => ({ path, directory: cwd })),
    );
  }

  get commands(): readonly string[] {
    const { row, input } = this;
    if (row.kind !== 'command') return [];
    const usual = COMMANDS.flatMap((name) => commandsIn(input[name]));
    return usual.concat(this.#others().commands);
  }

  get addresses(): readonly string[] {
    const { row, input } = this;
    if (row.kind !== 'fetch') return [];
    const usual = URLS.flatMap((name) => urlsAt(input, name));
    return usual.concat(this.#others().addresses);
  }

  #filesAt(names: readonly string[] | undefined): NamedFile[] {
    const isThere = this.row.kind === 'read';
    return textsAt(this.input, names).map((path) => ({ path, directory: this.cwd, isThere }));
  }

  /**
   * What a known tool is given beside the arguments that it usually has: a host may call them otherwise, and would take the
   * usual one for nothing.
   */
  #others() {
    const { row, input, directory } = this;
    const usual = usualNames(row);
    const rest: [string, unknown][] = [];
    for (const [name, value] of Object.entries(input)) {
      if (!usual.has(name) || !isTextOrTexts(value)) rest.push([name, value]);
    }
    return usesByName(rest, directory, false);
  }
}

/** Of a URL, tools need no more than the host. */
function urlsAt(input: Call['input'], name: string): readonly string[] {
  const texts = textsAt(input, [name]);
  return /^ur[il]/.test(name) ? texts.map(withScheme) : texts;
}

function withScheme(url: string): string {
  return URL_WITHIN.test(url) ? url : `http://${url.trim().replace(/^(?:https?:)?\/*/i, '')}`;
}

function isTextOrTexts(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value === 'string';
  return value.every((each) => typeof each === 'string');
}

const usualByRow = new WeakMap<ToolRow, ReadonlySet<string>>();

function usualNames(row: ToolRow): ReadonlySet<string> {
  const known = usualByRow.get(row);
  if (known) return known;
  const names = new Set([...Object.values(row), PLACES].flat().map(String));
  usualByRow.set(row, names);
  return names;
}

/** A list may be one command in words, or several. */
function commandsIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return typeof value === 'string' ? [value] : [];
  const texts = value.filter((each): each is string => typeof each === 'string');
  return texts.length > 1 ? [texts.map(quoteWord).join(' '), ...texts] : texts;
}

function setOf(path: string, directory: string): NamedFile[] {
  if (!WILDCARD.test(path)) return [{ path, directory, isBelow: true }];
  const glob: NamedFile = { path, shown: path, directory, isGlob: true, doubt: BY_PATTERN };
  return ALL_NAMES.test(path) ? [glob, belowOf(path, directory)] : [glob];
}

const WILDCARD = /[*?[{]/;
const BY_PATTERN = 'it names files by a pattern';
/** All names in a directory. */
const ALL_NAMES = /(?:^|\/)\*+(?:\.\*)?$/;

function belowOf(glob: string, directory: string): NamedFile {
  const path = glob.replace(/[^/]*[*?[{].*$/, '') || '.';
  return { path, shown: glob, directory, isBelow: true };
}

/** Directories in which a tool looks for files or texts. */
function foldersRead(row: ToolRow, input: Call['input'], cwd: string): NamedFile[] {
  const [folder = '.'] = textsAt(input, row.reads ?? row.names);
  const all: NamedFile = { path: folder, directory: cwd, ...(row.isBelow && { isBelow: true }) };
  const isNames = row.names !== undefined;
  const globs = textsAt(input, row.only);
  if (globs.length === 0) return [all];
  return globs.map((glob) => {
    const path = glob.startsWith('/') ? glob : `${folder}/${row.isBelow ? '**/' : ''}${glob}`;
    // All names there are no more than the directory itself.
    return ALL_NAMES.test(glob)
      ? { ...all, path: path.replace(/[^/]*[*?[{].*$/, '') || '.' }
      : { path, shown: glob, directory: cwd, isGlob: true, isNames, doubt: BY_PATTERN };
  });
}

function absolute(path: string, from: string): string {
  return path.startsWith('/') ? path : `${from}/${path}`;
}

/** Texts in arguments of these names, also in lists of them. */
function textsAt(input: Call['input'], names: readonly string[] = []): readonly string[] {
  const texts: string[] = [];
  for (const name of names) {
    const value = input[name];
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) {
      texts.push(...value.filter((each): each is string => typeof each === 'string'));
    }
  }
  return texts;
}

const LIKE_PATH = /path|file|dir|folder|notebook|target|source|dest|uri|location/i;
const LIKE_COMMAND = /^(?:command|cmd|script|shell|bash|exec|code)s?(?:_?line)?$/i;
const PATH = /^(?:file:\/\/)?(?:~|\.{0,2}\/|\.\w|[\w@.-]+\/|[\w.-]+\.\w{1,8}$)[^\n]*$/;
const URL_WITHIN = /\b(?:https?|ftp|wss?):\/\//i;
const MAX_LEVELS = 6;
/** Characters: a longer text is no path. */
const MAX_PATH = 4096;

function guessUses(tool: string, input: Call['input'], directory: string): ToolUses {
  const { files, commands, addresses } = usesByName(Object.entries(input), directory, true);
  return {
    reads: files,
    writes: files,
    commands,
    directory,
    addresses,
    guess: `what ${tool} does with its arguments is not known here`,
  };
}

/** @param isAny whether what looks like a path is one whatever it is called */
function usesByName(given: readonly [string, unknown][], directory: string, isAny: boolean) {
  const files: NamedFile[] = [];
  const commands: string[] = [];
  const addresses: string[] = [];
  for (const [name, value] of given) look(name, value, MAX_LEVELS - 1);
  return { files, commands, addresses };

  function look(name: string, value: unknown, levels: number): void {
    if (typeof value === 'string') lookAtText(name, value);
    else if (levels === 0) return;
    else if (Array.isArray(value)) {
      if (LIKE_COMMAND.test(name)) commands.push(...commandsIn(value).slice(0, 1));
      for (const each of value) look(name, each, levels - 1);
    } else if (isRecord(value)) {
      for (const [key, each] of Object.entries(value)) look(key, each, levels - 1);
    }
  }

  function lookAtText(name: string, text: string): void {
    const isUrl = URL_WITHIN.test(text);
    if (isUrl) addresses.push(text);
    else if (/^urls?$/i.test(name)) addresses.push(withScheme(text));
    if (LIKE_COMMAND.test(name)) commands.push(text);
    else if (text.length > MAX_PATH || isUrl) return;
    else if (LIKE_PATH.test(name) || (isAny && PATH.test(text))) {
      files.push({ path: text, directory });
    }
  }
}
