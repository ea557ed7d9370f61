import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const temp = useTempDir();
const page = readFileSync(path.join(ROOT, 'docs/requirements.md'), 'utf8');
const named = Array.from(
  page.matchAll(/`(test\/\S+)` — "(.*?)"(?=<br>| +\|)/g),
  ([, file, title]) => ({
    file: String(file),
    title: String(title).replaceAll(String.raw`\|`, '|'),
  }),
);
const [firstTest] = named;

interface Checked {
  status?: string;
  table?: string;
  /** The rulings, as rows of a table. */
  rulings?: string;
  /** The breaks, in place of those of this repository. */
  breaks?: readonly object[];
}

/** Checks a page against a report in which all tests that the page of this repository names have passed, but one. */
async function check({ status = 'passed', table = page, rulings = '', breaks }: Checked) {
  const report = path.join(temp.path, 'report.json');
  const requirements = path.join(temp.path, 'requirements.md');
  const testResults = named.map(({ file, title }) => ({
    name: path.join(ROOT, file),
    assertionResults: [
      {
        // As vitest reports type tests.
        fullName: file.endsWith('.test-d.ts') ? `${file} ${title}` : title,
        status: title === firstTest?.title ? status : 'passed',
      },
    ],
  }));
  await writeFile(report, JSON.stringify({ testResults }));
  await writeFile(requirements, table);
  const rulingsFile = path.join(temp.path, 'rulings.md');
  await writeFile(rulingsFile, rulings);
  const script = path.join(import.meta.dirname, 'check.mjs');
  const args = [script, report, requirements, rulingsFile];
  if (breaks) {
    args.push(path.join(temp.path, 'breaks.mjs'));
    await writeFile(String(args.at(-1)), `export const BREAKS = ${JSON.stringify(breaks)};`);
  }
  const { stdout, exitCode } = await execa(process.execPath, args, { reject: false });
  return { lines: stdout.split('\n'), exitCode };
}

describe('the check of the requirements', () => {
  it('is content when every requirement has a test that passed', async () => {
    expect(await check({})).toEqual({
      lines: [expect.stringMatching(/^requirements: (\d+) of \1 proved$/)],
      exitCode: 0,
    });
  });

  it.each(['failed', 'skipped', 'pending', 'todo'])(
    'tells of a test that is %s',
    async (status) => {
      const { lines, exitCode } = await check({ status });
      expect(exitCode).toBe(1);
      expect(lines[0]).toMatch(/HOOK-001: test\/\S+ ".+" is \w+: make it pass$/);
      expect(lines[0]).toContain(firstTest?.title);
    },
  );

  it.each<[string, (line: string) => string, RegExp]>([
    ['without a row', () => '', /^HOOK-002 has no row: add one/],
    [
      'with two rows',
      (line) => `${line}\n${line}`,
      /:\d+: HOOK-002 has a row already: remove one$/,
    ],
    [
      'that does not exist',
      (line) => `${line}\n| HOOK-999 | x | y | |`,
      /HOOK-999 is no requirement/,
    ],
    ['without a test', () => '| HOOK-002 | text | | |', /HOOK-002 names no test: name one/],
    [
      'with a test that cannot be read',
      () => '| HOOK-002 | text | x | |',
      /HOOK-002: cannot read x/,
    ],
    [
      'with a test that was not run',
      () => '| HOOK-002 | text | `test/a.test.ts` — "none" | |',
      /HOOK-002: test\/a\.test\.ts "none" is not in the report/,
    ],
  ])('tells of a requirement %s', async (_, change, problem) => {
    const table = page.replace(/^\| HOOK-002 .*$/m, change);
    const { lines, exitCode } = await check({ table });
    expect(exitCode).toBe(1);
    expect(lines[0]).toMatch(problem);
  });

  it.each([
    ['49', /HOOK-002: cannot read 49: write "as ruled \(1, 2\)", or nothing$/],
    ['as ruled', /HOOK-002: cannot read as ruled: write/],
    ['as ruled (0)', /HOOK-002: there is no ruling 0: they are 1 to \d+$/],
    ['as ruled (1, 99)', /HOOK-002: there is no ruling 99/],
    ['as ruled (3, 3)', /HOOK-002: as ruled \(3, 3\) is not in order/],
    ['as ruled (5, 3)', /HOOK-002: as ruled \(5, 3\) is not in order/],
  ])('tells of a ruling that is named as %s', async (ruled, problem) => {
    const table = page.replace(/^(\| HOOK-002 .*\|)[^|]*\|$/m, (_, cells) => `${cells} ${ruled} |`);
    const { lines, exitCode } = await check({ table });
    expect(exitCode).toBe(1);
    expect(lines[0]).toMatch(problem);
  });

  it.each([
    ['HOOK-002', ['HOOK-002']],
    ['Overview §3.2 against HOOK-002/005', ['HOOK-002', 'HOOK-005']],
    ['HFAIL-003', ['DELTA-HFAIL-003']],
    ['HOOK-185…187', ['HOOK-187']],
    ['HOOK-002 to 004, 009', ['HOOK-002', 'HOOK-003', 'HOOK-004', 'HOOK-009']],
    [
      'DELTA-HEVT: who answers',
      ['DELTA-HEVT-001', 'DELTA-HEVT-002', 'DELTA-HEVT-003', 'DELTA-HEVT-004'],
    ],
    ['nobody', []],
  ])('tells where a ruling on %s is not named', async (question, ids) => {
    const { lines, exitCode } = await check({
      rulings: `| 36 | ${question} | Yes, HOOK-010 too |`,
    });
    const told = lines.filter((line) => line.includes('is decided by ruling 36'));
    expect(told.map((line) => line.split(' ')[1])).toEqual(ids);
    expect(exitCode).toBe(ids.length === 0 ? 0 : 1);
  });

  it('tells of a ruling that it does not know', async () => {
    const { lines } = await check({ rulings: '| 67 | Anything new? | No |' });
    expect(lines).toEqual(['There is a ruling 67: set LAST_RULING in check.mjs']);
  });

  const whole = {
    id: 'HOOK-001',
    what: 'all is lost',
    edits: [['src/compose.ts', 'export type Next']],
    test: [firstTest?.file, firstTest?.title],
  };

  it.each<[string, object, string]>([
    [
      'without a break',
      { id: 'Scopes' },
      'HOOK-001 has no break: add one to test/requirements/breaks/',
    ],
    [
      'with a break that another test is to notice',
      { test: ['test/a.test.ts', 'none'] },
      'HOOK-001: test/a.test.ts "none" is to notice the break "all is lost": name it in the row',
    ],
    [
      'that does not exist, and has a break',
      { id: 'HOOK-001, HOOK-999' },
      'the break "all is lost" is of HOOK-999, which has no row: correct its id',
    ],
    [
      'with a break of a text that is gone',
      { edits: [['src/compose.ts', 'no such text']] },
      'HOOK-001: "no such text" stands 0 times in src/compose.ts and not once: write the break "all is lost" anew',
    ],
    [
      'with a break of a text that stands twice',
      { edits: [['src/compose.ts', 'export type ']] },
      'HOOK-001: "export type " stands 2 times in src/compose.ts and not once: write the break "all is lost" anew',
    ],
    [
      'with a break in a file that is gone',
      { edits: [['src/none.ts', 'import']] },
      'HOOK-001: "import" stands 0 times in src/none.ts and not once: write the break "all is lost" anew',
    ],
  ])('tells of a requirement %s', async (_, change, problem) => {
    const { lines, exitCode } = await check({ breaks: [{ ...whole, ...change }] });
    expect(lines).toContain(problem);
    expect(exitCode).toBe(1);
  });

  it('says what to do when there is no report', async () => {
    const script = path.join(import.meta.dirname, 'check.mjs');
    const args = [script, path.join(temp.path, 'none.json')];
    const { stderr, exitCode } = await execa(process.execPath, args, { reject: false });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/none\.json does not exist: run `npx vitest run` first$/);
  });
});
