import type { ConsentItem } from '../protocol/entry.js';

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
  return {
    removedLines,
    addedLines,
    fields: [
      ...new Set([...removedLines, ...addedLines].map((line) => line.split(':', 1)[0] ?? '')),
    ],
    changedFiles: files.filter(
      (file) => Object.hasOwn(before.files, file) && before.files[file] !== now.files[file],
    ),
    addedFiles: files.filter((file) => !Object.hasOwn(before.files, file)),
    removedFiles: Object.keys(before.files).filter((file) => !Object.hasOwn(now.files, file)),
  };
}

export function summarize(changes: ConsentChanges): string {
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
 * same event or, of middleware, in the same stack.
 */
export function findPrevious(
  item: ConsentItem,
  allowed: readonly ConsentItem[],
): ConsentItem | undefined {
  const candidates = allowed.filter(
    ({ kind, definition }) =>
      kind === item.kind && definition['extension'] === item.definition['extension'],
  );
  for (const keys of [
    ['event', 'name'],
    ['event', 'command'],
    ['name'],
    ['command'],
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
