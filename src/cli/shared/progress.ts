import { toOneLine } from './terminal.js';

/** One after the other. Progress is on one line of stderr, on a terminal only. */
export async function mapWithProgress<T, R>(
  items: readonly T[],
  nameOf: (item: T) => string,
  work: (item: T) => Promise<R>,
  onResult?: (result: R) => void,
): Promise<R[]> {
  const results: R[] = [];
  const isShown = process.stderr.isTTY && items.length > 1;
  for (const [index, item] of items.entries()) {
    const name = toOneLine(nameOf(item)).slice(0, 60);
    if (isShown) process.stderr.write(`${CLEAR_LINE}${index + 1}/${items.length} ${name}`);
    const result = await work(item);
    if (isShown) process.stderr.write(CLEAR_LINE);
    results.push(result);
    onResult?.(result);
  }
  return results;
}

const CLEAR_LINE = '\r\u001B[K';
