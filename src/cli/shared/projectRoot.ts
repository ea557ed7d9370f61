import { lstatSync, statSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { errorCode } from '../../util/errorMessage.js';
import { findHome } from '../../util/homeDirectory.js';
import { realPathOf } from '../../util/paths.js';

/** What makes a folder the root of a project. */
export const PROJECT_MARKERS: readonly string[] = ['.llxprt/settings.json', '.llxprt/extensions'];

export interface ProjectRoot {
  /** Absolute path. */
  readonly root: string;
  /** Which marker it has; `undefined` where no folder has one, and the root is where the search began. */
  readonly marker?: string;
}

/**
 * The nearest folder with a marker, from a folder upward, as git looks for its repository. It ends at the root of the
 * repository, and below the home directory: the settings there are the user's, and belong to no project. It also ends
 * below a folder of somebody else, or that everybody may write, such as /tmp: others could put a project there.
 *
 * @param start a real path
 * @param has whether a marker is there
 */
export function findProjectRoot(
  start: string,
  markers: readonly string[] = PROJECT_MARKERS,
  has = isThere,
): ProjectRoot {
  const home = realPathOf(findHome() ?? '/');
  const owners = [statSync(start).uid, process.getuid?.()];
  for (let folder = start; ; folder = dirname(folder)) {
    if (folder !== start && !isOwn(folder, owners)) break;
    for (const marker of markers) {
      if (has(join(folder, marker))) return { root: folder, marker };
    }
    const isTop = folder === parse(folder).root || dirname(folder) === home || folder === home;
    if (isTop || has(join(folder, '.git'))) break;
  }
  return { root: start };
}

const MAY_BE_WRITTEN_BY_ALL = 0o002;

function isOwn(folder: string, owners: readonly (number | undefined)[]): boolean {
  const { uid, mode } = statSync(folder);
  return owners.includes(uid) && (mode & MAY_BE_WRITTEN_BY_ALL) === 0;
}

/** Also where it cannot be looked at. */
export function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return errorCode(error) !== 'ENOTDIR';
  }
}

/** Whether a file, or the folder that it is in, is a link, which may lead to a drive that never answers. */
export function isLinked(file: string): boolean {
  return [dirname(file), file].some((each) =>
    lstatSync(each, { throwIfNoEntry: false })?.isSymbolicLink(),
  );
}
