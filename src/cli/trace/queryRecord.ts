import { stat } from 'node:fs/promises';
import { readStart } from '../../util/guardedRead.js';
import { COLUMNS, type Column } from '../record/columns.js';
import { RecordDatabase } from '../record/database.js';
import { dayFiles, scanDay } from '../record/days.js';
import { matcherOf, parseQuery, type RecordQuery } from '../record/query.js';
import { rowOf, type RecordRow } from '../record/row.js';
import { paint, plural, printJson, printLine, printNotice, toOneLine } from '../shared/terminal.js';
import { orUsageError } from '../shared/usageError.js';

/**
 * Lists what fits a query.
 *
 * @param place a trace file, a directory of those of `hookstack collect`, or its database
 * @returns the exit code: 1 where nothing fits
 * @throws UsageError for a query that is none, and what cannot be read
 */
export async function queryRecord(place: string, text: string, json: boolean): Promise<number> {
  const query = parseQuery(text);
  const rows = await orUsageError(
    readRows(place, query),
    (detail) => `${place} cannot be read (${detail}); name a trace, or what collect has written`,
  );
  if (json) printJson({ records: rows });
  else if (rows.length > 0) printLine(formatRows(rows));
  else printNotice('note', 'nothing fits');
  return rows.length > 0 ? 0 : 1;
}

async function readRows(place: string, query: RecordQuery): Promise<RecordRow[]> {
  if ((await stat(place)).isDirectory()) {
    return rowsOfFiles(await dayFiles(place, query.since?.slice(0, 10)), query);
  }
  if (readStart(place, SQLITE.length).toString('latin1') !== SQLITE) {
    return rowsOfFiles([place], query);
  }
  const database = await RecordDatabase.openToRead(place);
  try {
    return [...database.rows(query)];
  } finally {
    database.close();
  }
}

/** Such a file begins so. */
const SQLITE = 'SQLite format 3\0';

async function rowsOfFiles(files: readonly string[], query: RecordQuery): Promise<RecordRow[]> {
  const fits = matcherOf(query);
  const rows: RecordRow[] = [];
  for (const file of files) {
    await scanDay(file, (span) => {
      const row = rowOf(span);
      if (fits(row)) rows.push(row);
    });
  }
  return rows.toSorted((a, b) => compare(a.time, b.time) || compare(a.id, b.id));
}

function compare(a: RecordRow[Column], b: RecordRow[Column]): number {
  if (a === b) return 0;
  return String(a) < String(b) ? -1 : 1;
}

/** In characters, of a cell. */
const MAX_CELL = 40;
const MAX_REASON = 120;
/** Who needs them asks for JSON. */
const NOT_SHOWN: ReadonlySet<Column> = new Set(['id', 'parent', 'call', 'duration_ms']);

/** A table of those columns in which there is something. */
function formatRows(rows: readonly RecordRow[]): string {
  const columns = COLUMNS.filter(
    (column) => !NOT_SHOWN.has(column) && rows.some((row) => row[column]),
  );
  const cells = rows.map((row) =>
    columns.map((column) =>
      toOneLine(String(row[column] ?? ''), column === 'reason' ? MAX_REASON : MAX_CELL),
    ),
  );
  const widths = columns.map((column, index) =>
    cells.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), column.length),
  );
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  const lines = [paint('bold', lineOf(columns)), ...cells.map(lineOf)];
  return [...lines, paint('dim', plural(rows.length, 'record'))].join('\n');
}
