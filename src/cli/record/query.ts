import { suggestName } from '../../util/suggestName.js';
import { wildcards } from '../../util/wildcards.js';
import { toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { parseAge } from './age.js';
import { COLUMNS, type Column } from './columns.js';
import type { RecordRow } from './row.js';

/** What rows have to be like, all of it. */
export interface RecordQuery {
  /** ISO 8601, as rows have it: from then on, and before. */
  readonly since?: string;
  readonly until?: string;
  readonly terms: readonly Term[];
}

interface Term {
  readonly column: Column;
  /** Whether none of the patterns may fit. */
  readonly isNot: boolean;
  /** One has to fit; `*` is any text. A missing value is the empty text. */
  readonly patterns: readonly string[];
}

const TERM = /\s*([a-z_]+)(!?=)(?:"([^"]*)"|([^\s"]*))(?=\s|$)/uy;

/**
 * Reads such as `verdict=block,stop tool!=read_* since=1h reason="*is frozen*"`.
 *
 * @param now ms since 1970
 * @throws UsageError that says what is wrong
 */
export function parseQuery(text: string, now = Date.now()): RecordQuery {
  const query: { since?: string; until?: string; terms: Term[] } = { terms: [] };
  TERM.lastIndex = 0;
  for (let at = 0; text.slice(at).trim() !== ''; at = TERM.lastIndex) {
    const [, name = '', sign, quoted, plain = ''] = TERM.exec(text) ?? [];
    if (sign === undefined) {
      throw new UsageError(
        `--query: "${toVisible(text.slice(at).trim())}" is no condition; write NAME=VALUE or NAME!=VALUE, with a space between two, and quotes around a value with spaces`,
      );
    }
    if (name === 'since' || name === 'until') query[name] = timeOf(name, quoted ?? plain, now);
    else {
      const patterns = quoted === undefined ? plain.split(',') : [quoted];
      query.terms.push({ column: columnOf(name), isNot: sign === '!=', patterns });
    }
  }
  return query;
}

function columnOf(name: string): Column {
  const column = COLUMNS.find((each) => each === name);
  if (column !== undefined) return column;
  const advice = suggestName(name, [...COLUMNS, 'since', 'until']);
  throw new UsageError(`--query: there is no "${name}"; ${advice}`);
}

function timeOf(name: string, text: string, now: number): string {
  const age = parseAge(text);
  const time = age === undefined ? Date.parse(text) : now - age;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new UsageError(
    `--query: ${name}="${toVisible(text)}" is no time; write how long ago (30m, 1h, 7d), or when (2026-11-27, 2026-11-27T14:00Z)`,
  );
}

/** @returns whether a row is as a query wants it */
export function matcherOf({ since = '', until, terms }: RecordQuery): (row: RecordRow) => boolean {
  const tests = terms.map(({ column, isNot, patterns }) => {
    const fits = patterns.map(wildcards);
    return (row: RecordRow) => {
      const value = String(row[column] ?? '');
      return fits.some((fit) => fit(value)) !== isNot;
    };
  });
  return (row) => {
    const time = String(row.time);
    const isThen = time >= since && (until === undefined || time < until);
    return isThen && tests.every((test) => test(row));
  };
}

/** The same for SQLite. Values are never part of the text. */
export function conditionOf({ since, until, terms }: RecordQuery): {
  readonly sql: string;
  readonly values: readonly string[];
} {
  const conditions = terms.map(({ column, isNot, patterns }) => {
    const fits = patterns.map(() => `coalesce("${column}", '') GLOB ?`).join(' OR ');
    return `${isNot ? 'NOT ' : ''}(${fits})`;
  });
  const globs = terms.flatMap(({ patterns }) =>
    patterns.map((pattern) => pattern.replaceAll(/[?[]/gu, '[$&]')),
  );
  if (since !== undefined) conditions.unshift('time >= ?');
  if (until !== undefined) conditions.unshift('time < ?');
  const times = [until, since].filter((time) => time !== undefined);
  return { sql: conditions.join(' AND ') || 'true', values: [...times, ...globs] };
}
