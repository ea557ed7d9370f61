import path from 'node:path';
import { findProgram } from './findProgram.js';

/** The program that runs hook commands. */
export interface Shell {
  /** Absolute path; on Windows a name that the system looks up. */
  readonly file: string;
  /** The arguments that make the shell run one command, where they are not `-c` and the command. */
  readonly argumentsFor?: (command: string) => string[];
}

/**
 * The shell of this machine: bash where there is one, else sh; PowerShell on Windows. Looked up once for each search
 * path.
 *
 * @param searchPath that of the hook, in which no project could put a shell of its own
 */
export function resolveShell(searchPath: string | undefined): Shell {
  if (resolved?.searchPath !== searchPath || !resolved) {
    resolved = { searchPath, shell: findShell(process.platform, searchPath) };
  }
  return resolved.shell;
}

let resolved: { readonly searchPath: string | undefined; readonly shell: Shell } | undefined;

/**
 * Looks a shell up.
 *
 * @param platform as `process.platform`
 * @param searchPath relative entries are skipped, since they name a directory of whatever
 *   project is open
 */
export function findShell(platform: NodeJS.Platform, searchPath: string | undefined): Shell {
  if (platform === 'win32') return { file: 'powershell.exe', argumentsFor: powerShellArguments };
  const file = ['bash', 'sh']
    .map((name) => findProgram(name, `${searchPath ?? ''}${path.delimiter}/bin`))
    .find((found) => found !== undefined);
  return { file: file ?? '/bin/sh' };
}

// PowerShell's own exit code is 0 or 1; the verdict is in that of the program it ran.
function powerShellArguments(command: string): string[] {
  return ['-NoProfile', '-NonInteractive', '-Command', `${command}\nexit $LASTEXITCODE`];
}
