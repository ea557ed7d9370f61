import { join } from 'node:path';
import { findSettingsFiles, settingsFileIn } from '../../config/settings/settingsPlaces.js';
import { realpathOfNearestExisting } from '../../agent/tools/nearestExisting.js';
import { isInside } from '../../util/paths.js';
import { toOneLine } from './terminal.js';
import { UsageError } from './usageError.js';

/**
 * Links in a repository must not lead to the user's settings, which need no trust, nor out of the project, whose path
 * is real. Throws UsageError when they do.
 */
export async function projectSettingsToWrite(project: string): Promise<string> {
  const file = settingsFileIn(project);
  const real = await realpathOfNearestExisting(file);
  for (const { scope, file: other } of findSettingsFiles({ workingDir: project })) {
    const isOther = scope !== 'project' && real !== undefined;
    if (!isOther || (await realpathOfNearestExisting(other)) !== real) continue;
    throw new UsageError(
      `${toOneLine(file)} is not written for the project: it is the settings file of the ${scope}, which counts in every project; name another project with --cwd`,
    );
  }
  for (const folder of ['', 'hooks', 'tests']) {
    await requireInside(project, folder === '' ? file : join(project, '.llxprt', folder));
  }
  return file;
}

/** `project` is a real path. Throws UsageError when a link leads out of it. */
export async function requireInside(project: string, path: string): Promise<void> {
  const real = await realpathOfNearestExisting(path);
  if (real !== undefined && isInside(real, project)) return;
  const where = real === undefined ? 'that does not exist' : `outside of the project: ${real}`;
  throw new UsageError(
    `${toOneLine(path)} is not written: a link leads to a place ${toOneLine(where)}; remove the link first`,
  );
}
