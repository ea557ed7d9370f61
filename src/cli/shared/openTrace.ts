import { readTrace } from './readTrace.js';
import type { SpanRecord } from '../../trace/record.js';
import { plural, printNotice } from './terminal.js';
import { orUsageError } from './usageError.js';

/** In the order in which spans ended. */
export async function openTrace(file: string): Promise<readonly SpanRecord[]> {
  const { spans, unreadable } = await orUsageError(
    readTrace(file),
    (detail) => `The trace ${file} cannot be read (${detail}); write one with --trace ${file}`,
  );
  if (unreadable.length > 0) {
    const is = unreadable.length === 1 ? 'is not a span and is' : 'are not spans and are';
    const lines = plural(unreadable.length, 'line');
    printNotice('warning', `${file}:${unreadable[0]}: ${lines} ${is} left out`);
  }
  return spans;
}

export function lastBlock(spans: readonly SpanRecord[]): SpanRecord | undefined {
  return spans.findLast(({ kind, verdict }) => kind === 'event' && verdict === 'block');
}
