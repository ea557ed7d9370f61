import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Looks a program up on a search path, whose relative entries are skipped: they name a directory of whatever project
 * is open.
 *
 * @returns its absolute path, or undefined
 */
export function findProgram(
  name: string,
  searchPath = process.env['PATH'] ?? '',
): string | undefined {
  return searchPath
    .split(path.delimiter)
    .filter((entry) => path.isAbsolute(entry))
    .map((directory) => path.join(directory, name))
    .find(isExecutable);
}

/** Whether a path is a file that may be executed. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
