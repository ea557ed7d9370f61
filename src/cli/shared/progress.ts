import { canRedraw, toOneLine } from './terminal.js';
import { writeError } from './streams.js';

/** One after the other. Progress is on one line of stderr, on a terminal only. */
export async function mapWithProgress<T, R>(
  items: readonly T[],
  nameOf: (item: T) => string,
  work: (item: T) => Promise<R>,
  onResult?: (result: R) => void,
): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    showProgress(index, items.length, nameOf(item));
    const result = await work(item);
    clearProgress(items.length);
    results.push(result);
    onResult?.(result);
  }
  return results;
}

/** Says which of several is next. Of one alone, nothing is said. */
export function showProgress(index: number, count: number, name: string): void {
  if (!isShown(count)) return;
  writeError(`${CLEAR_LINE}${index + 1}/${count} ${toOneLine(name).slice(0, 60)}`);
}

export function clearProgress(count: number): void {
  if (isShown(count)) writeError(CLEAR_LINE);
}

function isShown(count: number): boolean {
  return canRedraw() && count > 1;
}

export const CLEAR_LINE = '\r\u001B[K';
