import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Where files are opened and read. All others ask it, with {@link MAY_OPEN} as the exceptions. */
const DOOR = 'src/util/guardedRead.ts';

/** Files that open or read something without the door, what they use for it, and why. */
const MAY_OPEN: Readonly<Record<string, { readonly uses: string; readonly why: string }>> = {
  'src/util/stopwatch.ts': { uses: 'readFileSync', why: 'reads /proc, of its own thread' },
  'src/cli/doctor/live/guard.ts': {
    uses: 'readFileSync',
    why: 'holds the text of a hook, which is a program of its own',
  },
  'src/cli/resident/client.ts': { uses: 'readFileSync', why: 'reads /proc' },
  'src/process/command/processTable.ts': { uses: 'readFileSync', why: 'reads /proc' },

  'src/util/descriptors.ts': {
    uses: 'openSync',
    why: 'counts descriptors with /dev/null, and reads none',
  },
  'src/cli/hook/event.ts': { uses: 'readSync', why: 'reads stdin' },
  'src/util/writeAtomically.ts': { uses: 'open', why: 'makes a new file, and reads none' },
  'src/util/fileLock.ts': { uses: 'open', why: 'makes a new file, and reads none' },
  'src/cli/record/days.ts': { uses: 'open', why: 'makes a new file, and reads none' },
  'src/cli/hook/tellPerson.ts': { uses: 'openSync', why: 'makes an empty file, and reads none' },
  'src/process/command/gate.ts': { uses: 'openSync', why: 'makes a new file, and reads none' },
  'src/trace/privateFile.ts': { uses: 'openSync', why: 'opens to write, and follows no link' },
};

const READS =
  /^(?:open|openSync|openAsBlob|read\w*|createReadStream|promises|ReadStream|FileReadStream)$/u;
/** They list a folder, or say where a link leads. */
const HARMLESS = /^read(?:dir|link)(?:Sync)?$/u;

const MODULE = /(?:node:)?fs(?:\/promises)?/u.source;
const IMPORT = new RegExp(`(?:import|export)\\s+([^;'"\`]*?)\\s*from\\s*['"]${MODULE}['"]`, 'gu');
/** What would hide a name: to load the module in another way. */
const HIDDEN = new RegExp(
  `(?:import|require|getBuiltinModule)\\s*\\(\\s*['"\`]${MODULE}['"\`]|process\\.binding|import\\s*['"]${MODULE}['"]`,
  'u',
);

/** The names by which a file opens or reads files. */
function readsOf(source: string): string[] {
  const code = source.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
  const found = HIDDEN.test(code) ? ['the module, loaded by a call'] : [];
  for (const [, clause = ''] of code.matchAll(IMPORT)) {
    if (/^type\s/u.test(clause)) continue;
    const [whole = '', list = ''] = clause.split('{');
    for (const each of list.replace('}', '').split(',')) {
      const name = each.trim().split(/\s+as\s+/u)[0] ?? '';
      if (READS.test(name) && !HARMLESS.test(name)) found.push(name);
    }
    const all = /(?:\*\s*as\s+)?(\w+)/u.exec(whole)?.[1];
    if (whole.trim() === '*') found.push('*');
    else if (all !== undefined) found.push(...membersOf(code, all));
  }
  return [...new Set(found)].toSorted();
}

/** Of a module that is imported as a whole. Only its members may be named, as else nobody sees which. */
function membersOf(code: string, all: string): string[] {
  const body = code.replaceAll(IMPORT, '');
  const uses = Array.from(body.matchAll(new RegExp(`\\b${all}\\b(?:\\.(\\w+))?`, 'gu')));
  return uses.flatMap(([, member]) => {
    if (member === undefined) return ['the module as a whole'];
    return READS.test(member) && !HARMLESS.test(member) ? [member] : [];
  });
}

describe('the door of reading', () => {
  const files = globSync(['src/**/*.ts', 'middleware/*.ts'], { cwd: ROOT });

  it('is the only place that opens and reads files, with few exceptions', () => {
    const found: Record<string, string> = {};
    for (const file of files) {
      const reads = readsOf(readFileSync(path.join(ROOT, file), 'utf8'));
      if (file !== DOOR && reads.length > 0) found[file] = reads.join(' ');
    }
    const allowed = Object.entries(MAY_OPEN).map(([file, { uses }]) => [file, uses]);
    expect(found).toEqual(Object.fromEntries(allowed));
    expect(files).toContain(DOOR);
  });

  it.each([
    [`import { readFileSync } from 'node:fs';`, ['readFileSync']],
    [`import { stat, readFile as look } from "fs/promises";`, ['readFile']],
    [`import {\n  mkdir,\n  open,\n} from 'node:fs/promises';`, ['open']],
    [
      `import { createReadStream, readvSync, type Stats } from 'fs';`,
      ['createReadStream', 'readvSync'],
    ],
    [`import fs from 'node:fs/promises'; await fs.readFile(x);`, ['readFile']],
    [`import * as fs from 'node:fs'; fs.promises.stat(x);`, ['promises']],
    [`import fs from 'node:fs'; const { readFile } = fs;`, ['the module as a whole']],
    [`import fs, { open } from 'node:fs';`, ['open']],
    [`export { readFile } from 'node:fs/promises';`, ['readFile']],
    [`export * from 'node:fs';`, ['*']],
    [`const fs = await import('node:fs');`, ['the module, loaded by a call']],
    [`const fs = require("fs");`, ['the module, loaded by a call']],
    [`process.getBuiltinModule('node:fs').readFileSync(x)`, ['the module, loaded by a call']],
  ])('would not let by: %s', (code, reads) => {
    expect(readsOf(code)).toEqual(reads);
  });

  it.each([
    `import type { FileHandle } from 'node:fs/promises';`,
    `import { readdir, readlinkSync, stat, constants } from 'node:fs/promises';`,
    `import fs from 'node:fs/promises'; await fs.stat(x); await fs.readdir(x);`,
    `// import { readFile } from 'node:fs';`,
    `import { readFile } from './readFile.js'; // a tool`,
  ])('has nothing against: %s', (code) => {
    expect(readsOf(code)).toEqual([]);
  });
});
