import { join } from 'node:path';
import { findSettingsFiles, settingsFileIn } from '../../config/settings/settings.js';
import { isInside, realpathOfNearestExisting } from '../../util/paths.js';
import { toOneLine } from './terminal.js';
import { UsageError } from './usageError.js';

/**
 * The settings file of a project, for writing. A repository may bring links: what is written for the project must not
 * end up in the settings of the user, where it needs no trust, nor anywhere else outside of the project.
 *
 * @param project real path of a directory
 * @returns absolute path
 * @throws UsageError when the file, or the directory of hooks beside it, is not the project's own
 */
export async function projectSettingsToWrite(project: string): Promise<string> {
  const file = settingsFileIn(project);
  const real = await realpathOfNearestExisting(file);
  for (const { scope, file: other } of await findSettingsFiles({ workingDir: project })) {
    const isOther = scope !== 'project' && real !== undefined;
    if (!isOther || (await realpathOfNearestExisting(other)) !== real) continue;
    throw new UsageError(
      `${toOneLine(file)} is not written for the project: it is the settings file of the ${scope}, which counts in every project; name another project with --cwd`,
    );
  }
  for (const path of [file, join(project, '.llxprt', 'hooks')]) await requireInside(project, path);
  return file;
}

/**
 * Makes sure that a path is below the project even where the repository brings links.
 *
 * @param project real path of a directory
 * @throws UsageError when a link leads out of the project
 */
export async function requireInside(project: string, path: string): Promise<void> {
  const real = await realpathOfNearestExisting(path);
  if (real !== undefined && isInside(real, project)) return;
  const where = real === undefined ? 'that does not exist' : `outside of the project: ${real}`;
  throw new UsageError(
    `${toOneLine(path)} is not written: a link leads to a place ${toOneLine(where)}; remove the link first`,
  );
}
