import { isDeepStrictEqual } from 'node:util';
import { loadSettings } from '../../config/settings/settings.js';
import type { ConsentReview } from '../../hooks/entry.js';
import { openConsent } from '../../trust/openConsent.js';
import { isTrustedRun, unreadableFiles } from './workspace.js';

/** What became of an edit of the project's settings. */
export interface OwnEdit {
  readonly changed: boolean;
  /** Why nothing of the file but its hooks counts, as the end of "What this file sets …"; `undefined` where all does. */
  readonly objection?: string;
}

/** Keys that the commands edit. */
const EDITED: ReadonlySet<string> = new Set(['enableHooks', 'disabledHooks']);

/**
 * Edits the project's settings for the user. If all that they said counted before, it counts afterwards too: whoever
 * gave the command needs no second question. If not, or where the file could not be read before, nobody has seen the
 * rest of it, and nothing is allowed.
 *
 * @param edit returns whether the file has changed
 * @throws Error when what is allowed cannot be written
 */
export async function editAsAllowed(
  workingDir: string,
  edit: () => Promise<boolean>,
): Promise<OwnEdit> {
  const { review: before, problems } = await loadSettings({ workingDir });
  const changed = await edit();
  if (!changed) return { changed, ...objectTo(before) };
  const { review: after } = await loadSettings({ workingDir });
  const isSeen =
    unreadableFiles(problems).length === 0 && isDeepStrictEqual(othersOf(before), othersOf(after));
  if (before && before.status !== 'allowed') return { changed, ...objectTo(before) };
  if (!isSeen) return { changed, ...objectTo(after) };
  const consent = await openConsent({ workingDir });
  await consent.allowSettings(after);
  return { changed };
}

function objectTo(review: ConsentReview | undefined): Pick<OwnEdit, 'objection'> {
  const isObjected = review !== undefined && review.status !== 'allowed' && !isTrustedRun({});
  return isObjected ? { objection: review.reason } : {};
}

/** What is said under the keys that no command edits. */
function othersOf(review: ConsentReview | undefined): object {
  const entries = Object.entries(review?.item.definition ?? {});
  return Object.fromEntries(entries.filter(([key]) => !EDITED.has(key)));
}
