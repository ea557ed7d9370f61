import { createRequire } from 'node:module';
import type * as Patches from 'diff/lib/patch/create.js';

/** The part of the package that makes patches, loaded with the first difference: most hosts never see one. */
let patches: typeof Patches | undefined;
const load = createRequire(import.meta.url);

/** With more changed lines, none are matched: the time grows with their square. */
const MAX_CHANGED = 1000;

/** Neighbouring lines, each with a sign: `-` for an old one, `+` for a new one, a blank for one that stays. */
export type Hunk = readonly string[];

/**
 * What differs between two texts, line by line. Where too much differs, all of the old lines come before all of the new.
 *
 * @param context how many lines around a change are shown
 */
export function diffLines(before: string, after: string, context: number): Hunk[] {
  const [old, changed] = [before, after].map(endLastLine) as [string, string];
  const options = { context, maxEditLength: MAX_CHANGED };
  patches ??= load('diff/lib/patch/create.js') as typeof Patches;
  const patch = patches.structuredPatch('', '', old, changed, '', '', options);
  if (patch) return patch.hunks.map(({ lines }) => lines);
  return [[...markLines('-', old), ...markLines('+', changed)]];
}

/** A missing end of the last line counts as no difference. */
function endLastLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function markLines(sign: string, text: string): string[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => sign + line);
}
