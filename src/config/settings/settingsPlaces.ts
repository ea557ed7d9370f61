import { join, resolve } from 'node:path';
import type { SettingsFile } from '../../util/fileProblem.js';
import { findHome } from '../../util/homeDirectory.js';
import { realPathOf } from '../../util/paths.js';

/** Where settings are looked for. */
export interface SettingsPlaces {
  /** The project: its file is `.llxprt/settings.json` in here. */
  readonly workingDir: string;
  /** The user's file is `.llxprt/settings.json` in here. Default: the home directory. */
  readonly home?: string;
  /** The system's file. Default `/etc/llxprt/settings.json`. */
  readonly systemPath?: string;
}

/** Stands for the user's file where the system does not know a home directory. */
export const UNKNOWN_HOME = '~/.llxprt/settings.json';

/** Where the settings of a project are looked for, the file with the highest priority first. */
export function findSettingsFiles(options: SettingsPlaces): SettingsFile[] {
  const project = settingsFileIn(options.workingDir);
  const home = options.home ?? findHome();
  const user = home === undefined ? UNKNOWN_HOME : settingsFileIn(home);
  const system = resolve(options.systemPath ?? '/etc/llxprt/settings.json');
  return [
    ...(isSameFile(project, user) ? [] : [{ scope: 'project', file: project } as const]),
    { scope: 'user', file: user },
    { scope: 'system', file: system },
  ];
}

/** The settings file of a project, or of a user whose home it is. */
export function settingsFileIn(directory: string): string {
  return join(resolve(directory), '.llxprt', 'settings.json');
}

/** The folder with the extensions of a project, or of a user whose home it is. */
export function extensionsIn(directory: string): string {
  return join(resolve(directory), '.llxprt', 'extensions');
}

function isSameFile(a: string, b: string): boolean {
  return (realPathOf(a) ?? a) === (realPathOf(b) ?? b);
}
