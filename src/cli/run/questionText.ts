import { isDeepStrictEqual } from 'node:util';
import { nameNumbers } from '../../fleet/approvalEnvelope.js';
import type { ApprovalRequest } from '../../protocol/approval.js';
import { HookEventName } from '../../protocol/types.js';
import { diffValues } from '../../trace/diff.js';
import { reveal } from '../shared/reveal.js';
import { paint, plural } from '../shared/terminal.js';
import { standardError } from '../shared/streams.js';

/** What is longer is cut, and it is said how much: of each text, and of each of its lines. */
const MAX_ROWS = { hook: 12, other: 60 };
const MAX_LINE = 2000;
/** In characters. Comparing takes longer than anybody waits. */
const MAX_COMPARED = 500_000;
/** More would push what is asked about off the screen. */
const MAX_HOOKS = 5;
const BEGIN = '  | ';
const MIN_COLUMNS = 20;

/** What comes next, if it is allowed. */
const NEXT: Partial<Record<HookEventName, string>> = {
  [HookEventName.BeforeTool]: 'this tool runs',
  [HookEventName.BeforeModel]: 'the model is called',
  [HookEventName.BeforeAgent]: 'the agent begins',
  [HookEventName.SubagentStart]: 'this sub-agent begins',
};

/**
 * A question as a person reads it. What hooks and the model have written stands behind `| `, and nothing else does.
 *
 * @param columns of the terminal: a line that the terminal wraps itself would go on without that mark
 */
export function formatQuestion(request: ApprovalRequest, columns?: number): string {
  const { event, hooks, toolName, input, originalInput, workingDir, agent, expiresAt } = request;
  const isChanged = !isDeepStrictEqual(input, originalInput);
  const quote = (text: string, rows = MAX_ROWS.other) =>
    quoteWithin(text, Math.max(MIN_COLUMNS, columns || 80), rows);
  const quoteHook = (text: string) => quote(text, MAX_ROWS.hook);
  const minutes = Math.max(0, (expiresAt - Date.now()) / 60_000);
  return [
    paint('bold', `Hooks ask you before ${NEXT[event] ?? event}.`, standardError()),
    ...hooks
      .slice(0, MAX_HOOKS)
      .flatMap(({ name, source, reason }) => [
        'hook:',
        ...quoteHook(name),
        'configured by:',
        ...quoteHook(source),
        ...(reason === undefined ? [] : ['which says:', ...quoteHook(reason)]),
      ]),
    ...(hooks.length > MAX_HOOKS
      ? [tellNotShown(plural(hooks.length - MAX_HOOKS, 'more hook'))]
      : []),
    ...(toolName === undefined ? [] : ['tool:', ...quote(toolName)]),
    ...(isChanged ? ['changed by hooks:', ...quote(formatChange(originalInput, input))] : []),
    'input:',
    ...quote(JSON.stringify(input, nameNumbers, 2)),
    'in:',
    ...quote(workingDir),
    ...(agent === undefined ? [] : ['agent:', ...quote(agent)]),
    `No answer within ${formatMinutes(minutes)} means no.`,
  ].join('\n');
}

function formatChange(before: object, after: object): string {
  const size = JSON.stringify(before).length + JSON.stringify(after).length;
  if (size > MAX_COMPARED) return '(too long to be compared)';
  return diffValues('input', before, after).join('\n');
}

function formatMinutes(minutes: number): string {
  return minutes < 2
    ? plural(Math.round(minutes * 60), 'second')
    : plural(Math.round(minutes), 'minute');
}

function quoteWithin(text: string, columns: number, maxRows: number): string[] {
  const rows: string[] = [];
  const lines = text.split('\n');
  let shown = 0;
  for (; shown < lines.length && rows.length < maxRows; shown++) {
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
  return tellNotShown(what);
}

function tellNotShown(what: string): string {
  return paint('yellow', `  (not shown: ${what})`, standardError());
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
