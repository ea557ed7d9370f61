import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { realPathOf, orUndefined } from '../util/paths.js';

// Synchronous, since looking takes less time than waiting for it.

/** A file or folder of the project. */
export interface Found {
  readonly path: string;
  readonly real: string;
  readonly isFile: boolean;
  /** Of `real`, before it was read. */
  readonly stats: Stats | undefined;
}

/** Tells cheaply whether anything of a folder is another one now. */
export class FileWatch {
  #isSameNow = false;

  /**
   * @param changedAt when the last of the files changed, in ms since the epoch, by the stamp that programs cannot set
   * @param folder that no link leads to
   * @param stamps files, links and folders, and what was known of each
   */
  constructor(
    readonly changedAt = 0,
    private readonly folder?: string,
    private readonly stamps: ReadonlyMap<string, string> = new Map(),
  ) {}

  /**
   * Whether all is as it was, as far as the system says. Takes a few µs for each file, once for the hooks of an event that
   * start together.
   */
  isUnchanged(): boolean {
    if (this.#isSameNow || this.folder === undefined) return true;
    this.#isSameNow =
      realPathOf(this.folder) === this.folder &&
      [...this.stamps].every(([path, stamp]) => statStamp(linkStatsOf(path)) === stamp);
    queueMicrotask(() => (this.#isSameNow = false));
    return this.#isSameNow;
  }
}

/** What changes whenever a file or a folder does, without reading it. */
export function statStamp(stats: Stats | undefined): string {
  if (!stats) return '';
  const { dev, ino, size, mtimeMs, ctimeMs } = stats;
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** @param found what is in the folder, and the folder itself */
export function watchFolder(folder: string, found: readonly Found[]): FileWatch {
  const stamps = new Map<string, string>();
  for (const { path, real, stats } of found) {
    if (path !== real) stamps.set(path, statStamp(linkStatsOf(path)));
    stamps.set(real, statStamp(stats));
  }
  const changedAt = Math.max(...found.map(({ stats }) => stats?.ctimeMs ?? 0));
  return new FileWatch(changedAt, folder, stamps);
}

/** Of a link itself; `undefined` where there is nothing, or it cannot be looked at. */
export function linkStatsOf(path: string): Stats | undefined {
  return orUndefined(() => lstatSync(path, { throwIfNoEntry: false }));
}

/**
 * The path without links; `undefined` where it leads to nothing, or a link of its name leads to another link. What leads
 * through `/proc/self` would be something else to the hook.
 */
export function targetOf(path: string): string | undefined {
  const real = realPathOf(path);
  if (real === path) return path;
  const text = orUndefined(() => readlinkSync(path));
  return text !== undefined && resolve(dirname(path), text) === real ? real : undefined;
}
