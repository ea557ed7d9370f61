import { readdirSync, statSync, type BigIntStats } from 'node:fs';
import { delimiter, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';

/** So many places are looked at for one command. */
const MAX_PLACES = 2000;

/** Where a bare name of a module may be found by Node, Python or a shell. */
const MODULE_SUFFIXES = ['.js', '.json', '.node', '.py', '.pm', '.sh'];
const HAS_SUFFIX = /\.(?:[cm]?[jt]s|json|node|py|rb|pl|sh|bash)$/;
const MODULE_FILES = ['package.json', 'index.js', '__main__.py', '__init__.py'];

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
  const entered = new Set<string>();
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
    if (!isNear(path, places.project) || entered.has(identityOf(stats))) return;
    entered.add(identityOf(stats));
    bases.push(path);
  };
  for (let index = 0; index < bases.length; index++) {
    const base = bases[index] ?? '';
    const isProject = index === 0;
    for (const word of words) candidates(word, { base, isProject }, programs).forEach(look);
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

/** Whether a directory is in the project, or up to three levels above it, as in a repository of many projects. */
function isNear(path: string, project: string): boolean {
  const folded = resolve(path);
  return isInside(folded, project) || /^(?:\.\.[\\/]?){1,3}$/.test(relative(project, folded));
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function candidates(
  word: string,
  { base, isProject }: { base: string; isProject: boolean },
  programs: readonly string[],
): string[] {
  const isPath = word.includes('/') || word.includes(sep);
  // What begins with a slash may have had a reference to the project before it.
  const path = isAbsolute(word) ? join(base, word) : resolve(base, word);
  // Not as text alone: where a link leads decides what is above it.
  const asItStands = word.includes('..') ? withSuffixes(`${base}${sep}${word}`) : [];
  // A bare `*` in the project's own folder is more often one of a `case` than one of a loop over its files.
  if (/[*?[]/.test(word) && (isPath || !isProject)) return [path, ...expandPattern(path)];
  if (isPath) {
    return [...(isAbsolute(word) ? withSuffixes(word) : []), ...withSuffixes(path), ...asItStands];
  }
  return [
    ...withSuffixes(path),
    ...asItStands,
    ...programs.map((directory) => join(directory, word)),
  ];
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

/** What a path with patterns in its parts matches now. */
function expandPattern(path: string): string[] {
  const { root } = parse(path);
  let found = [root];
  for (const part of path.slice(root.length).split(sep)) {
    found = found.flatMap((directory) => matchesIn(directory, part)).slice(0, MAX_PLACES + 1);
  }
  return found;
}

function matchesIn(directory: string, part: string): string[] {
  if (!/[*?[]/.test(part)) return [join(directory, part)];
  const pieces = part.split(/\*+|\?|\[[^\]]*\]?/);
  const wildcard =
    pieces.length > MAX_WILDCARDS ? /^/ : new RegExp(`^${pieces.map(escape).join('.*')}$`, 's');
  return namesIn(directory)
    .filter((name) => wildcard.test(name))
    .map((name) => join(directory, name));
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
