import fs from 'node:fs/promises';
import path from 'node:path';
import { quote } from './printable.js';
import { invalid, limitedSteps } from './toolFailure.js';
import { type WorkspacePath, joinWorkspacePath } from './workspace.js';

/** Sorted by path, hidden files included. Throws ToolFailure for an unusable or slow glob, or the signal's reason. */
export async function findFiles(
  directory: WorkspacePath,
  glob: string,
  options: { readonly caseSensitive?: boolean; readonly signal?: AbortSignal } = {},
): Promise<WorkspacePath[]> {
  const findMatching = await createGlobMatcher([glob], directory, options);
  const found: (readonly string[])[] = [];
  const isWanted = mayHold(glob, options.caseSensitive ?? true);
  for await (const files of walkFiles(directory.real, { ...options, isWanted })) {
    found.push(findMatching(files));
  }
  const sorted = found.flat().toSorted();
  return sorted.map((below) => joinWorkspacePath(directory, below));
}

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Directories read at the same time. */
const CONCURRENCY = 16;

/**
 * Paths of files relative to `root`, with `/`. Skips `.git` and `node_modules`, symbolic links, directories that cannot
 * be read, and those that are not wanted. Throws the reason of `signal`.
 */
export async function* walkFiles(
  root: string,
  options: {
    readonly isWanted?: (directory: string) => boolean;
    readonly signal?: AbortSignal;
  } = {},
): AsyncGenerator<string[]> {
  const { isWanted = () => true, signal } = options;
  const pending = ['.'];
  while (pending.length > 0) {
    signal?.throwIfAborted();
    const some = pending.splice(-CONCURRENCY);
    const read = await Promise.all(some.map((directory) => readDirectory(root, directory)));
    for (const { directories } of read) {
      for (const below of directories) if (isWanted(below)) pending.push(below);
    }
    yield read.flatMap(({ files }) => files);
  }
  signal?.throwIfAborted();
}

async function readDirectory(root: string, directory: string) {
  const all = await fs.readdir(path.join(root, directory), { withFileTypes: true }).catch(() => []);
  const entries = all.filter(({ name }) => !SKIPPED.has(name));
  const pathOf = ({ name }: { name: string }) => path.posix.join(directory, name);
  return {
    directories: entries.filter((entry) => entry.isDirectory()).map(pathOf),
    files: entries.filter((entry) => entry.isFile()).map(pathOf),
  };
}

/** A name that means itself in a glob. */
const LITERAL = /^[\w .-]+$/;

/** Excludes only what surely holds no match. */
function mayHold(glob: string, caseSensitive: boolean): (directory: string) => boolean {
  const fold = (name: string) => (caseSensitive ? name : name.toLowerCase());
  const segments = normalizeGlob(glob).split('/');
  const parents = segments.slice(0, -1);
  const firstOther = parents.findIndex((segment) => !LITERAL.test(segment));
  const literal = parents.slice(0, firstOther < 0 ? undefined : firstOther).map(fold);
  const maxDepth = /\*\*|[([]/.test(glob) ? Infinity : parents.length;
  return (directory) => {
    const names = directory.split('/');
    return (
      names.length <= maxDepth &&
      literal.every((name, at) => names[at] === undefined || fold(names[at]) === name)
    );
  };
}

/** Paths have `/` as the separator. Throws a ToolFailure where matching takes too long. */
type GlobMatcher = (paths: readonly string[]) => readonly string[];

/** Paths matched in one time-limited step. */
const BATCH = 1000;

/** A glob that begins with `!` excludes. Hidden files match. Throws ToolFailure for what leads out or is not a glob. */
export async function createGlobMatcher(
  globs: readonly string[],
  directory: WorkspacePath,
  { caseSensitive = true } = {},
): Promise<GlobMatcher> {
  for (const glob of globs) refuseToLeadOut(glob, directory);
  if (globs.length === 0) return () => [];

  const { default: picomatch } = await import('picomatch');
  const inLimits = limitedSteps(
    globs.map(quote).join(', '),
    'Simplify the glob: use fewer wildcards, or search a smaller directory.',
  );
  const positive = globs.filter((glob) => !isNegative(glob)).map(normalizeGlob);
  const negative = globs.filter(isNegative).map((glob) => normalizeGlob(glob.slice(1)));
  const options = { dot: true, nocase: !caseSensitive, ignore: negative };
  const isMatch = inLimits(() => picomatch(positive, options));
  return (paths) => {
    const found: string[][] = [];
    for (let start = 0; start < paths.length; start += BATCH) {
      const batch = paths.slice(start, start + BATCH);
      found.push(inLimits(() => batch.filter((each) => isMatch(each))));
    }
    return found.flat();
  };
}

function isNegative(glob: string): boolean {
  return glob.startsWith('!') && !glob.startsWith('!(');
}

/** Removes `.`, empty names and a trailing slash. */
function normalizeGlob(glob: string): string {
  return path.posix.normalize(glob).replace(/(?<=.)\/$/, '');
}

function refuseToLeadOut(glob: string, directory: WorkspacePath): void {
  const positive = glob.replace(/^!+/, '');
  const leadsUpwards = positive.split('/').some((segment) => segment.startsWith('..'));
  if (!path.isAbsolute(positive) && !leadsUpwards) return;
  throw invalid(
    `The glob ${quote(glob)} is absolute or leads upwards; globs are matched below ${directory.shown}.`,
    'Use a relative glob without "..", such as "**/*.ts"; name the directory in the path argument.',
  );
}
