import { existsSync } from 'node:fs';
import type { TraceCount } from '../shared/hookColumns.js';
import { openTrace } from '../shared/openTrace.js';
import { printNotice } from '../shared/terminal.js';

/** @returns 0 for a hook that the file does not know */
export async function countRuns(
  file: string,
): Promise<(event: string, hook: string) => TraceCount> {
  // HOOKSTACK_TRACE may name a file that the first run is to create.
  const isThere = existsSync(file);
  if (!isThere) printNotice('note', `${file} is not there yet`);
  const counts = new Map<string, TraceCount>();
  for (const { kind, event = '', name, verdict } of isThere ? await openTrace(file) : []) {
    if (kind !== 'hook') continue;
    const key = keyOf(event, name);
    counts.set(key, { fired: (counts.get(key)?.fired ?? 0) + 1, lastVerdict: verdict });
  }
  return (event, hook) => counts.get(keyOf(event, hook)) ?? { fired: 0, lastVerdict: null };
}

function keyOf(event: string, hook: string): string {
  return `${event}\0${hook}`;
}
