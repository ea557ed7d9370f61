import type { Stats } from 'node:fs';
import { realPathOf } from '../util/paths.js';
import { linkStatsOf } from './fileSystem.js';

/** A file or folder of the project. */
export interface Found {
  readonly path: string;
  readonly real: string;
  readonly isFile: boolean;
  /** Of `real`, before it was read. */
  readonly stats: Stats | undefined;
}

/** What tells cheaply whether any of the files is another one now. */
export interface FileWatch {
  /** Paths, and where each led; `''` for nowhere. */
  readonly links: readonly (readonly [path: string, real: string])[];
  /** Files and folders, and what was known of each. */
  readonly stamps: readonly (readonly [path: string, stamp: string])[];
  /** When the last of them changed, in ms since the epoch, by the stamp that programs cannot set. */
  readonly changedAt: number;
}

export const NO_FILES: FileWatch = { links: [], stamps: [], changedAt: 0 };

/** Whether all is as it was, as far as the system says. Takes a few µs for each file. */
export function isUnchanged({ links, stamps }: FileWatch): boolean {
  return (
    links.every(([path, real]) => (realPathOf(path) ?? '') === real) &&
    stamps.every(([path, stamp]) => stampOf(linkStatsOf(path)) === stamp)
  );
}

/** What changes whenever a file or a folder does, without reading it. */
export function stampOf(stats: Stats | undefined): string {
  if (!stats) return '';
  const { dev, ino, size, mtimeMs, ctimeMs } = stats;
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** @param paths what is not covered, and may become a link to somewhere else */
export function watchFiles(found: readonly Found[], paths: readonly string[] = []): FileWatch {
  const stamps = new Map<string, string>();
  let changedAt = 0;
  for (const { path, real, stats } of found) {
    if (path !== real) stamps.set(path, stampOf(linkStatsOf(path)));
    stamps.set(real, stampOf(stats));
    changedAt = Math.max(changedAt, stats?.ctimeMs ?? 0);
  }
  const linked = found.filter(({ path, real, isFile }) => isFile && path !== real);
  const links = [
    ...linked.map(({ path, real }) => [path, real] as const),
    ...paths.map((path) => [path, realPathOf(path) ?? ''] as const),
  ];
  return { links, stamps: [...stamps], changedAt };
}
