import { isDeepStrictEqual } from 'node:util';
import { structuredPatch } from 'diff/lib/patch/create.js';
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

/** Neighbouring lines, each with a sign: `-` for an old one, `+` for a new one, a blank for one that stays. */
type Hunk = readonly string[];

/**
 * What differs between two texts, line by line. A missing end of the last line counts as no difference.
 *
 * @param context how many lines around a change are shown
 * @param maxChanged with more changed lines, all between the first and the last are shown as one change: the time to
 *   match them grows with their square
 */
export function diffLines(
  before: string,
  after: string,
  context: number,
  maxChanged: number,
): Hunk[] {
  const old = splitLines(before);
  const changed = splitLines(after);
  const options = { context, maxEditLength: maxChanged };
  const patch = structuredPatch('', '', old.join(''), changed.join(''), '', '', options);
  if (patch) return patch.hunks.map(({ lines }) => lines);
  const { start, end } = commonEnds(old, changed, Object.is);
  const marked = [
    ...mark(' ', old.slice(Math.max(0, start - context), start)),
    ...mark('-', old.slice(start, old.length - end)),
    ...mark('+', changed.slice(start, changed.length - end)),
    ...mark(' ', old.slice(old.length - end).slice(0, context)),
  ];
  return [marked];
}

/** How many items are the same at the beginning of two lists, and how many of the others at the end. */
function commonEnds<T>(
  before: readonly T[],
  after: readonly T[],
  isSame: (a: T | undefined, b: T | undefined) => boolean,
): { readonly start: number; readonly end: number } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && isSame(before[start], after[start])) start += 1;
  let end = 0;
  while (end < most - start && isSame(before.at(-1 - end), after.at(-1 - end))) end += 1;
  return { start, end };
}

/** Each with its end. */
function splitLines(text: string): string[] {
  return text === '' ? [] : (text.replace(/\n?$/, '\n').match(/[^\n]*\n/g) ?? []);
}

function mark(sign: string, lines: readonly string[]): string[] {
  return lines.map((line) => sign + line.slice(0, -1));
}
