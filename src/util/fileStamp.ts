import { statSync } from 'node:fs';

/** What changes whenever a regular file does, without reading it. Empty for anything else. Takes a few µs. */
export function fileStamp(file: string): string {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (!stats?.isFile()) return '';
    return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
  } catch {
    return '';
  }
}

/** Which directory stands at a path. Empty where none does. */
export function directoryStamp(directory: string): string {
  try {
    const stats = statSync(directory, { throwIfNoEntry: false });
    return stats ? `${stats.dev}:${stats.ino}` : '';
  } catch {
    return '';
  }
}
