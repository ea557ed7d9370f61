import { lstatSync, realpathSync, statSync, type Stats } from 'node:fs';
import { relative, sep } from 'node:path';
import { isInside } from '../util/paths.js';

// Synchronous, since looking takes less time than waiting for it.

/** What a path leads to; `undefined` where it leads to nothing, or cannot be looked at. */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** What stands at a path itself, be it a link. */
export function linkStatsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The path without links; `undefined` where it leads to nothing. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** A path as it stands in lists and messages: relative to the project where it is in it. */
export function shownPath(path: string, project: string): string {
  const shown = isInside(path, project) ? relative(project, path) || '.' : path;
  return shown.replaceAll(sep, '/');
}
