import { errorMessage } from '../util/errorMessage.js';
import { readTrace, type TraceReading } from '../trace/readTrace.js';
import type { SpanRecord } from '../trace/record.js';
import { printNotice } from './terminal.js';
import { UsageError } from './usageError.js';

/**
 * Reads the spans of a trace, in the order in which they ended, and tells on stderr of lines that are none.
 *
 * @throws UsageError when the file cannot be read
 */
export async function openTrace(file: string): Promise<readonly SpanRecord[]> {
  const { spans, unreadable } = await read(file);
  if (unreadable.length > 0) {
    const count = unreadable.length === 1 ? '1 line is' : `${unreadable.length} lines are`;
    printNotice('warning', 'yellow', `${file}:${unreadable[0]}: ${count} no span and left out`);
  }
  return spans;
}

/** The event that was blocked last, unless none was. */
export function lastBlock(spans: readonly SpanRecord[]): SpanRecord | undefined {
  return spans.findLast(({ kind, verdict }) => kind === 'event' && verdict === 'block');
}

async function read(file: string): Promise<TraceReading> {
  try {
    return await readTrace(file);
  } catch (cause) {
    throw new UsageError(
      `The trace ${file} cannot be read (${errorMessage(cause)}); write one with --trace ${file}`,
      { cause },
    );
  }
}
