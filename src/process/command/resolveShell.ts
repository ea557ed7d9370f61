import path from 'node:path';
import { readShebang } from '../../shell/shebang.js';
import { findProgram } from './findProgram.js';

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
  return { file, isBash: isBash(file), argumentsFor: (command) => ['-c', command] };
}

function isBash(file: string): boolean {
  try {
    return path.basename(file) === 'bash' && readShebang(file) === undefined;
  } catch {
    return false;
  }
}
