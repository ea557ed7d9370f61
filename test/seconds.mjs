// node test/seconds.mjs: holds what the slowest twenty test files take, in the report of the last run of all tests. The
// seconds of its table are those of an idle machine with two cores. Another machine, or a busy one, takes longer for all of
// them; so each file is compared with what the others took in the same run.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SECONDS, TABLE } from './slowest.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const REPORT = path.join(ROOT, 'coverage/report.json');

/** What a file may take of its seconds, by how much slower this run was than the one of the table. */
const MOST = 2;
/** A file that has become this quick gives its place to another one. */
const LEAST = 1 / 3;

const { testResults } = JSON.parse(readFileSync(REPORT, 'utf8'));
const taken = new Map(
  testResults.map(({ name, startTime, endTime }) => [
    path.relative(path.join(ROOT, 'test'), name),
    (endTime - startTime) / 1000,
  ]),
);

const missing = Object.keys(SECONDS).filter((file) => !taken.has(file));
if (missing.length > 0) {
  console.error(`${REPORT} has no ${missing.join(', ')}: run all tests first, or mend ${TABLE}`);
  process.exit(1);
}

const factors = Object.entries(SECONDS).map(([file, seconds]) => taken.get(file) / seconds);
const slowness = factors.toSorted((a, b) => a - b)[Math.floor(factors.length / 2)];
const least = Math.min(...Object.values(SECONDS));

const wrong = [...taken].flatMap(([file, seconds]) => {
  const asListed = seconds / slowness;
  const listed = SECONDS[file];
  if (asListed > MOST * (listed ?? least)) {
    const known = listed === undefined ? 'is not in the table of the slowest' : `had ${listed}`;
    return [`${file} takes ${asListed.toFixed(0)} s, and ${known}: make it quicker, or say why`];
  }
  return listed !== undefined && asListed < LEAST * listed
    ? [`${file} takes ${asListed.toFixed(0)} s, and had ${listed}: write the new figure`]
    : [];
});

console.log(
  `${taken.size} files; this run takes ${slowness.toFixed(2)} times the seconds of the table`,
);
if (wrong.length > 0) {
  console.error(`${wrong.join('\n')}\nThe table is in ${TABLE}`);
  process.exit(1);
}
