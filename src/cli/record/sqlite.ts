import { loadOptional } from '../../util/optionalPackage.js';

/** What `node:sqlite` and the package better-sqlite3 have in common. */
export interface Sqlite {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: readonly (string | number | null)[]): { readonly changes: number | bigint };
    iterate(...values: readonly (string | number | null)[]): Iterable<unknown>;
  };
  close(): unknown;
}

interface Builtin {
  readonly DatabaseSync: new (file: string, options: { readonly readOnly: boolean }) => Sqlite;
}

interface Package {
  readonly default: new (file: string, options: { readonly readonly: boolean }) => Sqlite;
}

/**
 * Opens a database with what Node has (from 22.13 on), or else with the package better-sqlite3.
 *
 * @throws Error where there is neither, or the file cannot be opened
 */
export async function openSqlite(file: string, readOnly: boolean): Promise<Sqlite> {
  const builtin = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown;
  if (builtin) return new (builtin as Builtin).DatabaseSync(file, { readOnly });
  const need = 'Before Node.js 22.13, SQLite needs';
  const { default: Database } = await loadOptional<Package>('better-sqlite3', need);
  return new Database(file, { readonly: readOnly });
}
