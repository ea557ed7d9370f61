import type { ConsentItem, FileDigests } from '../hooks/entry.js';
import { isRecord } from '../util/records.js';
import { digestOf, listText, sha256 } from './consentItem.js';

/** The form in which consents and locks are written now: since the third one, hooks share the list of their folder. */
const FORM = 3;

const FORMS: ReadonlySet<unknown> = new Set([1, 2, FORM]);

/** As much as is read of such a file. */
export const MAX_FORM_BYTES = 16 * 1024 * 1024;

/**
 * The text of a file that allows items. The same items make the same text.
 *
 * @param contentOf makes the fields of the file; what it is given packs items
 * @throws Error where more would be written than is read, so that nothing would be allowed any more
 */
export function writeForm(
  file: string,
  contentOf: (pack: (items: readonly ConsentItem[]) => unknown[]) => object,
): string {
  const names = new Map<FileDigests, string>();
  const nameOf = (files: FileDigests) => {
    const name = names.get(files) ?? sha256(listText(files));
    names.set(files, name);
    return name;
  };
  const content = contentOf((items) =>
    items.map((item) => ({ ...item, files: nameOf(item.files) })),
  );
  const lists = Array.from(names, ([files, name]) => [name, files] as const);
  const sorted = lists.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const form = { version: FORM, ...content, lists: Object.fromEntries(sorted) };
  const text = `${JSON.stringify(form, undefined, 2)}\n`;
  const size = Buffer.byteLength(text);
  if (size <= MAX_FORM_BYTES) return text;
  throw new Error(
    `${file} would have ${size} bytes, and no more than ${MAX_FORM_BYTES} are read of it, so nothing is written: keep what hooks do not need (node_modules) out of their folders, or run hookstack untrust in projects that need no hooks any more`,
  );
}

/**
 * Reads what is allowed, in this form or an earlier one.
 *
 * @returns makes the items of a list that are valid: one whose digest is that of something else is left out, and allows
 *   nothing. `undefined` where the form is not known
 */
export function readForm({
  version,
  lists,
}: Readonly<Record<string, unknown>>): ((list: unknown) => ConsentItem[]) | undefined {
  if (!FORMS.has(version)) return undefined;
  const shared = isRecord(lists) ? lists : {};
  const unpack = (item: unknown) =>
    isRecord(item) && typeof item['files'] === 'string'
      ? { ...item, files: shared[item['files']] }
      : item;
  return (list) =>
    (Array.isArray(list) ? list : [])
      .map(unpack)
      .filter(isItem)
      .filter((item) => item.digest === digestOf(item));
}

function isItem(value: unknown): value is ConsentItem {
  if (!isRecord(value)) return false;
  const { kind, class: covers = 'open', definition, files, digest } = value;
  return (
    (kind === 'hook' || kind === 'middleware' || kind === 'settings') &&
    (covers === 'open' || covers === 'pinned' || covers === 'pinned by file') &&
    isRecord(definition) &&
    isRecord(files) &&
    Object.values(files).every((each) => typeof each === 'string') &&
    typeof digest === 'string'
  );
}
