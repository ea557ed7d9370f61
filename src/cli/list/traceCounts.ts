import { errorMessage } from '../util/errorMessage.js';
import { readTrace } from '../trace/readTrace.js';
import { printNotice } from './terminal.js';
import { UsageError } from './usageError.js';

/** What a trace says of one hook. */
export interface TraceCount {
  /** How often it ran. */
  readonly fired: number;
  /** What the last run came to. */
  readonly lastVerdict: string | null;
}

/**
 * Counts the runs of each hook in a trace file. Tells on stderr of lines that are no spans.
 *
 * @returns the counts of a hook of an event, 0 for one that the file does not know
 * @throws UsageError when the file cannot be read
 */
export async function countRuns(
  file: string,
): Promise<(event: string, hook: string) => TraceCount> {
  const { spans, unreadable } = await readOrExplain(file);
  if (unreadable.length > 0) {
    printNotice('warning', 'yellow', `${file}: ${unreadable.length} lines are no spans`);
  }
  const counts = new Map<string, TraceCount>();
  for (const { kind, event = '', name, verdict } of spans) {
    if (kind !== 'hook') continue;
    const key = keyOf(event, name);
    counts.set(key, { fired: (counts.get(key)?.fired ?? 0) + 1, lastVerdict: verdict });
  }
  return (event, hook) => counts.get(keyOf(event, hook)) ?? { fired: 0, lastVerdict: null };
}

function keyOf(event: string, hook: string): string {
  return `${event}\0${hook}`;
}

async function readOrExplain(file: string) {
  try {
    return await readTrace(file);
  } catch (cause) {
    // HOOKSTACK_TRACE may name a file that the first run is to create.
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') {
      printNotice('note', 'cyan', `${file} is not there yet`);
      return { spans: [], unreadable: [] };
    }
    throw new UsageError(`--trace ${file} cannot be read (${errorMessage(cause)})`, { cause });
  }
}
