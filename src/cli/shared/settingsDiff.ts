import { diffLines } from '../../trace/diff.js';
import { paint, toVisible } from './terminal.js';

/** Lines shown around a change. */
const CONTEXT = 3;
/** More changed lines are not matched. */
const MAX_CHANGED = 1000;

export function diffSettings(before: string, after: string): string[] {
  const texts = [before, after].map((text) => text.replaceAll('\r\n', '\n'));
  const hunks = diffLines(...(texts as [string, string]), CONTEXT, MAX_CHANGED);
  return hunks.flatMap((hunk, index) => (index === 0 ? hunk : ['@@', ...hunk]));
}

/** A line of a diff, for a terminal. */
export function paintDiff(line: string): string {
  // Tabs are the indentation of the file.
  const text = line.slice(0, 1) + line.slice(1).split('\t').map(toVisible).join('\t');
  if (line.startsWith('+')) return paint('green', text);
  return line.startsWith('-') ? paint('red', text) : text;
}
