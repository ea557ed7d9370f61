import path from 'node:path';
import type { GlobOptions } from 'tinyglobby';
import { fail, type Outcome } from './outcome.js';
import { quote } from './printable.js';
import { ToolErrorType, type ToolResult } from './tools.js';
import { joinWorkspacePath, type WorkspacePath } from './workspace.js';

/**
 * Finds the files below a directory that match a glob, sorted by path. Hidden files are found; symbolic
 * links are not followed; `.git` and `node_modules` below the directory are skipped.
 *
 * @returns a failure when the glob is absolute or leads upwards
 */
export async function findFiles(
  directory: WorkspacePath,
  pattern: string,
  options: { readonly caseSensitive?: boolean; readonly signal?: AbortSignal } = {},
): Promise<Outcome<WorkspacePath[]>> {
  const failure = failIfLeadingOut(pattern, directory);
  if (failure) return { failure };

  const { glob } = await import('tinyglobby');
  const found = await glob([pattern, MATCHES_NOTHING], {
    ...confinedTo(directory),
    ignore: ['**/.git', '**/node_modules'],
    caseSensitiveMatch: options.caseSensitive ?? true,
    signal: options.signal,
  });
  options.signal?.throwIfAborted();
  return { value: found.toSorted().map((below) => joinWorkspacePath(directory, below)) };
}

/**
 * The names of the files and directories right in a directory that match one of the globs.
 *
 * @returns a failure when a glob is absolute or leads upwards
 */
export async function matchEntries(
  directory: WorkspacePath,
  patterns: readonly string[],
): Promise<Outcome<ReadonlySet<string>>> {
  for (const pattern of patterns) {
    const failure = failIfLeadingOut(pattern, directory);
    if (failure) return { failure };
  }
  const { glob } = await import('tinyglobby');
  const found = await glob([...patterns, MATCHES_NOTHING], {
    ...confinedTo(directory),
    deep: 0,
    onlyFiles: false,
  });
  return { value: new Set(found.map((entry) => path.basename(entry))) };
}

/**
 * tinyglobby starts at the directories that a glob names literally, follows them even where they are
 * symbolic links, and compares their names case-sensitively. Beside a second glob, which has no directory
 * in common and matches no path, it starts at `cwd`.
 */
const MATCHES_NOTHING = '\0';

function confinedTo(directory: WorkspacePath): GlobOptions {
  return { cwd: directory.real, dot: true, expandDirectories: false, followSymbolicLinks: false };
}

/** tinyglobby leaves `cwd` for every glob that, normalized, begins with `..`, and be it `..name`. */
function failIfLeadingOut(pattern: string, directory: WorkspacePath): ToolResult | undefined {
  const positive = pattern.replace(/^!+/, '');
  const leadsUpwards = positive.split('/').some((segment) => segment.startsWith('..'));
  if (!path.isAbsolute(positive) && !leadsUpwards) return undefined;
  return fail(
    ToolErrorType.InvalidParams,
    `The glob ${quote(pattern)} is absolute or leads upwards; globs are matched below ${directory.shown}.`,
    'Use a relative glob without "..", such as "**/*.ts"; name the directory in the path argument.',
  );
}
