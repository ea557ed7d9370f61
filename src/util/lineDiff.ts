import { commonEnds } from '../trace/diff.js';

/** What differs between two texts, line by line: `-` before what is gone, `+` before what is new, and some context. */
export function diffLines(before: string, after: string): string[] {
  const marked = markLines(toLines(before), toLines(after));
  const isNear = (index: number) =>
    marked.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some((line) => line[0] !== ' ');
  return marked.flatMap((line, index) => {
    if (isNear(index)) return [line];
    return index > 0 && isNear(index - 1) ? ['@@'] : [];
  });
}

/** Lines around a change that are shown. */
const CONTEXT = 3;

function toLines(text: string): string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function markLines(before: readonly string[], after: readonly string[]): string[] {
  const { start, end } = commonEnds(before, after, (a, b) => a === b);
  const gone = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  const isSmall = gone.length * added.length <= MAX_COMPARED;
  return [
    ...before.slice(0, start).map((line) => ` ${line}`),
    ...(isSmall
      ? markChanges(gone, added)
      : [...gone.map((line) => `-${line}`), ...added.map((line) => `+${line}`)]),
    ...before.slice(before.length - end).map((line) => ` ${line}`),
  ];
}

/** Pairs of lines up to which it is looked for what changed lines have in common. */
const MAX_COMPARED = 4_000_000;

/** The longest common subsequence. */
function markChanges(before: readonly string[], after: readonly string[]): string[] {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const lengthAt = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        before[row] === after[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const marked: string[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    if (row < before.length && column < after.length && before[row] === after[column]) {
      marked.push(` ${before[row++]}`);
      column++;
    } else if (
      column >= after.length ||
      (row < before.length && lengthAt(row + 1, column) >= lengthAt(row, column + 1))
    ) {
      marked.push(`-${before[row++]}`);
    } else {
      marked.push(`+${after[column++]}`);
    }
  }
  return marked;
}
