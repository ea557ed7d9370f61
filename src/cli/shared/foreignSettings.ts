import path from 'node:path';
import { dialects } from '../../dialects/dialects.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { isRecord } from '../../util/records.js';
import { DIALECT_NAMES, type DialectName } from '../../protocol/types.js';
import { isThere } from './projectRoot.js';
import { areOwnHooks } from './ownHook.js';
import { printNotice } from './terminal.js';
import { hostEnvironment } from '../../util/requester.js';

interface ForeignSettings {
  /** Paths, relative to the project or the home directory. */
  readonly files: readonly string[];
  /** The same, of a project, for one person alone: it is not committed. */
  readonly localFiles?: readonly string[];
  /** The variable that names the directory with the user's own `settings.json`, where there is one. */
  readonly directoryVariable?: string;
  /**
   * Where plugins or extensions in a project have hooks, of which `hookstack migrate` tells: it may be one itself. A `*` is
   * any folder.
   */
  readonly pluginFiles: readonly string[];
  /** Other places with hooks, which `hookstack migrate` does not read. */
  readonly notRead: string;
}

/** Where the settings of each agent hold hooks. */
export const foreignSettings: Readonly<Record<DialectName, ForeignSettings>> = {
  claude: {
    files: ['.claude/settings.json'],
    localFiles: ['.claude/settings.local.json'],
    directoryVariable: 'CLAUDE_CONFIG_DIR',
    pluginFiles: [
      'hooks/hooks.json',
      'plugins/*/hooks/hooks.json',
      '.claude/plugins/*/hooks/hooks.json',
    ],
    notRead: 'managed settings, and hooks of installed plugins, skills and agents',
  },
  gemini: {
    files: ['.gemini/settings.json'],
    pluginFiles: ['hooks/hooks.json', '.gemini/extensions/*/hooks/hooks.json'],
    notRead: 'system settings, and hooks of installed extensions',
  },
};

/** Whose settings of another agent are meant: the project's, what is one person's there, or the user's. */
export type ForeignScope = 'project' | 'local' | 'user';

/**
 * The settings of another agent. A variable may move the user's own.
 *
 * @param directory the project, or the home directory
 */
export function foreignSettingsIn(
  directory: string,
  name: DialectName,
  scope: ForeignScope,
): readonly string[] {
  const { files, localFiles = [], directoryVariable } = foreignSettings[name];
  const configured = directoryVariable && hostEnvironment()[directoryVariable];
  if (scope === 'user' && configured) return [path.resolve(configured, 'settings.json')];
  return (scope === 'local' ? localFiles : files).map((file) => path.join(directory, file));
}

/** Tells of hooks that stand in the settings of another agent: whoever has no others may wait for these. */
export async function tellForeignHooks(project: string): Promise<void> {
  for (const name of DIALECT_NAMES) {
    const { files, localFiles = [] } = foreignSettings[name];
    for (const file of [...files, ...localFiles]) {
      const there = path.join(project, file);
      if (!isThere(there) || !(await holdsHooks(there))) continue;
      printNotice(
        'note',
        `nothing runs the hooks that ${file} has for ${dialects[name].agent}; to take them over: hookstack migrate --from ${name}`,
      );
      break;
    }
  }
}

async function holdsHooks(file: string): Promise<boolean> {
  const reading = await readJsonFile(file, { groupMayWrite: true });
  if (reading.status !== 'read') return false;
  const { hooks } = reading.value;
  return isRecord(hooks) && Object.values(hooks).some((groups) => !areOwnHooks(groups));
}
