import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Spool, type Segment } from '../../fleet/spool.js';
import { readSpan } from '../../trace/record.js';
import { ignoreMissing } from '../../util/missing.js';
import { scanDay } from './days.js';
import type { Place } from './forget.js';
import type { Related } from './row.js';

const NAME = /^[^.]+\.[^.]+$/u;

/**
 * What waits on this machine until it can be sent to the record.
 *
 * @param directory in which each agent of this user has a spool of its own
 */
export async function spoolsIn(directory: string): Promise<Place[]> {
  const found = (await readdir(directory).catch(ignoreMissing)) ?? [];
  const names = found.filter((name) => NAME.test(name));
  return names.map((name) => placeOf(path.join(directory, name), name.replace('.', '/')));
}

function placeOf(directory: string, from: string): Place {
  return {
    name: `of what waits in ${directory}`,
    scan: async (see) => {
      rewrite(directory, (span) => {
        see({ ...span, from });
        return false;
      });
    },
    remove: async (isOf) => {
      const removed = rewrite(directory, (span) => isOf({ ...span, from }));
      for (const name of await readdir(directory)) {
        await scanDay(path.join(directory, name), (span) => {
          if (!isOf({ ...span, from })) return;
          throw new Error(`${from} runs, and keeps some in ${directory} until it can send them`);
        });
      }
      return removed;
    },
  };
}

/** @returns how many were removed, of what no process that runs is writing */
function rewrite(directory: string, isRemoved: (span: Related) => boolean): number {
  const spool = new Spool(directory, { maxBytes: Infinity });
  let removed = 0;
  try {
    const segments: Segment[] = [];
    for (let next = spool.take(); next; next = spool.take()) segments.push(next);
    for (const segment of segments) {
      const { lines } = segment;
      const kept = lines.filter((line) => {
        const span = readSpan(line);
        return !span || !isRemoved(span);
      });
      if (kept.length === lines.length) continue;
      const { problem } = spool.append(kept);
      if (problem !== undefined) throw problem;
      segment.done();
      removed += lines.length - kept.length;
    }
    return removed;
  } finally {
    spool.release();
  }
}
