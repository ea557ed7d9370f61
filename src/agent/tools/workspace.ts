import fs from 'node:fs/promises';
import path from 'node:path';
import { isInside } from '../../util/paths.js';
import { missingAsUndefined, realpathOfNearestExisting } from './nearestExisting.js';
import { printable, quote } from './printable.js';
import { failed, invalid, type ToolFailure } from './toolFailure.js';

/** Inside the working directory; need not exist. */
export interface WorkspacePath {
  /** Absolute, symbolic links resolved. */
  readonly real: string;
  /** Relative to the working directory (`.` for itself), and safe to print. */
  readonly shown: string;
}

/**
 * Opens and creates nothing. Throws ToolFailure for a path that leads out, also by a link, or the system's error.
 *
 * @param readable real paths of other folders that it may lead into; it is shown as it is then
 */
export async function resolveInWorkspace(
  given: string,
  workingDir: string,
  readable: ReadonlySet<string> = new Set(),
): Promise<WorkspacePath> {
  if (given.includes('\0')) throw refusal(given, workingDir, 'contains a NUL byte');

  const root = await fs.realpath(workingDir);
  const real = await realpathOfNearestExisting(path.resolve(workingDir, given));
  if (real === undefined) {
    throw refusal(given, workingDir, 'leads through a symbolic link whose target does not exist');
  }

  if ([...readable].some((folder) => isInside(real, folder))) {
    return { real, shown: printable(real) };
  }
  if (!isInside(real, root)) {
    throw refusal(given, workingDir, 'is outside of the working directory');
  }
  return { real, shown: printable(path.relative(root, real) || '.') };
}

/** @param below with `/` as the separator */
export function joinWorkspacePath(directory: WorkspacePath, below: string): WorkspacePath {
  return {
    real: path.join(directory.real, below),
    shown: path.posix.join(directory.shown, printable(below)),
  };
}

/** `other` is a device, a socket or a named pipe. */
type Kind = 'file' | 'directory' | 'other' | 'missing';

export async function kindOf(target: WorkspacePath): Promise<Kind> {
  const stats = await fs.stat(target.real).catch(missingAsUndefined);
  if (!stats) return 'missing';
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'directory' : 'other';
}

/** @throws ToolFailure when `target` is something else, or missing */
export async function requireKind(
  { real, shown }: WorkspacePath,
  wanted: 'file' | 'directory',
): Promise<void> {
  const kind = await kindOf({ real, shown });
  if (kind === wanted) return;
  if (kind === 'missing') {
    throw failed(`${shown} does not exist.`, 'Find the right path with list_directory or glob.');
  }
  if (wanted === 'directory') {
    throw failed(`${shown} is not a directory.`, 'Give the path of a directory.');
  }
  if (kind === 'other') throw failed(`${shown} is not a regular file.`, 'Use another path.');
  throw failed(
    `${shown} is a directory, not a file.`,
    'Give the path of a file; list_directory shows what is in the directory.',
  );
}

function refusal(given: string, workingDir: string, why: string): ToolFailure {
  return invalid(
    `The path ${quote(given)} ${why}: tools are confined to ${printable(workingDir)}.`,
    'Use a path inside of that directory.',
  );
}
