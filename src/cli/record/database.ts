import { closeSync } from 'node:fs';
import path from 'node:path';
import type { SpanRecord } from '../../trace/record.js';
import { openPrivately } from '../../trace/privateFile.js';
import { COLUMNS } from './columns.js';
import { conditionOf, type RecordQuery } from './query.js';
import { rowOf, type RecordRow, type Related } from './row.js';
import { loadSqlite, type Sqlite } from './sqlite.js';

/** Of the table. A database of a later one is not written. */
const VERSION = 1;
/** Ms to wait for others who write. */
const BUSY_MS = 10_000;

const NAMES = COLUMNS.map((column) => `"${column}"`).join(', ');

/** Somebody else may have made it: what its tables and views call is data. */
const TO_READ = `PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA trusted_schema = OFF;`;
/** What has been deleted is overwritten, and what has been committed is on disk. */
const TO_WRITE = `${TO_READ} PRAGMA secure_delete = ON; PRAGMA synchronous = FULL;`;

/** `day` is the day in whose file the span would be. */
const TABLE = `
  CREATE TABLE IF NOT EXISTS records (
    time TEXT NOT NULL, "from" TEXT NOT NULL, agent TEXT, session TEXT, kind TEXT NOT NULL, event TEXT, tool TEXT,
    call TEXT, verdict TEXT, shadow TEXT, counted TEXT, hook TEXT, approver TEXT, policy TEXT, reason TEXT,
    duration_ms NUMERIC NOT NULL, id TEXT NOT NULL, parent TEXT, trace TEXT, day TEXT NOT NULL, span TEXT NOT NULL,
    PRIMARY KEY (id, "from")
  );
  CREATE INDEX IF NOT EXISTS records_by_time ON records (time);
  CREATE INDEX IF NOT EXISTS records_by_day ON records (day);
  PRAGMA user_version = ${VERSION};`;

/** The record in SQLite: the table `records`. */
export class RecordDatabase {
  private constructor(private readonly sqlite: Sqlite) {}

  /**
   * Opens it, or makes it, for its owner alone.
   *
   * @throws Error for a file that is another database, a link, somebody else's, or cannot be opened
   */
  static async open(file: string): Promise<RecordDatabase> {
    return openAs(file, false, (sqlite) => {
      sqlite.exec(TO_WRITE);
      if (requireOwn(sqlite) === 0) {
        // Others can read it while it is written.
        sqlite.exec('PRAGMA journal_mode = WAL');
        sqlite.exec(`BEGIN IMMEDIATE; ${TABLE} COMMIT`);
      }
      return new RecordDatabase(sqlite);
    });
  }

  /** @throws Error for a file that is another database, or cannot be read */
  static openToRead(file: string): Promise<RecordDatabase> {
    return openAs(file, true, (sqlite) => {
      sqlite.exec(TO_READ);
      if (requireOwn(sqlite) === 0) throw new Error('it holds no record');
      return new RecordDatabase(sqlite);
    });
  }

  /**
   * Writes those spans of a day that are not there yet, all or none; they are on disk then.
   *
   * @returns those that were written
   */
  add<S extends SpanRecord>(spans: readonly S[], day: string): S[] {
    const places = COLUMNS.map(() => '?').join(', ');
    const sql = `INSERT OR IGNORE INTO records (${NAMES}, day, span) VALUES (${places}, ?, ?)`;
    const insert = this.sqlite.prepare(sql);
    return this.#together(() =>
      spans.filter((span) => {
        const row = { ...rowOf(span), from: span.from ?? '' };
        const values = COLUMNS.map((column) => row[column]);
        return Number(insert.run(...values, day, JSON.stringify(span)).changes) > 0;
      }),
    );
  }

  rows(query: RecordQuery): Iterable<RecordRow> {
    const { sql, values } = conditionOf(query);
    const select = `SELECT ${NAMES} FROM records WHERE ${sql} ORDER BY time, id`;
    return this.sqlite.prepare(select).iterate(...values) as Iterable<RecordRow>;
  }

  related(): Iterable<Related> {
    const select = 'SELECT id, "from", agent, parent, session, trace FROM records';
    return this.sqlite.prepare(select).iterate() as Iterable<Related>;
  }

  /**
   * @returns how many of these were there
   * @throws Error where somebody still reads what was there
   */
  remove(spans: readonly Related[]): number {
    const remove = this.sqlite.prepare('DELETE FROM records WHERE id = ? AND "from" = ?');
    const removed = this.#together(() =>
      spans.reduce((sum, { id, from = '' }) => sum + Number(remove.run(id, from).changes), 0),
    );
    if (this.#emptyLog()) return removed;
    throw new Error('somebody reads the database, so the log beside it still holds what was there');
  }

  /**
   * Removes days that are over before one.
   *
   * @returns how many rows
   */
  removeBefore(day: string): number {
    const remove = this.sqlite.prepare('DELETE FROM records WHERE day < ?');
    const removed = this.#together(() => Number(remove.run(day).changes));
    if (removed > 0) this.#emptyLog();
    return removed;
  }

  close(): void {
    this.sqlite.close();
  }

  /** What has been removed stays in the log until then. @returns `false` where somebody reads it */
  #emptyLog(): boolean {
    const [said] = this.sqlite.prepare('PRAGMA wal_checkpoint(TRUNCATE)').iterate();
    return (said as { readonly busy: number } | undefined)?.busy === 0;
  }

  #together<T>(work: () => T): T {
    this.sqlite.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.sqlite.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.sqlite.exec('ROLLBACK');
      } catch {
        // What could not be committed is no transaction any more.
      }
      throw error;
    }
  }
}

async function openAs<T>(file: string, readOnly: boolean, use: (sqlite: Sqlite) => T): Promise<T> {
  const open = await loadSqlite();
  if (!readOnly) closeSync(openPrivately(file, 'append'));
  const sqlite = open(path.resolve(file), readOnly);
  try {
    return use(sqlite);
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** @returns the version of the table; 0 for an empty database */
function requireOwn(sqlite: Sqlite): number {
  // A trigger would keep, or change, what is written; a view is not what was written.
  const select = `SELECT user_version AS version,
    (SELECT count(*) FROM sqlite_schema) AS parts,
    (SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'records') AS tables,
    (SELECT count(*) FROM sqlite_schema WHERE type = 'trigger') AS triggers FROM pragma_user_version`;
  const [found] = sqlite.prepare(select).iterate() as Iterable<Record<string, number>>;
  const { version = 0, parts = 0, tables = 0, triggers = 0 } = found ?? {};
  if (version > VERSION) throw new Error('a later version of hookstack has made it; use that one');
  if (version === 0 ? parts > 0 : tables !== 1 || triggers > 0) {
    throw new Error('it is a database of something else');
  }
  return version;
}
