import { loadSettings } from '../../config/settings/settings.js';
import { openConsent } from '../../trust/openConsent.js';
import { isTrustedRun } from './workspace.js';

/** What became of an edit of the project's settings. */
export interface OwnEdit {
  readonly changed: boolean;
  /** Why nothing of the file but its hooks counts, as the end of "What this file sets …"; `undefined` where all does. */
  readonly objection?: string;
}

/**
 * Edits the project's settings for the user. If all that they said counted before, it counts afterwards too: whoever
 * gave the command needs no second question. If not, nobody has seen the rest of the file, and nothing is allowed.
 *
 * @param edit returns whether the file has changed
 * @throws Error when what is allowed cannot be written
 */
export async function editAsAllowed(
  workingDir: string,
  edit: () => Promise<boolean>,
): Promise<OwnEdit> {
  const { review: before } = await loadSettings({ workingDir });
  const changed = await edit();
  if (before !== undefined && before.status !== 'allowed') {
    return { changed, ...(!isTrustedRun({}) && { objection: before.reason }) };
  }
  if (changed) {
    const { review } = await loadSettings({ workingDir });
    const consent = await openConsent({ workingDir });
    await consent.allowSettings(review);
  }
  return { changed };
}
