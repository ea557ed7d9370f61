import { lstatSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { requireHome } from '../../util/surroundings.js';
import { realPathOf } from '../../util/paths.js';

/** The path of a folder in `.llxprt` of the home directory, which is made if it is missing. Throws where it cannot be. */
export function ownFolder(name: string): string {
  const own = path.join(requireHome(), '.llxprt');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  return path.join(realPathOf(own) ?? own, name);
}

/** Makes a folder that only its user can write. Throws for a link, and for one that somebody else can write. */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stats = lstatSync(folder);
  const isOwn = stats.uid === (process.getuid?.() ?? stats.uid);
  if (!stats.isDirectory() || !isOwn || (stats.mode & 0o022) !== 0) {
    throw new Error(`${folder} must be a folder of yours that nobody else can write, and no link`);
  }
}
