import { closeSync } from 'node:fs';
import path from 'node:path';
import type { SpanRecord } from '../../trace/record.js';
import { openPrivately } from '../../trace/privateFile.js';
import { COLUMNS } from './columns.js';
import { conditionOf, type RecordQuery } from './query.js';
import { rowOf, type RecordRow } from './row.js';
import { openSqlite, type Sqlite } from './sqlite.js';

/** Of the table. A database of a later one is not written. */
const VERSION = 1;
/** Ms to wait for others who write. */
const BUSY_MS = 10_000;

const NAMES = COLUMNS.map((column) => `"${column}"`).join(', ');

/** What has been deleted is overwritten, and what has been committed is on disk. */
const PRAGMAS = `PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA secure_delete = ON; PRAGMA synchronous = FULL;`;

const TABLE = `
  CREATE TABLE IF NOT EXISTS records (
    time TEXT NOT NULL, "from" TEXT NOT NULL, agent TEXT, session TEXT, kind TEXT NOT NULL, event TEXT, tool TEXT,
    call TEXT, verdict TEXT NOT NULL, shadow INTEGER, hook TEXT, approver TEXT, policy TEXT, reason TEXT, duration_ms NUMERIC NOT NULL,
    id TEXT NOT NULL, parent TEXT, span TEXT NOT NULL, PRIMARY KEY (id, "from")
  );
  CREATE INDEX IF NOT EXISTS records_by_time ON records (time);
  PRAGMA user_version = ${VERSION};`;

/** What tells spans of a session. */
export type Related = Pick<SpanRecord, 'id' | 'parent'> & {
  readonly from?: string | undefined;
  readonly session?: string | null | undefined;
};

/** The record in SQLite: the table `records`. */
export class RecordDatabase {
  private constructor(private readonly sqlite: Sqlite) {}

  /**
   * Opens it, or makes it, for its owner alone.
   *
   * @throws Error for a file that is another database, or cannot be opened
   */
  static async open(file: string): Promise<RecordDatabase> {
    closeSync(openPrivately(file, 'append'));
    const sqlite = await openSqlite(path.resolve(file), false);
    try {
      sqlite.exec(PRAGMAS);
      if (requireOwn(sqlite) === 0) {
        // Others can read it while it is written.
        sqlite.exec('PRAGMA journal_mode = WAL');
        sqlite.exec(`BEGIN IMMEDIATE; ${TABLE} COMMIT`);
      }
      return new RecordDatabase(sqlite);
    } catch (error) {
      sqlite.close();
      throw error;
    }
  }

  /** @throws Error for a file that is another database, or cannot be read */
  static async openToRead(file: string): Promise<RecordDatabase> {
    const sqlite = await openSqlite(path.resolve(file), true);
    try {
      sqlite.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      if (requireOwn(sqlite) === 0) throw new Error('it holds no record');
      return new RecordDatabase(sqlite);
    } catch (error) {
      sqlite.close();
      throw error;
    }
  }

  /**
   * Writes those spans that are not there yet, all or none; they are on disk then.
   *
   * @returns those that were written
   */
  add<S extends SpanRecord>(spans: readonly S[]): S[] {
    const places = COLUMNS.map(() => '?').join(', ');
    const sql = `INSERT OR IGNORE INTO records (${NAMES}, span) VALUES (${places}, ?)`;
    const insert = this.sqlite.prepare(sql);
    return this.#together(() =>
      spans.filter((span) => {
        const row = { ...rowOf(span), from: span.from ?? '' };
        const values = COLUMNS.map((column) => row[column]);
        return Number(insert.run(...values, JSON.stringify(span)).changes) > 0;
      }),
    );
  }

  rows(query: RecordQuery): Iterable<RecordRow> {
    const { sql, values } = conditionOf(query);
    const select = `SELECT ${NAMES} FROM records WHERE ${sql} ORDER BY time, id`;
    return this.sqlite.prepare(select).iterate(...values) as Iterable<RecordRow>;
  }

  related(): Iterable<Related> {
    const select = 'SELECT id, "from", parent, session FROM records';
    return this.sqlite.prepare(select).iterate() as Iterable<Related>;
  }

  /** @returns how many of these were there */
  remove(spans: readonly Related[]): number {
    const remove = this.sqlite.prepare('DELETE FROM records WHERE id = ? AND "from" = ?');
    return this.#removing(() =>
      spans.reduce((sum, { id, from = '' }) => sum + Number(remove.run(id, from).changes), 0),
    );
  }

  /**
   * Removes what began before.
   *
   * @param time ISO 8601
   * @returns how many
   */
  removeBefore(time: string): number {
    const remove = this.sqlite.prepare('DELETE FROM records WHERE time < ?');
    return this.#removing(() => Number(remove.run(time).changes));
  }

  close(): void {
    this.sqlite.close();
  }

  /** Nothing of it stays in the log either, unless somebody reads just now: then until that has ended. */
  #removing(work: () => number): number {
    const removed = this.#together(work);
    if (removed > 0) this.sqlite.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return removed;
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

/** @returns the version of the table; 0 for an empty database */
function requireOwn(sqlite: Sqlite): number {
  const select = `SELECT user_version AS version,
    (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_user_version`;
  const [found] = [...sqlite.prepare(select).iterate()] as { version: number; tables: number }[];
  const { version = 0, tables = 0 } = found ?? {};
  if (version > VERSION) throw new Error('a later version of hookstack has made it; use that one');
  if (version === 0 && tables > 0) throw new Error('it is a database of something else');
  return version;
}
