import { createRequire } from 'node:module';

/**
 * A Node.js that can open databases of SQLite: this one, where it has `node:sqlite` or the package better-sqlite3 is
 * installed; else the one that `HOOKSTACK_SQLITE_NODE` names.
 */
export const SQLITE_NODE = canOpen() ? process.execPath : process.env['HOOKSTACK_SQLITE_NODE'];

function canOpen(): boolean {
  if (process.getBuiltinModule('node:sqlite' as 'node:fs')) return true;
  try {
    createRequire(import.meta.url).resolve('better-sqlite3');
    return true;
  } catch {
    return false;
  }
}
