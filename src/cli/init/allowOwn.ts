import type { ConsentItem, ConsentReview } from '../../hooks/entry.js';
import { compareItems } from '../../trust/consentChanges.js';
import {
  isSameDefinition,
  itemOfHook,
  sha256,
  withoutMode,
  type ProjectHook,
} from '../../trust/consentItem.js';
import { errorMessage } from '../../util/errorMessage.js';
import { obstaclesOf } from '../shared/obstacles.js';
import { openToReview, reviewWorkspace } from '../shared/reviewProject.js';
import { printNotice } from '../shared/terminal.js';

/** What a command has written for the user just now. */
export interface Written {
  /** As they are loaded. */
  readonly hooks: readonly ProjectHook[];
  /** Contents by names relative to the project. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Allows hooks that were written for the user, and again the hooks that were allowed until files were written beside
 * their scripts. Whatever else consent to them covers must have been allowed already, byte for byte.
 *
 * @param project the project's root
 * @returns what nobody has seen, where that is why a hook of them is not allowed; and what keeps hooks from running
 */
export async function allowOwn(project: string, written: Written, cwd: string | undefined) {
  const workspace = await openToReview(project, true);
  const { consent, items } = await reviewWorkspace(workspace);
  const before = consent.allowed;
  const isOwn = ({ status, item }: ConsentReview) =>
    (status === 'new' || status === 'changed') &&
    item.class !== 'open' &&
    (isWritten(item, written)
      ? unseenFiles(item, written, before).length === 0
      : before.some((each) => differsByWritten(each, item, written)));
  const own = items.filter(({ review }) => isOwn(review)).map(({ review }) => review);
  const replaced = new Set(own.flatMap(({ previous }) => previous?.digest ?? []));
  const keep = before.filter(({ digest }) => !replaced.has(digest));
  const allowed = await consent.allow(own, { keep }).then(
    () => own,
    (error: unknown): readonly ConsentReview[] => {
      printNotice('warning', `what was written could not be allowed: ${errorMessage(error)}`);
      return [];
    },
  );
  const left = items.filter(({ review }) => !allowed.includes(review));
  const mine = items.flatMap(({ review }) => (isWritten(review.item, written) ? [review] : []));
  const mayRun = (review: ConsentReview) => review.status === 'allowed' || allowed.includes(review);
  return {
    isAllowed: mine.length >= written.hooks.length && mine.every(mayRun),
    unseen: mine.flatMap(({ item }) => unseenFiles(item, written, before)),
    obstacles: obstaclesOf(workspace, left, cwd),
  };
}

function isWritten(item: ConsentItem, { hooks }: Written): boolean {
  return hooks.some((hook) =>
    isSameDefinition(item, itemOfHook(hook, { class: 'open', files: {} })),
  );
}

/** Files that are neither as they were written, nor as some consent has them. */
function unseenFiles(
  item: ConsentItem,
  written: Written,
  allowed: readonly ConsentItem[],
): string[] {
  return Object.keys(item.files).filter(
    (name) =>
      !isFileWritten(item, name, written) &&
      !allowed.some(({ files }) => isSameContent(files[name], item.files[name])),
  );
}

function isFileWritten({ files }: ConsentItem, name: string, written: Written): boolean {
  const content = written.files.get(name);
  return content !== undefined && isSameContent(files[name], sha256(content));
}

/** Consents of earlier versions hold no modes, and what was written has the one that it was given. */
function isSameContent(one = '', other = ''): boolean {
  return withoutMode(one) === withoutMode(other);
}

/** Whether nothing is different but files that were written now. */
function differsByWritten(before: ConsentItem, item: ConsentItem, written: Written): boolean {
  if (!isSameDefinition(before, item) || before.class !== item.class) return false;
  const { changedFiles, removedFiles, addedFiles } = compareItems(before, item);
  return (
    changedFiles.length + removedFiles.length === 0 &&
    addedFiles.every((name) => isFileWritten(item, name, written))
  );
}
