import path from 'node:path';
import { quote } from './printable.js';
import { invalid, limitedSteps } from './toolFailure.js';
import type { WorkspacePath } from './workspace.js';

/** Paths have `/` as the separator. Throws a ToolFailure where matching takes too long. */
export type GlobMatcher = (paths: readonly string[]) => readonly string[];

/** Paths matched in one time-limited step. */
const BATCH = 1000;

/** A glob that begins with `!` excludes. Hidden files match. Throws ToolFailure for what leads out or is not a glob. */
export async function createGlobMatcher(
  globs: readonly string[],
  directory: WorkspacePath,
  { caseSensitive = true } = {},
): Promise<GlobMatcher> {
  for (const glob of globs) refuseToLeadOut(glob, directory);
  if (globs.length === 0) return () => [];

  const { default: picomatch } = await import('picomatch');
  const inLimits = limitedSteps(
    globs.map(quote).join(', '),
    'Simplify the glob: use fewer wildcards, or search a smaller directory.',
  );
  const positive = globs.filter((glob) => !isNegative(glob)).map(normalizeGlob);
  const negative = globs.filter(isNegative).map((glob) => normalizeGlob(glob.slice(1)));
  const options = { dot: true, nocase: !caseSensitive, ignore: negative };
  const isMatch = inLimits(() => picomatch(positive, options));
  return (paths) => {
    const found: string[][] = [];
    for (let start = 0; start < paths.length; start += BATCH) {
      const batch = paths.slice(start, start + BATCH);
      found.push(inLimits(() => batch.filter((each) => isMatch(each))));
    }
    return found.flat();
  };
}

function isNegative(glob: string): boolean {
  return glob.startsWith('!') && !glob.startsWith('!(');
}

/** Removes `.`, empty names and a trailing slash. */
export function normalizeGlob(glob: string): string {
  return path.posix.normalize(glob).replace(/(?<=.)\/$/, '');
}

function refuseToLeadOut(glob: string, directory: WorkspacePath): void {
  const positive = glob.replace(/^!+/, '');
  const leadsUpwards = positive.split('/').some((segment) => segment.startsWith('..'));
  if (!path.isAbsolute(positive) && !leadsUpwards) return;
  throw invalid(
    `The glob ${quote(glob)} is absolute or leads upwards; globs are matched below ${directory.shown}.`,
    'Use a relative glob without "..", such as "**/*.ts"; name the directory in the path argument.',
  );
}
