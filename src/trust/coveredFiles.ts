import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync, type Dirent, type Stats } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { findFileObjection } from '../util/guardedFile.js';
import { piecesOf, reasonOf, withRegularFile } from '../util/guardedRead.js';
import { errorMessage } from '../util/errorMessage.js';
import { isShortage } from '../util/descriptors.js';
import type { FileDigests } from '../hooks/entry.js';
import { withMode } from './consentItem.js';
import { NotPinned } from './hookScript.js';
import { isInside, linkStatsOf, orUndefined, realPathOf, stampOf } from '../util/paths.js';
import { OverBudget, type ReviewBudget } from './reviewBudget.js';

/** A folder that consent covers as a whole, as it is now. */
export interface CoveredFolder {
  /** Its name. */
  readonly folder: string;
  readonly files: FileDigests;
  /** Why nothing of it must run, whatever anybody allows. */
  readonly refusal?: string;
  /**
   * Whether all is as it was, as far as the system says. Takes a few µs for each file, once for the hooks of an event
   * that start together.
   */
  readonly isUnchanged: () => boolean;
}

/** A file or folder of the project. */
interface Found {
  readonly path: string;
  readonly real: string;
  readonly isFile: boolean;
  /** Of `real`, before it was read. */
  readonly stats: Stats | undefined;
}

/** Files that changed this many ms ago cannot change again without another time stamp: clocks of file systems are coarse. */
const SETTLING_MS = 1000;

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
  digest(folder: string, ignoresCompiled = false): Promise<CoveredFolder> {
    const key = `${ignoresCompiled} ${folder}`;
    const digesting = this.#folders.get(key) ?? this.#read(folder, ignoresCompiled);
    this.#folders.set(key, digesting);
    return digesting;
  }

  /** A path as it stands in lists and messages: relative to the project where it is in it. */
  show(path: string): string {
    const shown = isInside(path, this.project) ? relative(this.project, path) || '.' : path;
    return shown.replaceAll(sep, '/');
  }

  async #read(folder: string, ignoresCompiled: boolean): Promise<CoveredFolder> {
    const startedAt = Date.now();
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
      isUnchanged: watch(folder, found, startedAt),
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
      const left = isInside(real, this.project) ? this.show(top) : 'the project';
      throw new NotPinned(
        `is beside ${name}, a link that leads out of ${left}, to ${this.show(real)}`,
      );
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
    objectTo: (stats: Stats) => findFileObjection(file, stats, true),
  };
  return withRegularFile(file, limits, async (handle, { size }) => {
    budget.read(size);
    const hash = createHash('sha256');
    // What grows meanwhile has changed, which the next look notices.
    for await (const piece of piecesOf(file, handle, { end: size })) hash.update(piece);
    return `sha256:${hash.digest('hex')}`;
  });
}

/** @param folder that no link leads to, among what was `found` */
function watch(folder: string, found: readonly Found[], startedAt: number): () => boolean {
  // By the stamp that programs cannot set.
  const changedAt = Math.max(...found.map(({ stats }) => stats?.ctimeMs ?? 0));
  if (changedAt >= startedAt - SETTLING_MS) return () => false;
  const stamps = new Map<string, string>();
  for (const { path, real, stats } of found) {
    if (path !== real) stamps.set(path, stampOf(linkStatsOf(path)));
    stamps.set(real, stampOf(stats));
  }
  let isSameNow = false;
  return () => {
    if (isSameNow) return true;
    isSameNow =
      realPathOf(folder) === folder &&
      [...stamps].every(([path, stamp]) => stampOf(linkStatsOf(path)) === stamp);
    queueMicrotask(() => (isSameNow = false));
    return isSameNow;
  };
}

/**
 * The path without links; `undefined` where it leads to nothing, or a link of its name leads to another link. What leads
 * through `/proc/self` would be something else to the hook.
 */
function targetOf(path: string): string | undefined {
  const real = realPathOf(path);
  if (real === path) return path;
  const text = orUndefined(() => readlinkSync(path));
  return text !== undefined && resolve(dirname(path), text) === real ? real : undefined;
}
