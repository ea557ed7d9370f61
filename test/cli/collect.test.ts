import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { Cli } from './helpers.js';

const cli = new Cli();

/** This Node.js, as if it could open no database. */
const WITHOUT_SQLITE = process.getBuiltinModule('node:sqlite' as 'node:fs')
  ? { NODE_OPTIONS: '--no-experimental-sqlite' }
  : {};

describe('hookstack collect', () => {
  it.each([
    [
      ['--out', 'record', '--of', 'acme/one'],
      'error: --of says of which agent a session is removed; add --forget SESSION, or leave it out',
    ],
    [
      ['--nats', 'nats://127.0.0.1:1', '--out', 'record', '--of', 'acme/one'],
      'error: --of says of which agent a session is removed; add --forget SESSION, or leave it out',
    ],
    [['--out', 'record'], 'error: Say where the fleet is: --nats URL'],
  ])('%j says what is missing', async (args, stderr) => {
    await mkdir(path.join(cli.project, 'record'));
    expect(await cli.run(['collect', ...args])).toMatchObject({ exitCode: 2, stderr });
  });

  it.skipIf(isInstalled('better-sqlite3'))(
    'makes no file for a database that nothing here can open',
    async () => {
      const args = ['collect', '--sqlite', 'record.db', '--keep', '9d'];
      const { exitCode, stderr } = await cli.runProgram(args, { env: WITHOUT_SQLITE });
      expect(exitCode).toBe(2);
      expect(stderr).toContain(
        '--sqlite record.db cannot be used (Before Node.js 22.13, SQLite needs the package "better-sqlite3"',
      );
      expect(await readdir(cli.project)).toEqual([]);
    },
  );
});

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
