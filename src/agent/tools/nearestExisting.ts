import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

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
