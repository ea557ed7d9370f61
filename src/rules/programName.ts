/** The name of a program, or a file, without its directory, as it was written. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The same in lower case, as tables of programs have it. */
export function programName(path: string): string {
  return baseName(path).toLowerCase();
}
