import { realpathSync, statSync, type Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';

/** Whether a path is a directory, or below it. Both are absolute, and links in them are not resolved. */
export function isInside(path: string, directory: string): boolean {
  return (
    path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
  );
}

/** The path without links; `undefined` where it leads to nothing. */
export function realPathOf(path: string): string | undefined {
  return orUndefined(() => realpathSync.native(path));
}

/** What a path leads to; `undefined` where it leads to nothing, or cannot be looked at. */
export function statsOf(path: string): Stats | undefined {
  return orUndefined(() => statSync(path, { throwIfNoEntry: false }));
}

/** What `look` returns; `undefined` where it throws. */
export function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/**
 * The path without links of what is there, or could be created; `undefined` where a link leads to nothing.
 *
 * @throws the file system's error when a directory on the way cannot be examined
 */
export async function realpathOfNearestExisting(absolute: string): Promise<string | undefined> {
  const real = await realpath(absolute).catch(missingAsUndefined);
  if (real !== undefined) return real;
  const found = await lstat(absolute).catch(missingAsUndefined);
  if (found?.isSymbolicLink()) return undefined;
  // Somebody has just made it.
  if (found) return realpathOfNearestExisting(absolute);

  const parent = await realpathOfNearestExisting(dirname(absolute));
  return parent === undefined ? undefined : join(parent, basename(absolute));
}

/** For `catch`: there is nothing at the path. */
export function missingAsUndefined(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
