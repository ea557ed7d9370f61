import { isDeepStrictEqual } from 'node:util';
import { commonEnds, diffLines } from '../util/lineDiff.js';
import { isRecord } from '../util/records.js';

/** Lines shown around a change. */
const CONTEXT = 2;
/** More changed lines are not matched: a host waits for it, and a record holds no more. */
const MAX_CHANGED = 100;
/** In characters; longer values are indented. */
const MAX_LINE = 80;

/** Like a unified diff: for each place, its path behind `@@`, then lines that are gone (`-`) and new ones (`+`). */
export function diffValues(path: string, before: unknown, after: unknown): string[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      diffValues(`${path}.${key}`, own(before, key), own(after, key)),
    );
  }
  if (Array.isArray(before) && Array.isArray(after)) return diffItems(path, before, after);
  const hunks = diffLines(toText(before), toText(after), CONTEXT, MAX_CHANGED);
  return hunks.flatMap((hunk) => [
    `@@ ${path}`,
    ...hunk.map((line) => `${line.charAt(0)} ${line.slice(1)}`),
  ]);
}

function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** An inserted or removed item must not make all later ones differ. */
function diffItems(path: string, before: readonly unknown[], after: readonly unknown[]): string[] {
  const { start, end } = commonEnds(before, after, isDeepStrictEqual);
  const count = Math.max(before.length, after.length) - start - end;
  return Array.from({ length: count }, (_, index) => start + index).flatMap((index) =>
    diffValues(
      `${path}[${index}]`,
      index < before.length - end ? before[index] : undefined,
      index < after.length - end ? after[index] : undefined,
    ),
  );
}

/** The line break at the end tells an empty text from none. */
function toText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return `${value}\n`;
  const line = JSON.stringify(value);
  return `${line.length <= MAX_LINE ? line : JSON.stringify(value, null, 2)}\n`;
}
