import { readdirSync, statSync, type BigIntStats } from 'node:fs';
import { delimiter, isAbsolute, join, parse, resolve, sep } from 'node:path';

/** So many places are looked at for one command. */
const MAX_PLACES = 2000;

/** Where a bare name of a module may be found by Node, Python or a shell. */
const MODULE_SUFFIXES = ['.js', '.json', '.node', '.py', '.sh'];
const HAS_SUFFIX = /\.(?:[cm]?[jt]s|json|node|py|rb|pl|sh|bash)$/;
const MODULE_FILES = ['package.json', 'index.js', '__main__.py'];

/** Where the words of a command are looked for. */
export interface SearchPlaces {
  /** Absolute real path of the project. */
  readonly project: string;
  /** Absolute paths that words may be relative to, of which the project is the first. */
  readonly bases: readonly string[];
  /** As in the environment. */
  readonly searchPath: string | undefined;
}

/** The files that a command names at one moment. */
export interface NamedFiles {
  /** Absolute paths as they are named, not resolved. */
  readonly files: readonly string[];
  /** Differs where another file exists, or one of them may have changed. */
  readonly signature: string;
  /** When the last of them changed, in ms since the epoch. */
  readonly changedAt: number;
}

/**
 * Finds the files that words name, and what the system says of them. Reads none; synchronous, since it takes less
 * time than to wait for it.
 *
 * @throws RangeError when there are too many places to look at
 */
export function findNamedFiles(words: readonly string[], places: SearchPlaces): NamedFiles {
  const found = new Map<string, BigIntStats>();
  const seen = new Set<string>();
  const bases = [...places.bases];
  const programs = searchPathInside(places);
  const look = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    if (seen.size > MAX_PLACES) throw new RangeError('it names too many files to check');
    const stats = statOf(path);
    if (stats?.isFile()) found.set(path, stats);
    if (!stats?.isDirectory()) return;
    for (const file of MODULE_FILES) look(join(path, file));
    // A command may go to a directory that it names: its words may be relative to that one.
    if (isInside(path, places.project)) bases.push(path);
  };
  for (let index = 0; index < bases.length; index++) {
    const base = bases[index] ?? '';
    for (const word of words) candidates(word, base, programs).forEach(look);
  }
  const files = [...found.keys()].toSorted();
  return {
    files,
    signature: files.map((file) => `${file}\0${signatureOf(found.get(file))}`).join('\n'),
    changedAt: Math.max(0, ...[...found.values()].map(changeTimeOf)),
  };
}

/** What changes when a file does, without reading it. */
export function signatureOf(stats: BigIntStats | undefined): string {
  if (!stats) return '';
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

/** Whether a path is that of a directory, or below it. */
export function isInside(path: string, directory: string): boolean {
  return (
    path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
  );
}

function candidates(word: string, base: string, programs: readonly string[]): string[] {
  const isPath = word.includes('/') || word.includes(sep);
  // What begins with a slash may have had a reference to the project before it.
  const path = isAbsolute(word) ? join(base, word) : resolve(base, word);
  if (isPath && /[*?[]/.test(word)) return [path, ...expandGlob(path)];
  if (isPath) return [...(isAbsolute(word) ? withSuffixes(word) : []), ...withSuffixes(path)];
  return [...withSuffixes(path), ...programs.map((directory) => join(directory, word))];
}

function withSuffixes(path: string): string[] {
  if (HAS_SUFFIX.test(path)) return [path];
  return [path, ...MODULE_SUFFIXES.map((suffix) => path + suffix)];
}

/** Programs of the machine are its own affair; those that a project brings are not. */
function searchPathInside({ project, searchPath = '' }: SearchPlaces): string[] {
  return searchPath
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && isInside(resolve(entry), project));
}

/** So many wildcards are looked at closely; a pattern of more is taken to match everything. */
const MAX_WILDCARDS = 8;

/** What a pattern in the last part of a path matches now. */
function expandGlob(path: string): string[] {
  const { dir, base } = parse(path);
  const parts = base.split(/\*+|\?|\[[^\]]*\]?/);
  const wildcard =
    parts.length > MAX_WILDCARDS ? /^/ : new RegExp(`^${parts.map(escape).join('.*')}$`, 's');
  return namesIn(dir)
    .filter((name) => wildcard.test(name))
    .map((name) => join(dir, name));
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // What cannot be reached cannot be run either.
    return undefined;
  }
}

function changeTimeOf({ ctimeMs, mtimeMs }: BigIntStats): number {
  return Number(ctimeMs > mtimeMs ? ctimeMs : mtimeMs);
}
