import path from 'node:path';
import { expandWord, scopeOf } from '../shell/expandCommand.js';
import { requireHome } from '../util/homeDirectory.js';

const FILES = ['tokenFile', 'caFile', 'certFile', 'keyFile'] as const;

interface WithFiles extends Partial<Record<(typeof FILES)[number], string>> {
  /** Of the hook's extension. */
  readonly extensionPath?: string;
}

/**
 * Puts absolute paths in place of what settings call files: `~/` is the home directory, and `${extensionPath}` the folder
 * of the extension whose hook it is.
 *
 * @throws Error for a relative one, which would be another file in each project
 */
export function withFiles<T extends WithFiles>(settings: T): T {
  const { extensionPath } = settings;
  const found = FILES.flatMap((key) => {
    const file = settings[key];
    return file === undefined ? [] : [[key, pathOf(file, key, extensionPath)] as const];
  });
  return { ...settings, ...Object.fromEntries(found) };
}

function pathOf(file: string, key: string, extensionPath: string | undefined): string {
  const expanded = expandWord(file, scopeOf(extensionPath), { extensionPath });
  if (expanded.startsWith('~/')) return path.join(requireHome(), expanded.slice(2));
  if (path.isAbsolute(expanded)) return expanded;
  throw new Error(
    `its ${key} (${file}) is another file in each project: write an absolute path, or one that begins with ~/`,
  );
}
