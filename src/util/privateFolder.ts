import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { requireHome } from './homeDirectory.js';
import { realPathOf } from './paths.js';

/** The path of a folder in `.llxprt` of the home directory, which is made if it is missing. Throws where it cannot be. */
export function ownFolder(name: string): string {
  const own = path.join(requireHome(), '.llxprt');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  return path.join(realPathOf(own) ?? own, name);
}

/** Within `.llxprt`: what is kept of sessions. */
export const SESSIONS = 'sessions';

/**
 * The folder of files that are each of one session, with a digest at the begin of their names; without those of old
 * sessions. Throws where it cannot be this user's alone.
 */
export function sessionFolder(): string {
  const folder = ownFolder(SESSIONS);
  makePrivate(folder);
  if (performance.now() - sweptAt > SWEEP_MS) {
    sweptAt = performance.now();
    removeOld(folder, /^[\da-f]{64}/);
  }
  return folder;
}

/** Ms between two looks at files of old sessions, of which there may be many. */
const SWEEP_MS = 60_000;
let sweptAt = -Infinity;

/** Bits of a mode. */
export const MAY_BE_WRITTEN_BY_OTHERS = 0o022;

/** Makes a folder that only its user can write. Throws for a link, and for one that somebody else can write. */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stats = lstatSync(folder);
  const isOwn = stats.uid === (process.getuid?.() ?? stats.uid);
  if (!stats.isDirectory() || !isOwn || (stats.mode & MAY_BE_WRITTEN_BY_OTHERS) !== 0) {
    throw new Error(
      `${folder} must be a folder of yours that nobody else can write, and no link: chmod 700 it, or remove it`,
    );
  }
}

/** Ms. */
const OLD_MS = 30 * 24 * 3600 * 1000;

/** Removes files that nobody has read or written for a month. @param own which names are those of files of ours */
export function removeOld(folder: string, own: RegExp): void {
  for (const name of readdirSync(folder).filter((each) => own.test(each))) {
    const file = path.join(folder, name);
    const stats = lstatSync(file, { throwIfNoEntry: false });
    const isOld =
      stats && !stats.isDirectory() && Date.now() - Math.max(stats.atimeMs, stats.mtimeMs) > OLD_MS;
    if (isOld) rmSync(file, { force: true });
  }
}
