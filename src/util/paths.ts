import { lstatSync, realpathSync, statSync, type Stats } from 'node:fs';
import { sep } from 'node:path';

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

/** Of a link itself; `undefined` where there is nothing, or it cannot be looked at. */
export function linkStatsOf(path: string): Stats | undefined {
  return orUndefined(() => lstatSync(path, { throwIfNoEntry: false }));
}

/** What changes whenever a file or a folder does, without reading it. Empty for nothing. */
export function stampOf(stats: Stats | undefined): string {
  if (!stats) return '';
  const { dev, ino, size, mtimeMs, ctimeMs } = stats;
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** What `look` returns; `undefined` where it throws. */
export function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
