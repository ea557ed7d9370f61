import { structuredPatch } from 'diff/lib/patch/create.js';

/** Neighbouring lines, each with a sign: `-` for an old one, `+` for a new one, a blank for one that stays. */
export type Hunk = readonly string[];

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
export function commonEnds<T>(
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
