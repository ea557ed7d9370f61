import { isDeepStrictEqual } from 'node:util';
import type { ApprovalRequest } from '../../protocol/approval.js';
import { diffValues } from '../../trace/diff.js';
import { paint, plural } from '../shared/terminal.js';
import { reveal } from './lookalikes.js';

/** What is longer is cut, and it is said how much: of each text, and of each of its lines. */
const MAX_ROWS = 60;
const MAX_LINE = 2000;
const BEGIN = '  | ';
const MIN_COLUMNS = 20;

/**
 * A question as a person reads it. What hooks and the model have written stands behind `| `, and nothing else does.
 *
 * @param columns of the terminal: a line that the terminal wraps itself would go on without that mark
 */
export function formatQuestion(request: ApprovalRequest, columns?: number): string {
  const { event, hooks, toolName, input, originalInput, workingDir } = request;
  const isChanged = !isDeepStrictEqual(input, originalInput);
  const quote = (text: string) => quoteWithin(text, Math.max(MIN_COLUMNS, columns || 80));
  const title = `Hooks ask you before ${toolName === undefined ? event : 'this tool runs'}.`;
  return [
    paint('bold', title, process.stderr),
    ...hooks.flatMap(({ name, source, reason }) => [
      'hook:',
      ...quote(name),
      'configured by:',
      ...quote(source),
      ...(reason === undefined ? [] : ['which says:', ...quote(reason)]),
    ]),
    ...(toolName === undefined ? [] : ['tool:', ...quote(toolName)]),
    'input:',
    ...quote(JSON.stringify(input, null, 2)),
    ...(isChanged
      ? ['changed by hooks:', ...quote(diffValues('input', originalInput, input).join('\n'))]
      : []),
    'in:',
    ...quote(workingDir),
  ].join('\n');
}

function quoteWithin(text: string, columns: number): string[] {
  const rows: string[] = [];
  const lines = text.split('\n');
  let shown = 0;
  for (; shown < lines.length && rows.length < MAX_ROWS; shown++) {
    rows.push(...quoteLine(lines[shown] ?? '', columns));
  }
  if (shown === lines.length) return rows;
  const rest = lines.slice(shown);
  return [...rows, tellCut(rest.join('\n').length, plural(rest.length, 'more line'))];
}

function quoteLine(line: string, columns: number): string[] {
  // A cut must not leave half of a character.
  const kept = line.slice(0, MAX_LINE).replace(/[\ud800-\udbff]$/, '');
  const rows = wrap(reveal(kept), columns - BEGIN.length).map((row) => `${BEGIN}${row}`);
  return kept.length === line.length ? rows : [...rows, tellCut(line.length - kept.length)];
}

function tellCut(characters: number, lines?: string): string {
  const what = `${lines === undefined ? '' : `${lines}, `}${plural(characters, 'more character')}`;
  return paint('yellow', `  (not shown: ${what})`, process.stderr);
}

function wrap(text: string, columns: number): string[] {
  const rows = [''];
  let left = columns;
  for (const character of text) {
    // Rather too early than too late: most of them are narrow.
    const width = (character.codePointAt(0) ?? 0) < 0x300 ? 1 : 2;
    if (left < width) {
      rows.push('');
      left = columns;
    }
    rows[rows.length - 1] += character;
    left -= width;
  }
  return rows;
}
