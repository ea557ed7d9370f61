import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../util/records.js';

/** Lines around a change that are shown for orientation. */
const CONTEXT = 2;
/** Length up to which a value that is no text stands on one line. */
const MAX_LINE = 80;

/**
 * What differs between two values of JSON, in the manner of a unified diff: for each place, its path behind `@@`, and
 * the lines that are gone (`-`) and those that are new (`+`).
 *
 * @param path what to call the values themselves
 */
export function diffLines(path: string, before: unknown, after: unknown): string[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      diffLines(`${path}.${key}`, own(before, key), own(after, key)),
    );
  }
  if (Array.isArray(before) && Array.isArray(after)) return diffItems(path, before, after);
  const [gone, added] = [toLines(before), toLines(after)];
  const lines = diffText(gone, added);
  return lines.length > 0 ? [`@@ ${path}`, ...lines] : [];
}

function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Items that were put in or taken out must not make all of the later ones differ. */
function diffItems(path: string, before: readonly unknown[], after: readonly unknown[]): string[] {
  const { start, end } = commonEnds(before, after, isDeepStrictEqual);
  const count = Math.max(before.length, after.length) - start - end;
  return Array.from({ length: count }, (_, index) => start + index).flatMap((index) =>
    diffLines(
      `${path}[${index}]`,
      index < before.length - end ? before[index] : undefined,
      index < after.length - end ? after[index] : undefined,
    ),
  );
}

function diffText(gone: readonly string[], added: readonly string[]): string[] {
  const { start, end } = commonEnds(gone, added, (a, b) => a === b);
  const removed = gone.slice(start, gone.length - end);
  const inserted = added.slice(start, added.length - end);
  if (removed.length === 0 && inserted.length === 0) return [];
  return [
    ...gone.slice(Math.max(0, start - CONTEXT), start).map((line) => `  ${line}`),
    ...removed.map((line) => `- ${line}`),
    ...inserted.map((line) => `+ ${line}`),
    ...gone
      .slice(gone.length - end)
      .slice(0, CONTEXT)
      .map((line) => `  ${line}`),
  ];
}

/** How many items are the same at the beginning of two lists, and how many of the others at the end. */
export function commonEnds<T>(
  first: readonly T[],
  second: readonly T[],
  equal: (a: T, b: T) => boolean,
): { readonly start: number; readonly end: number } {
  const most = Math.min(first.length, second.length);
  const same = (a: number, b: number) => equal(first[a] as T, second[b] as T);
  let start = 0;
  while (start < most && same(start, start)) start += 1;
  let end = 0;
  while (end < most - start && same(first.length - 1 - end, second.length - 1 - end)) end += 1;
  return { start, end };
}

function toLines(value: unknown): string[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return value.split('\n');
  const line = JSON.stringify(value);
  return line.length <= MAX_LINE ? [line] : JSON.stringify(value, null, 2).split('\n');
}
