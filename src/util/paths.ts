import { realpathSync } from 'node:fs';
import { sep } from 'node:path';

/** Whether a path is that of a directory, or below it. Both absolute, and not resolved any further. */
export function isInside(path: string, directory: string): boolean {
  return (
    path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
  );
}

/** The path without links; `undefined` where it leads to nothing. */
export function realPathOf(path: string): string | undefined {
  return unlessItFails(() => realpathSync.native(path));
}

/** What a look at the file system finds; `undefined` where the system refuses. */
export function unlessItFails<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
