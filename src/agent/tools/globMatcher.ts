import path from 'node:path';
import { MatchLimit } from './matchLimit.js';
import { fail, type Outcome } from './outcome.js';
import { quote } from './printable.js';
import { ToolErrorType } from '../../tools/tools.js';
import type { WorkspacePath } from './workspace.js';

/** Finds the paths, with `/` as the separator, that match. Fails where that takes too long. */
export type GlobMatcher = (paths: readonly string[]) => Outcome<readonly string[]>;

/** Paths that are matched in one step. */
const BATCH = 1000;

/**
 * Makes a matcher of paths below a directory that match one of the globs, and none of those that begin with `!`.
 * Hidden files match as others do.
 *
 * @returns a failure when a glob is absolute or leads upwards, or is none
 */
export async function createGlobMatcher(
  globs: readonly string[],
  directory: WorkspacePath,
  { caseSensitive = true } = {},
): Promise<Outcome<GlobMatcher>> {
  for (const glob of globs) {
    const failure = failIfLeadingOut(glob, directory);
    if (failure) return { failure };
  }
  if (globs.length === 0) return { value: () => ({ value: [] }) };

  const { default: picomatch } = await import('picomatch');
  const limit = new MatchLimit();
  const positive = globs.filter((glob) => !isNegative(glob)).map(normalizeGlob);
  const negative = globs.filter(isNegative).map((glob) => normalizeGlob(glob.slice(1)));
  const options = { dot: true, nocase: !caseSensitive, ignore: negative };
  const compiled = runWithLimit(limit, globs, () => picomatch(positive, options));
  if (compiled.failure) return compiled;

  const isMatch = compiled.value;
  return {
    value(paths) {
      const found: string[][] = [];
      for (let start = 0; start < paths.length; start += BATCH) {
        const batch = paths.slice(start, start + BATCH);
        const matching = runWithLimit(limit, globs, () => batch.filter((each) => isMatch(each)));
        if (matching.failure) return matching;
        found.push(matching.value);
      }
      return { value: found.flat() };
    },
  };
}

function isNegative(glob: string): boolean {
  return glob.startsWith('!') && !glob.startsWith('!(');
}

function runWithLimit<T>(limit: MatchLimit, globs: readonly string[], step: () => T): Outcome<T> {
  try {
    return { value: limit.run(step) };
  } catch (error) {
    return refuse(
      `${globs.map(quote).join(', ')} could not be matched: ${(error as Error).message}.`,
      'Simplify the glob: use fewer wildcards, or search a smaller directory.',
    );
  }
}

/** Without `.`, empty names, and the slash that says that a directory is meant. */
export function normalizeGlob(glob: string): string {
  return path.posix.normalize(glob).replace(/(?<=.)\/$/, '');
}

function failIfLeadingOut(glob: string, directory: WorkspacePath) {
  const positive = glob.replace(/^!+/, '');
  const leadsUpwards = positive.split('/').some((segment) => segment.startsWith('..'));
  if (!path.isAbsolute(positive) && !leadsUpwards) return undefined;
  return refuse(
    `The glob ${quote(glob)} is absolute or leads upwards; globs are matched below ${directory.shown}.`,
    'Use a relative glob without "..", such as "**/*.ts"; name the directory in the path argument.',
  ).failure;
}

function refuse(message: string, nextStep: string) {
  return { failure: fail(ToolErrorType.InvalidParams, message, nextStep) };
}
