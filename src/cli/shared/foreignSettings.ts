import { readdirSync } from 'node:fs';
import path from 'node:path';
import { dialects } from '../../dialects/dialects.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { DIALECT_NAMES, type DialectName } from '../../protocol/types.js';
import { isThere } from './projectRoot.js';
import { orUndefined } from '../../util/paths.js';
import { handlersIn } from './handlers.js';
import { isOwnHook } from './ownHook.js';
import { printNotice } from './terminal.js';
import { hostEnvironment } from '../../util/requester.js';

/** Whose settings of another agent are meant: the project's, what is one person's there, or the user's. */
export type ForeignScope = 'project' | 'local' | 'user';

/**
 * The settings of another agent that may be there. A variable may move the user's own.
 *
 * @param directory the project, or the home directory
 */
export function foreignSettingsIn(
  directory: string,
  name: DialectName,
  scope: ForeignScope,
): readonly string[] {
  return foreignPlaces(directory, name, scope).flatMap(filesOf);
}

/** The same, with a `*` where any name will do. */
export function foreignPlaces(
  directory: string,
  name: DialectName,
  scope: ForeignScope,
): readonly string[] {
  const { files, userFiles = files, localFiles = [], directoryVariable } = dialects[name].settings;
  const configured = directoryVariable && hostEnvironment()[directoryVariable.name];
  if (scope === 'user' && configured) return [path.resolve(configured, directoryVariable.file)];
  const places = { project: files, local: localFiles, user: userFiles }[scope];
  return places.map((file) => path.join(directory, file));
}

/** Of each folder. */
const MAX_FILES = 1000;

/** The files that a pattern means, which may have one `*`: in a file's name, or in place of a folder's. */
export function filesOf(pattern: string): string[] {
  const [start = '', rest] = pattern.split('*');
  if (rest === undefined) return [pattern];
  const parent = path.dirname(`${start}x`);
  const [end = ''] = rest.split(/[/\\]/u);
  const names = orUndefined(() => readdirSync(parent)) ?? [];
  return names
    .filter((name) => name.endsWith(end) && !name.startsWith('.'))
    .toSorted()
    .slice(0, MAX_FILES)
    .map((name) => path.join(parent, name, rest.slice(end.length)));
}

/** What makes a folder a project of an agent. */
export function foreignMarkers(name: DialectName): string[] {
  const { files, localFiles = [] } = dialects[name].settings;
  return [...files, ...localFiles].map((file) => (file.includes('*') ? path.dirname(file) : file));
}

/** Tells of hooks that stand in the settings of another agent: whoever has no others may wait for these. */
export async function tellForeignHooks(project: string): Promise<void> {
  const told = new Set<string>();
  for (const name of DIALECT_NAMES) {
    const files = (['project', 'local'] as const).flatMap((scope) =>
      foreignSettingsIn(project, name, scope),
    );
    for (const there of files) {
      if (told.has(there) || !isThere(there) || !(await holdsHooks(there, name))) continue;
      told.add(there);
      const file = path.relative(project, there);
      printNotice(
        'note',
        `nothing runs the hooks that ${file} has for ${dialects[name].agent}; to take them over: hookstack migrate --from ${name}`,
      );
      break;
    }
  }
}

async function holdsHooks(file: string, name: DialectName): Promise<boolean> {
  const reading = await readJsonFile(file, { groupMayWrite: true });
  if (reading.status !== 'read') return false;
  return handlersIn(reading.value, dialects[name].settings).some(({ hook }) => !isOwnHook(hook));
}
