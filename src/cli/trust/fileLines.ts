import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import type { ConsentReview } from '../../hooks/entry.js';
import type { HookConsent } from '../../trust/consent.js';
import { compareItems } from '../../trust/consentChanges.js';
import { sha256 } from '../../trust/consentItem.js';
import { readBytes, reasonOf } from '../../util/guardedRead.js';
import { diffLines } from '../../trace/diff.js';
import { paint, toVisible } from '../shared/terminal.js';

/** Lines shown around a change. */
const CONTEXT = 3;
/** As much as consent covers. */
const MAX_BYTES = 32 * 1024 * 1024;
/** More changed lines are not matched. */
const MAX_CHANGED = 1000;

/** What somebody has to see before the answer: the scripts, and what else has changed. */
export function filesToShow(review: ConsentReview): string[] {
  return [...new Set([...review.scripts, ...changedFilesOf(review)])];
}

export function changedFilesOf({ item, previous }: ConsentReview): readonly string[] {
  return previous ? compareItems(previous, item).changedFiles : [];
}

/** Of a file that has changed since it was allowed, the difference; of another, all of it. */
export async function linesOf(
  consent: HookConsent,
  name: string,
  review: ConsentReview,
): Promise<readonly string[]> {
  const { item, previous } = review;
  const shown = toVisible(name);
  try {
    const bytes = await readBytes(resolve(consent.project, name), { maxBytes: MAX_BYTES });
    // What is shown must be what is allowed.
    if (!item.files[name]?.startsWith(sha256(bytes))) throw new Error('it is being changed');
    if (!isUtf8(bytes)) {
      const note = `${shown} is no text in UTF-8; its bytes are shown as those of Latin-1`;
      return [note, ...wholeOf(shown, bytes.toString('latin1'))];
    }
    const text = bytes.toString();
    const digest = previous?.files[name];
    if (digest?.startsWith(sha256(bytes)) && changedFilesOf(review).includes(name)) {
      return [`${shown} has the same bytes; its mode, or where a link leads, has changed`];
    }
    if (digest === undefined || digest.startsWith(sha256(bytes))) return wholeOf(shown, text);
    const before = await consent.readAllowedText(digest);
    if (before !== undefined) return differenceOf(shown, before, text);
    return [
      `${shown}: no copy of what was allowed is kept; the whole file is shown`,
      ...wholeOf(shown, text),
    ];
  } catch (error) {
    return [`--- ${shown} cannot be shown: ${reasonOf(error)}`];
  }
}

/** All of a file, each line marked as its own. */
export function wholeOf(shown: string, text: string): string[] {
  const lines = text.trimEnd().split('\n');
  return [`--- ${shown}`, ...lines.map((line) => `  | ${toVisible(line)}`)];
}

/** What has changed in a file since it was allowed. */
export function differenceOf(shown: string, before: string, now: string): string[] {
  const hunks = diffLines(before, now, CONTEXT, MAX_CHANGED);
  if (hunks.length === 0) return [`${shown}: only the end of its last line has changed`];
  return [
    paint('red', `--- ${shown} as it was allowed`),
    paint('green', `+++ ${shown} as it is now`),
    ...hunks.flatMap((hunk) => ['@@', ...hunk.map(paintLine)]),
  ];
}

function paintLine(line: string): string {
  const text = line.slice(0, 1) + toVisible(line.slice(1));
  if (line.startsWith('+')) return paint('green', text);
  return line.startsWith('-') ? paint('red', text) : text;
}
