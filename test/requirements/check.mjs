// node test/requirements/check.mjs [report.json [requirements.md [rulings.md [breaks.mjs]]]]: whether each requirement
// has a row in docs/requirements.md, and each row tests that passed in the last run, of which vitest wrote the report;
// whether each ruling is named in the rows that it decides; and whether each requirement has a break.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { findFaultsOfBreaks } from './checkBreaks.mjs';

/** The ids in use: numbers and ranges of numbers, with a letter where one number was split. */
const ACTIVE = {
  HOOK: '1-15 16a 16b 17-66 67a 67b 68-120 125 127-184 187-196 198-217',
  'DELTA-HSYS': '1-2',
  'DELTA-HEVT': '1-4',
  'DELTA-HRUN': '1-4',
  'DELTA-HPAY': '1-6',
  'DELTA-HBUS': '1-3',
  'DELTA-HTEL': '1-3',
  'DELTA-HAPP': '1-2',
  'DELTA-HFAIL': '1-5',
};

/** Rulings are numbered from 1 to this. */
const LAST_RULING = 66;

const ROOT = path.resolve(import.meta.dirname, '../..');
const SPECIFICATION = ['requirements.md', 'delta-requirements.md'].map((file) =>
  path.join(ROOT, '../shared/spec', file),
);
const TEST = /^`(.+?)` — "(.*)"$/;

const [
  reportFile = path.join(ROOT, 'coverage/report.json'),
  tableFile = path.join(ROOT, 'docs/requirements.md'),
  rulingsFile = path.join(ROOT, '../shared/spec/rulings.md'),
  breaksFile = path.join(import.meta.dirname, 'breaks.mjs'),
] = process.argv.slice(2);

const active = Object.entries(ACTIVE).flatMap(([prefix, ranges]) => listIds(prefix, ranges));
const rows = readRows(tableFile);
const statuses = readStatuses(reportFile);
const { BREAKS } = await import(pathToFileURL(breaksFile).href);
const problems = [
  ...compareWithSpecification(active),
  ...compareIds(active, rows),
  ...rows.flatMap((row) => findProblems(row, statuses)),
  ...rows.flatMap(checkRuled),
  ...compareWithRulings(rows),
  ...findFaultsOfBreaks(BREAKS, rows),
];
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`requirements: ${rows.length} of ${active.length} proved`);

function listIds(prefix, ranges) {
  return ranges.split(' ').flatMap((range) => {
    const [first, last] = range.split('-');
    if (last === undefined) return toId(prefix, first);
    const count = Number(last) - Number(first) + 1;
    return Array.from({ length: count }, (_, index) => toId(prefix, Number(first) + index));
  });
}

function toId(prefix, number) {
  const [, digits, letter] = /^(\d+)([a-z]?)$/.exec(number);
  return `${prefix}-${digits.padStart(3, '0')}${letter}`;
}

/** The rows of the page's tables whose first cell is an id. */
function readRows(file) {
  const name = path.relative(ROOT, file);
  return readFile(file, 'name the page with the requirements')
    .split('\n')
    .flatMap((line, index) => {
      const [, id, , tests, ruled = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      if (!/^[A-Z]+-.*\d/.test(id ?? '')) return [];
      const entries = (tests ?? '').split('<br>').filter((test) => test.trim() !== '');
      return { id, at: `${name}:${index + 1}: ${id}`, tests: entries.map(readTest), ruled };
    });
}

function readTest(text) {
  const [, file, title] = TEST.exec(text.trim().replaceAll(String.raw`\|`, '|')) ?? [];
  return { text, file, title };
}

/** What became of each test of a run, by file and title. Of several with one title, the worst. */
function readStatuses(file) {
  const report = JSON.parse(readFile(file, 'run `npx vitest run` first'));
  const found = new Map();
  for (const { name, assertionResults } of report.testResults) {
    const testFile = path.relative(ROOT, name);
    for (const { fullName, status } of assertionResults) {
      // Vitest puts the file before the title of a type test.
      const key = toKey(testFile, fullName.replace(`${testFile} `, ''));
      if (!found.has(key) || status !== 'passed') found.set(key, status);
    }
  }
  return found;
}

function toKey(file, title) {
  return `${file}\n${title}`;
}

function readFile(file, advice) {
  if (!existsSync(file)) {
    console.error(`${file} does not exist: ${advice}`);
    process.exit(1);
  }
  return readFileSync(file, 'utf8');
}

/** The specification is not part of the repository; where it is at hand, the list above must be its list. */
function compareWithSpecification(ids) {
  if (!SPECIFICATION.every((file) => existsSync(file))) return [];
  const headings = SPECIFICATION.flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(/^### ((?:HOOK|DELTA)-\S+)/gm), ([, id]) => id),
  );
  return [
    ...without(headings, ids).map((id) => `${id} is specified and not in ACTIVE: add it there`),
    ...without(ids, headings).map((id) => `${id} is in ACTIVE and not specified: remove it there`),
  ];
}

function compareIds(ids, present) {
  const named = present.map(({ id }) => id);
  return [
    ...without(ids, named).map((id) => `${id} has no row: add one to docs/requirements.md`),
    ...present
      .filter(({ id }) => !ids.includes(id))
      .map(({ at }) => `${at} is no requirement: remove the row`),
    ...present
      .filter(({ id }, index) => named.indexOf(id) !== index)
      .map(({ at }) => `${at} has a row already: remove one`),
  ];
}

function without(ids, others) {
  const excluded = new Set(others);
  return ids.filter((id) => !excluded.has(id));
}

function findProblems({ at, tests }, outcomes) {
  if (tests.length === 0) return [`${at} names no test: name one that proves it`];
  return tests.flatMap(({ text, file, title }) => {
    if (title === undefined) return `${at}: cannot read ${text}: write \`file\` — "title"`;
    const status = outcomes.get(toKey(file, title));
    if (status === 'passed') return [];
    const what = `${at}: ${file} "${title}"`;
    return status === undefined
      ? `${what} is not in the report: run all tests, or name one of them by its full title`
      : `${what} is ${status}: make it pass`;
  });
}

/** The numbers of the rulings that a row names, as written. */
function rulingsOf({ ruled }) {
  return /^as ruled \((\d+(?:, \d+)*)\)$/.exec(ruled)?.[1].split(', ').map(Number);
}

function checkRuled(row) {
  if (row.ruled === '') return [];
  const numbers = rulingsOf(row);
  if (!numbers) return [`${row.at}: cannot read ${row.ruled}: write "as ruled (1, 2)", or nothing`];
  return [
    ...numbers
      .filter((number) => number < 1 || number > LAST_RULING)
      .map((number) => `${row.at}: there is no ruling ${number}: they are 1 to ${LAST_RULING}`),
    ...(numbers.every((number, index) => index === 0 || number > numbers[index - 1])
      ? []
      : [`${row.at}: ${row.ruled} is not in order: name each ruling once, the lowest first`]),
  ];
}

/** The rulings are no more part of the repository; where they are at hand, each must be named where it says so. */
function compareWithRulings(present) {
  if (!existsSync(rulingsFile)) return [];
  const rulings = Array.from(
    readFileSync(rulingsFile, 'utf8').matchAll(/^\| (\d+) \|(.*?)(?<!\\)\|/gm),
    ([, number, question]) => ({ number: Number(number), isDecided: decides(question) }),
  );
  return [
    ...rulings
      .filter(({ number }) => number > LAST_RULING)
      .map(({ number }) => `There is a ruling ${number}: set LAST_RULING in check.mjs`),
    ...present.flatMap((row) =>
      rulings
        .filter(({ number, isDecided }) => isDecided(row.id) && !rulingsOf(row)?.includes(number))
        .map(
          ({ number }) => `${row.at} is decided by ruling ${number}: write "as ruled (${number})"`,
        ),
    ),
  ];
}

/**
 * Whether a requirement is one of those that a question names: by its id, `HFAIL-001` for `DELTA-HFAIL-001`, as one of
 * several (`HOOK-003/004`, `HOOK-093, 167`), within a range (`HOOK-110…116`, `HOOK-110 to 116`), or by the name of its group (`DELTA-HTEL`).
 */
function decides(question) {
  const groups = Array.from(question.matchAll(/DELTA-H[A-Z]+(?![A-Z]*-\d)/g), ([group]) => group);
  const ids = Array.from(
    question.matchAll(/(?:DELTA-)?(H[A-Z]+)-(\d{3}[a-z]?(?:(?:[/…]|, | to )\d{3}[a-z]?)*)/g),
    ([, letters, numbers]) => {
      const prefix = letters === 'HOOK' ? letters : `DELTA-${letters}`;
      return listIds(prefix, numbers.replaceAll(/\/|, /g, ' ').replaceAll(/…| to /g, '-'));
    },
  );
  const named = new Set(ids.flat());
  return (id) => named.has(id) || groups.some((group) => id.startsWith(`${group}-`));
}
