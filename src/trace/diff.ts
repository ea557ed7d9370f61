import { isDeepStrictEqual } from 'node:util';
import { commonEnds, diffLines } from '../util/lineDiff.js';
import { isRecord } from '../util/records.js';

/** Lines shown around a change. */
const CONTEXT = 2;
/** With more changed lines than this, lines are not matched: the host waits for the diff, and a record holds no more. */
const MAX_CHANGED = 100;
/** In characters; longer values are indented. */
const MAX_LINE = 80;

/** Places that are compared one by one; the rest is compared line by line. */
const MAX_PLACES = 1000;

/** Like a unified diff: for each place, its path behind `@@`, then lines that are gone (`-`) and new ones (`+`). */
export function diffValues(path: string, before: unknown, after: unknown): string[] {
  return diffPlaces(path, before, after, { places: MAX_PLACES });
}

interface Left {
  places: number;
}

function diffPlaces(path: string, before: unknown, after: unknown, left: Left): string[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    if (takePlaces(keys.size, left)) {
      return [...keys].flatMap((key) =>
        diffPlaces(`${path}.${key}`, own(before, key), own(after, key), left),
      );
    }
  } else if (Array.isArray(before) && Array.isArray(after)) {
    const { start, end } = commonEnds(before, after, isDeepStrictEqual);
    const count = Math.max(before.length, after.length) - start - end;
    if (takePlaces(count, left)) {
      // An inserted or removed item must not make all later ones differ.
      return Array.from({ length: count }, (_, index) => start + index).flatMap((index) =>
        diffPlaces(
          `${path}[${index}]`,
          index < before.length - end ? before[index] : undefined,
          index < after.length - end ? after[index] : undefined,
          left,
        ),
      );
    }
  }
  const hunks = diffLines(toText(before), toText(after), CONTEXT, MAX_CHANGED);
  return hunks.flatMap((hunk) => [
    `@@ ${path}`,
    ...hunk.map((line) => `${line.charAt(0)} ${line.slice(1)}`),
  ]);
}

function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Whether so many more places may be compared one by one. */
function takePlaces(count: number, left: Left): boolean {
  if (count > left.places) return false;
  left.places -= count;
  return true;
}

/** The line break at the end tells an empty text from none. */
function toText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return `${value}\n`;
  const line = JSON.stringify(value);
  return `${line.length <= MAX_LINE ? line : JSON.stringify(value, null, 2)}\n`;
}
