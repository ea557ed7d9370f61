import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { readShebang } from '../../shell/shebang.js';
import { findHome } from '../../util/homeDirectory.js';
import { hostEnvironment } from '../../util/requester.js';
import { isInside, orUndefined, realPathOf, statsOf } from '../../util/paths.js';

/**
 * Looks a program up on a search path, whose relative entries are skipped: they name a directory of whatever project
 * is open.
 *
 * @returns its absolute path, or undefined
 */
export function findProgram(
  name: string,
  searchPath = hostEnvironment()['PATH'] ?? '',
): string | undefined {
  return searchPath
    .split(path.delimiter)
    .filter((entry) => path.isAbsolute(entry))
    .map((directory) => path.join(directory, name))
    .find(isExecutable);
}

/** Whether a path is a file that may be executed. */
export function isExecutable(file: string): boolean {
  const mayBeExecuted = orUndefined(() => (accessSync(file, constants.X_OK), true));
  return mayBeExecuted === true && statsOf(file)?.isFile() === true;
}

/**
 * A search path without the entries in which a project could put its programs: those that are relative, that lead into
 * the project, or nowhere yet, and that are the `node_modules` of a folder above it. Where the project is the home
 * directory, or holds it, its programs are the user's own.
 *
 * @param project absolute path
 */
export function safeSearchPath(searchPath = '', project: string): string {
  const isOwn = isInside(findHome() ?? '/', project);
  const projects = isOwn ? [] : [project, realPathOf(project) ?? project];
  const isSafe = (entry: string) => {
    const real = path.isAbsolute(entry) ? realPathOf(entry) : undefined;
    return real !== undefined && ![entry, real].some((each) => isOf(projects, each));
  };
  return searchPath.split(path.delimiter).filter(isSafe).join(path.delimiter);
}

function isOf(projects: readonly string[], entry: string): boolean {
  const [above = '', modules] = entry.split(`${path.sep}node_modules`);
  return projects.some(
    (project) =>
      isInside(entry, project) || (modules !== undefined && isInside(project, above || path.sep)),
  );
}

/** The program that runs hook commands. */
export interface Shell {
  /** Absolute path; on Windows a name that the system looks up. */
  readonly file: string;
  /** Whether it is bash itself. A script of that name may set variables for the shell that it starts. */
  readonly isBash: boolean;
  /** The arguments that make it run one command. */
  readonly argumentsFor: (command: string) => string[];
}

/**
 * The shell of this machine: bash where there is one, else sh; PowerShell on Windows. Looked up once for each search
 * path, in a row.
 *
 * @param searchPath that of the hook, in which no project could put a shell of its own. Relative entries are skipped,
 *   since they name a directory of whatever project is open
 */
export function resolveShell(searchPath: string | undefined, platform = process.platform): Shell {
  if (platform === 'win32') return POWERSHELL;
  if (!resolved || resolved.searchPath !== searchPath) {
    resolved = { searchPath, shell: findShell(searchPath ?? '') };
  }
  return resolved.shell;
}

let resolved: { readonly searchPath: string | undefined; readonly shell: Shell } | undefined;

const POWERSHELL: Shell = {
  file: 'powershell.exe',
  isBash: false,
  // Its own exit code is 0 or 1; the verdict is in that of the program it ran.
  argumentsFor: (command) => [
    '-NoProfile',
    '-NonInteractive',
    '-Command',
    `${command}\nexit $LASTEXITCODE`,
  ],
};

function findShell(searchPath: string): Shell {
  const everywhere = `${searchPath}${path.delimiter}/bin`;
  const file = findProgram('bash', everywhere) ?? findProgram('sh', everywhere) ?? '/bin/sh';
  const isBinary = orUndefined(() => readShebang(file) === undefined) ?? false;
  const isBash = path.basename(file) === 'bash' && isBinary;
  return { file, isBash, argumentsFor: (command) => ['-c', command] };
}
