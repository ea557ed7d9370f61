import fs from 'node:fs/promises';
import path from 'node:path';
import { createGlobMatcher, normalizeGlob } from './globMatcher.js';
import { joinWorkspacePath, type WorkspacePath } from './workspace.js';

/**
 * Finds the files below a directory that match a glob, sorted by path. Hidden files are found; symbolic
 * links are not followed; `.git` and `node_modules` below the directory are skipped.
 *
 * @throws ToolFailure when the glob is absolute or leads upwards, is none, or takes too long
 * @throws the reason of `signal`
 */
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

/** What is part of no search, whatever it is. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Directories that are read at the same time. */
const CONCURRENCY = 16;

/**
 * The files below a directory, some directories at a time, without those in `.git` and `node_modules`. Symbolic links
 * are not followed, and directories that cannot be read are left out.
 *
 * @param root absolute path
 * @param options.isWanted whether to look into a directory; default into all
 * @returns paths relative to `root`, with `/` as the separator
 * @throws the reason of `signal`
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

/** Whether a directory may hold, somewhere below it, what a glob matches: for what is easily told, and else yes. */
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
