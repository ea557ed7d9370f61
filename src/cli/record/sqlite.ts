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
 * Loads what opens databases: what Node has (from 22.13 on), or else the package better-sqlite3.
 *
 * @returns throws an Error for a file that cannot be opened
 * @throws Error where there is neither
 */
export async function loadSqlite(): Promise<(file: string, readOnly: boolean) => Sqlite> {
  const builtin = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown;
  if (builtin) return (file, readOnly) => new (builtin as Builtin).DatabaseSync(file, { readOnly });
  const need = 'Before Node.js 22.13, SQLite needs';
  const { default: Database } = await loadOptional<Package>('better-sqlite3', need);
  return (file, readonly) => new Database(file, { readonly });
}
