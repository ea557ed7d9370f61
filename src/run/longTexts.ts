import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findControl } from '../protocol/sanitizeText.js';
import { errorMessage } from '../util/errorMessage.js';
import { orUndefined } from '../util/paths.js';
import { makePrivate, ownFolder } from '../util/privateFolder.js';

/** How much is kept of all sessions of a user together; the oldest go first. */
interface Limits {
  readonly files: number;
  readonly bytes: number;
  readonly ageMs: number;
}

const LIMITS: Limits = { files: 200, bytes: 64 * 1024 * 1024, ageMs: 30 * 24 * 3600 * 1000 };

/** Characters that the model reads at once of a text that is in a file. */
const PREVIEW = 2000;

const SESSION = /^[0-9a-f]{32}$/u;
const FILE = /^[0-9a-f]{16}\.txt$/u;

/**
 * Writes texts of hooks that are too long into files that only the user can read: names are made here, as ids of
 * sessions and what hooks say are data. Nothing here throws.
 */
export class LongTexts {
  #hasWarned = false;

  /**
   * @param folders filled with those that files are in, each of one session
   * @param warn told once why no file is written
   */
  constructor(
    private readonly folders: Set<string>,
    private readonly warn: (message: string) => void,
    private readonly limits = LIMITS,
  ) {}

  /**
   * The beginning of a text, and where all of it is.
   *
   * @param max characters of the beginning
   * @returns `undefined` where it could not be written
   */
  shorten(text: string, max: number, sessionId: string): string | undefined {
    try {
      const file = this.#write(text, sessionId);
      // A cut must not leave half of a character.
      const start = text.slice(0, Math.min(max, PREVIEW)).replace(/[\ud800-\udbff]$/u, '');
      const left = text.length - start.length;
      return `${start}\n[… ${left} more characters; the whole text is in the file ${file}]`;
    } catch (error) {
      const message = `Long texts of hooks are cut, as they cannot be written into a file: ${errorMessage(error)}`;
      if (!this.#hasWarned) this.warn(message);
      this.#hasWarned = true;
      return undefined;
    }
  }

  /** Removes what was written. */
  dispose(): void {
    for (const folder of this.folders) remove(folder);
    this.folders.clear();
  }

  #write(text: string, sessionId: string): string {
    const all = ownFolder(FOLDER);
    if (findControl(all) !== undefined) throw new Error('the path of your home holds a control');
    makePrivate(all);
    makeRoom(all, Buffer.byteLength(text), this.limits);
    const folder = path.join(all, nameOf(sessionId));
    makePrivate(folder);
    this.folders.add(folder);
    const file = path.join(folder, `${randomBytes(8).toString('hex')}.txt`);
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
    return file;
  }
}

/** Removes what was written for a session, by this process or another one. Never throws. */
export function removeLongTexts(sessionId: string): void {
  orUndefined(() => remove(path.join(ownFolder(FOLDER), nameOf(sessionId))));
}

const FOLDER = 'long-texts';

function nameOf(sessionId: string): string {
  return createHash('sha256').update(sessionId).digest('hex').slice(0, 32);
}

function remove(folder: string): void {
  orUndefined(() => rmSync(folder, { recursive: true, force: true }));
}

/** @throws Error where so much is never kept */
function makeRoom(all: string, bytes: number, limits: Limits): void {
  if (bytes > limits.bytes) throw new Error(`${bytes} bytes are too much`);
  const files = readdirSync(all)
    .filter((name) => SESSION.test(name))
    .flatMap((name) => filesIn(path.join(all, name)))
    .toSorted((a, b) => a.mtimeMs - b.mtimeMs);
  let left = files.length;
  let size = files.reduce((sum, each) => sum + each.size, bytes);
  for (const file of files) {
    const isOld = Date.now() - file.mtimeMs > limits.ageMs;
    if (!isOld && left < limits.files && size <= limits.bytes) break;
    orUndefined(() => unlinkSync(file.path));
    // Only where it was the last one.
    orUndefined(() => rmdirSync(path.dirname(file.path)));
    left -= 1;
    size -= file.size;
  }
}

function filesIn(folder: string) {
  if (!orUndefined(() => lstatSync(folder).isDirectory())) return [];
  const names = orUndefined(() => readdirSync(folder)) ?? [];
  return names
    .filter((name) => FILE.test(name))
    .flatMap((name) => {
      const file = path.join(folder, name);
      const stats = orUndefined(() => lstatSync(file));
      return stats?.isFile() ? [{ path: file, size: stats.size, mtimeMs: stats.mtimeMs }] : [];
    });
}
