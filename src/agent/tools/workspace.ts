import fs from 'node:fs/promises';
import path from 'node:path';
import { fail, type Outcome } from './outcome.js';
import { printable, quote } from './printable.js';
import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { isInside } from '../../util/paths.js';

/** A path that was found to lie inside of the working directory. It need not exist. */
export interface WorkspacePath {
  /** Absolute; free of symbolic links when it was resolved. */
  readonly real: string;
  /** Relative to the working directory (`.` for itself), and safe to print. */
  readonly shown: string;
}

/**
 * Resolves a path against the working directory, and fails when it leads out of it: through `..`, as an
 * absolute path, or through a symbolic link. Reads directory entries only; opens and creates nothing.
 *
 * @throws the file system's error when a directory on the way cannot be examined
 */
export async function resolveInWorkspace(
  given: string,
  workingDir: string,
): Promise<Outcome<WorkspacePath>> {
  if (given.includes('\0')) return refuse(given, workingDir, 'contains a NUL byte');

  const root = await fs.realpath(workingDir);
  const real = await realpathOfNearestExisting(path.resolve(workingDir, given));
  if (real === undefined) {
    return refuse(given, workingDir, 'leads through a symbolic link whose target does not exist');
  }

  if (!isInside(real, root)) {
    return refuse(given, workingDir, 'is outside of the working directory');
  }
  return { value: { real, shown: printable(path.relative(root, real) || '.') } };
}

/** The path of an entry below `directory`, given with `/` as the separator. */
export function joinWorkspacePath(directory: WorkspacePath, below: string): WorkspacePath {
  return {
    real: path.join(directory.real, below),
    shown: path.posix.join(directory.shown, printable(below)),
  };
}

/** What is at a path; `other` is a device, a socket or a named pipe. */
export async function kindOf(
  target: WorkspacePath,
): Promise<'file' | 'directory' | 'other' | 'missing'> {
  const stats = await fs.stat(target.real).catch(missingAsUndefined);
  if (!stats) return 'missing';
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'directory' : 'other';
}

/** The result that ends the call when `target` is not a file; `undefined` when it is one. */
export async function failUnlessFile(target: WorkspacePath): Promise<ToolResult | undefined> {
  const kind = await kindOf(target);
  if (kind === 'file') return undefined;
  return kind === 'missing' ? failMissing(target) : failNotAFile(target, kind);
}

/** The result that ends the call when `target` is not a directory; `undefined` when it is one. */
export async function failUnlessDirectory(target: WorkspacePath): Promise<ToolResult | undefined> {
  const kind = await kindOf(target);
  if (kind === 'directory') return undefined;
  if (kind === 'missing') return failMissing(target);
  return fail(
    ToolErrorType.Failed,
    `${target.shown} is not a directory.`,
    'Give the path of a directory.',
  );
}

/** The result for a path at which a tool needs a file, and finds something else. */
export function failNotAFile(target: WorkspacePath, kind: 'directory' | 'other'): ToolResult {
  return kind === 'directory'
    ? fail(
        ToolErrorType.Failed,
        `${target.shown} is a directory, not a file.`,
        'Give the path of a file; list_directory shows what is in the directory.',
      )
    : fail(ToolErrorType.Failed, `${target.shown} is not a regular file.`, 'Use another path.');
}

function failMissing(target: WorkspacePath): ToolResult {
  return fail(
    ToolErrorType.Failed,
    `${target.shown} does not exist.`,
    'Find the right path with list_directory or glob.',
  );
}

function refuse(given: string, workingDir: string, why: string) {
  return {
    failure: fail(
      ToolErrorType.InvalidParams,
      `The path ${quote(given)} ${why}: tools are confined to ${printable(workingDir)}.`,
      'Use a path inside of that directory.',
    ),
  };
}

/** The real path, or `undefined` where a dangling symbolic link would be followed on creation. */
export async function realpathOfNearestExisting(absolute: string): Promise<string | undefined> {
  const real = await fs.realpath(absolute).catch(missingAsUndefined);
  if (real !== undefined) return real;
  if (await fs.lstat(absolute).catch(missingAsUndefined)) return undefined;

  const parent = await realpathOfNearestExisting(path.dirname(absolute));
  return parent === undefined ? undefined : path.join(parent, path.basename(absolute));
}

function missingAsUndefined(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
