import { realpath } from 'node:fs/promises';
import type { DialectName } from '../../protocol/types.js';
import { dialects } from '../../dialects/dialects.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import { requireHome } from '../../util/home.js';
import { diffLines } from '../../util/lineDiff.js';
import { paint, plural, printJson, printLine, toOneLine } from '../shared/terminal.js';
import { resolveWorkingDir } from '../shared/workspace.js';
import { makeMove, planMove, type Move } from './plan.js';

/** Lines shown around a change. */
const CONTEXT = 3;
/** More changed lines are not matched. */
const MAX_CHANGED = 1000;

interface MigrateOptions {
  readonly from: DialectName;
  readonly dryRun?: boolean;
  readonly cwd?: string;
  readonly json?: boolean;
}

/** @throws UsageError when settings cannot be read, or the project's would be written elsewhere */
export async function migrate({ from, dryRun = false, cwd, json }: MigrateOptions): Promise<void> {
  const project = await resolveWorkingDir(cwd);
  const home = await realpath(requireHome()).catch(requireHome);
  const directories = project === home ? [home] : [project, home];
  const moves: Move[] = [];
  for (const directory of directories) moves.push(await planMove(directory, from, home));
  if (!dryRun) for (const move of moves) await makeMove(move);
  const { notRead } = dialects[from].settings;
  if (json) printJson({ from, dryRun, notRead, files: moves.map(describeMove) });
  else printLine(formatMoves(moves, from, dryRun));
}

function describeMove({ target, sources, before, after, added, present }: Move) {
  return {
    target,
    sources: sources.map(({ file }) => file),
    changed: before !== after,
    added,
    present,
    diff: diffSettings(before, after),
    remarks: sources.flatMap(({ remarks }) => remarks),
  };
}

function diffSettings(before: string, after: string): string[] {
  const texts = [before, after].map((text) => text.replaceAll('\r\n', '\n'));
  const hunks = diffLines(...(texts as [string, string]), CONTEXT, MAX_CHANGED);
  return hunks.flatMap((hunk, index) => (index === 0 ? hunk : ['@@', ...hunk]));
}

function formatMoves(moves: readonly Move[], from: DialectName, dryRun: boolean): string {
  const found = moves.filter(({ sources }) => sources.length > 0);
  const notRead = `Not looked at: ${dialects[from].settings.notRead}.`;
  if (found.length === 0) {
    const places = moves.flatMap(({ places: files }) => files);
    return `There are no settings of ${dialects[from].agent}: neither ${places.map((place) => toOneLine(place)).join(' nor ')}. ${notRead}`;
  }
  const remarks = found.flatMap(({ sources }) => sources.flatMap((source) => source.remarks));
  const isChanged = found.some(({ before, after }) => before !== after);
  return [
    ...found.flatMap((move) => formatMove(move, dryRun)),
    ...(remarks.length > 0 ? ['', 'Not carried over, or worth a look:'] : []),
    ...remarks.map(({ file, line, column, path, message }) =>
      toOneLine(`${file}:${line}:${column}: ${path}: ${message}`),
    ),
    '',
    notRead,
    ...(isChanged && !dryRun ? ['', 'See what runs with: hookstack list'] : []),
  ].join('\n');
}

function formatMove({ target, sources, before, after, added, present }: Move, dryRun: boolean) {
  const names = sources.map(({ file }) => toOneLine(file)).join(', ');
  const verb = dryRun ? 'to be added' : 'added';
  const summary = `${toOneLine(target)}: ${plural(added, 'hook')} ${verb}, ${present} there already (from ${names})`;
  return [summary, ...(dryRun ? diffSettings(before, after).map(paintDiff) : [])];
}

function paintDiff(line: string): string {
  const text = line.slice(0, 1) + removeControls(line.slice(1));
  if (line.startsWith('+')) return paint('green', text);
  return line.startsWith('-') ? paint('red', text) : text;
}
