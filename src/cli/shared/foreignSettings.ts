import path from 'node:path';
import { dialects } from '../../dialects/dialects.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { isRecord } from '../../util/records.js';
import type { DialectName } from '../../protocol/types.js';
import { isThere } from './projectRoot.js';
import { areOwnHooks } from './ownHook.js';
import { printNotice } from './terminal.js';
import { hostEnvironment } from '../../util/requester.js';

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
  const { files, localFiles = [], directoryVariable } = dialects[name].settings;
  const configured = directoryVariable && hostEnvironment()[directoryVariable];
  if (scope === 'user' && configured) return [path.resolve(configured, 'settings.json')];
  return (scope === 'local' ? localFiles : files).map((file) => path.join(directory, file));
}

/** Tells of hooks that stand in the settings of another agent: whoever has no others may wait for these. */
export async function tellForeignHooks(project: string): Promise<void> {
  for (const [name, { agent, settings }] of Object.entries(dialects)) {
    for (const file of [...settings.files, ...(settings.localFiles ?? [])]) {
      const there = path.join(project, file);
      if (!isThere(there) || !(await holdsHooks(there))) continue;
      printNotice(
        'note',
        `nothing runs the hooks that ${file} has for ${agent}; to take them over: hookstack migrate --from ${name}`,
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
