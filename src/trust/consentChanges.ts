import { posix } from 'node:path';
import type { ConsentItem, ConsentReview } from '../hooks/entry.js';
import { isSameDefinition, withoutMode } from './consentItem.js';

export interface ConsentChanges {
  /** Fields of the definition, `key: value` each. */
  readonly removedLines: readonly string[];
  readonly addedLines: readonly string[];
  readonly fields: readonly string[];
  readonly changedFiles: readonly string[];
  readonly addedFiles: readonly string[];
  readonly removedFiles: readonly string[];
}

const MAX_SUMMARIZED = 3;

export function compareItems(before: ConsentItem, now: ConsentItem): ConsentChanges {
  const [oldLines, newLines] = [definitionLines(before), definitionLines(now)];
  const removedLines = oldLines.filter((line) => !newLines.includes(line));
  const addedLines = newLines.filter((line) => !oldLines.includes(line));
  const files = Object.keys(now.files);
  const asBefore = isWithoutModes(before) ? withoutMode : (digest: string) => digest;
  return {
    removedLines,
    addedLines,
    fields: [
      ...new Set([...removedLines, ...addedLines].map((line) => line.split(':', 1)[0] ?? '')),
    ],
    changedFiles: files.filter(
      (file) =>
        Object.hasOwn(before.files, file) && before.files[file] !== asBefore(now.files[file] ?? ''),
    ),
    addedFiles: files.filter((file) => !Object.hasOwn(before.files, file)),
    removedFiles: Object.keys(before.files).filter((file) => !Object.hasOwn(now.files, file)),
  };
}

function summarize(changes: ConsentChanges): string {
  const parts = [
    ...changes.fields.map((field) => `its ${field}`),
    ...changes.changedFiles,
    ...changes.addedFiles.map((file) => `${file} is new`),
    ...changes.removedFiles.map((file) => `${file} is gone`),
  ];
  const more = parts.length - MAX_SUMMARIZED;
  return [...parts.slice(0, MAX_SUMMARIZED), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/**
 * Finds what was allowed in an item's place: what is called the same or runs the same, else what was there for the
 * same event or, of middleware, in the same stack. A project has one item of settings.
 */
export function findPrevious(
  item: ConsentItem,
  allowed: readonly ConsentItem[],
): ConsentItem | undefined {
  const candidates = allowed.filter(
    ({ kind, definition }) =>
      kind === item.kind && definition['extension'] === item.definition['extension'],
  );
  if (item.kind === 'settings') return candidates[0];
  for (const keys of [
    ['event', 'name'],
    ['event', 'command'],
    ['event', 'url'],
    ['name'],
    ['command'],
    ['url'],
    ['module'],
    ['event'],
    ['stack', 'policy'],
  ]) {
    if (keys.some((key) => item.definition[key] === undefined)) continue;
    const found = candidates.find(({ definition }) =>
      keys.every((key) => definition[key] === item.definition[key]),
    );
    if (found) return found;
  }
  return undefined;
}

/** The fields of a definition, `key: value` each. */
export function definitionLines({ definition }: ConsentItem): string[] {
  return Object.entries(definition).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
}

/**
 * Completes "The hook …".
 *
 * @param unseen what `unseenOfOld` says
 */
export function reasonOfChange(
  previous: ConsentItem,
  { item, covers }: Pick<ConsentReview, 'item' | 'covers'>,
  unseen: readonly string[] | undefined,
): string {
  const changes = compareItems(previous, item);
  if (unseen && changes.changedFiles.length + changes.removedFiles.length === 0) {
    const [first = '', ...more] = unseen;
    const others = more.length > 0 ? ` and ${more.length} more` : '';
    return `was allowed before all files beside its script counted, and has not been allowed with these: ${first}${others}`;
  }
  if (!unseen && isSameDefinition(previous, item) && previous.class !== item.class) {
    const before = previous.class ?? 'by the files that its command names';
    return `was allowed when it was covered otherwise (${before}); now ${covers}`;
  }
  return `has changed since it was allowed (${summarize(changes)})`;
}

/**
 * Consents of earlier versions hold no modes, and covered less: the files that a command names, or the script's own folder
 * alone. Such a consent still counts if all files as they are now were seen, with this item or another, and none is gone.
 *
 * @returns the files that differ; `undefined` where it was not allowed in that form, or no file is covered now
 */
export function unseenOfOld(
  allowed: readonly ConsentItem[],
  { files, ...item }: ConsentItem,
): string[] | undefined {
  if (item.kind === 'settings' || item.class === 'open') return undefined;
  const old = allowed.filter((each) => each.kind === item.kind && isWithoutModes(each));
  if (!old.some((each) => isSameDefinition(each, { files, ...item }))) return undefined;
  const seen = old.flatMap((each) => Object.entries(each.files));
  const known = new Set(seen.map(String));
  const unseen = Object.entries(files).filter(
    ([name, digest]) => !known.has(String([name, withoutMode(digest)])),
  );
  const folders = [...new Set(Object.keys(files).map((name) => `${posix.dirname(name)}/`))];
  const gone = seen.filter(
    ([name]) => !Object.hasOwn(files, name) && folders.some((folder) => name.startsWith(folder)),
  );
  return [...unseen, ...gone].map(([name]) => name);
}

/** One that covers no file is of no version. */
function isWithoutModes({ files }: ConsentItem): boolean {
  const digests = Object.values(files);
  return digests.length > 0 && digests.every((digest) => digest === withoutMode(digest));
}
