import { createHash } from 'node:crypto';
import { readdirSync, type Dirent, type Stats } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { findObjection } from '../util/guardedFile.js';
import { piecesOf, reasonOf, withRegularFile } from '../util/guardedRead.js';
import { errorMessage } from '../util/errorMessage.js';
import { isShortage } from '../util/descriptors.js';
import type { FileDigests } from '../hooks/entry.js';
import { withMode } from './consentItem.js';
import { linkStatsOf, targetOf, watchFolder, type FileWatch, type Found } from './fileWatch.js';
import { NotPinned } from './hookScript.js';
import { isInside } from '../util/paths.js';
import { OverBudget, type ReviewBudget } from './reviewBudget.js';

/** A folder that consent covers as a whole, as it is now. */
export interface CoveredFolder {
  /** Its name. */
  readonly folder: string;
  readonly files: FileDigests;
  /** Why nothing of it must run, whatever anybody allows. */
  readonly refusal?: string;
  readonly watch: FileWatch;
}

const MAX_FILES = 1000;
const MAX_BYTES = 32 * 1024 * 1024;

/** Looks at the folders of one project. Each is read once, however many hooks have their script in it. */
export class FolderCoverage {
  readonly #folders = new Map<string, Promise<CoveredFolder>>();

  /** @param project absolute real path */
  constructor(
    private readonly project: string,
    private readonly budget: ReviewBudget,
  ) {}

  /**
   * Digests every file of a folder, with what is below it.
   *
   * @param folder absolute path
   * @throws NotPinned, OverBudget, or the system's error where it has no descriptor left
   */
  async digest(folder: string, ignoresCompiled = false): Promise<CoveredFolder> {
    const key = `${ignoresCompiled} ${folder}`;
    const digesting = this.#folders.get(key) ?? this.#read(folder, ignoresCompiled);
    this.#folders.set(key, digesting);
    const covered = await digesting;
    // Each hook that starts something in it is compared, and kept, with all of them.
    this.budget.look(Object.keys(covered.files).length);
    return covered;
  }

  /** A path as it stands in lists and messages: relative to the project where it is in it. */
  show(path: string): string {
    const shown = isInside(path, this.project) ? relative(this.project, path) || '.' : path;
    return shown.replaceAll(sep, '/');
  }

  async #read(folder: string, ignoresCompiled: boolean): Promise<CoveredFolder> {
    const found = this.#walk(folder, ignoresCompiled);
    const files: [string, string][] = [];
    let refusal: string | undefined;
    for (const { path, real, isFile, stats } of found) {
      if (!isFile) continue;
      const name = this.show(path);
      try {
        const digest = withMode(await digestFile(real, this.budget), stats?.mode);
        files.push([name, real === path ? digest : `${digest} at ${this.show(real)}`]);
      } catch (error) {
        if (error instanceof OverBudget || isShortage(error)) throw error;
        refusal ??= `${name}: ${reasonOf(error)}`;
      }
    }
    return {
      folder: this.show(folder),
      files: Object.fromEntries(files.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      ...(refusal !== undefined && { refusal }),
      watch: watchFolder(folder, found),
    };
  }

  #walk(top: string, ignoresCompiled: boolean): Found[] {
    if (targetOf(top) !== top) {
      throw new NotPinned(`has its script in ${this.show(top)}, which is a link, or not there`);
    }
    const found: Found[] = [];
    const folders = [top];
    let [files, bytes] = [0, 0];
    for (const folder of folders) {
      found.push({ path: folder, real: folder, isFile: false, stats: linkStatsOf(folder) });
      for (const entry of entriesOf(folder)) {
        this.budget.look();
        const path = join(folder, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else if (!(ignoresCompiled && entry.isFile() && isCompiled(path))) {
          const file = this.#inspect(path, entry, top);
          found.push(file);
          files += 1;
          bytes += file.stats?.size ?? 0;
        }
        if (files > MAX_FILES || bytes > MAX_BYTES) {
          const much = `more than ${MAX_FILES} files or ${MAX_BYTES} bytes`;
          throw new NotPinned(`is in ${this.show(top)}, which holds ${much}`);
        }
      }
    }
    return found;
  }

  /** A link is followed to a file of the same folder, and no further. */
  #inspect(path: string, entry: Dirent, top: string): Found {
    const name = this.show(path);
    // Such a name could be that of another file.
    if (entry.name.includes('\uFFFD')) {
      throw new NotPinned(`is beside ${name}, whose name is no UTF-8`);
    }
    const real = entry.isSymbolicLink() ? targetOf(path) : path;
    const stats = real === undefined ? undefined : linkStatsOf(real);
    if (real === undefined || !stats) {
      throw new NotPinned(`is beside ${name}, a link that leads to nothing, or not straight`);
    }
    if (stats.isDirectory()) throw new NotPinned(`is beside ${name}, which is a link to a folder`);
    if (!isInside(real, top)) {
      throw new NotPinned(`is beside ${name}, a link that leads out of ${this.show(top)}`);
    }
    if (!stats.isFile()) throw new NotPinned(`is beside ${name}, which is no file`);
    return { path, real, isFile: true, stats };
  }
}

/** Compiled files that Python from 3.8 on does not read, as hooks of projects run with another folder for these. */
function isCompiled(path: string): boolean {
  return /[\\/]__pycache__[\\/][^\\/]+\.cpython-3(?:[89]|\d\d)[^\\/]*\.pyc(?:\.\d+)?$/u.test(path);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isShortage(error)) throw error;
    throw new NotPinned(`lies in a folder that cannot be read (${errorMessage(error)})`);
  }
}

function digestFile(file: string, budget: ReviewBudget): Promise<string> {
  const limits = {
    maxBytes: Infinity,
    objectTo: (stats: Stats) => findObjection(file, stats, true),
  };
  return withRegularFile(file, limits, async (handle, { size }) => {
    budget.read(size);
    const hash = createHash('sha256');
    // What grows meanwhile has changed, which the next look notices.
    for await (const piece of piecesOf(file, handle, { end: size })) hash.update(piece);
    return `sha256:${hash.digest('hex')}`;
  });
}
