// node test/seconds.mjs: holds what the slowest twenty test files take, in the report of the last run of all tests. The
// seconds below are those of an idle machine with two cores. Another machine, or a busy one, takes longer for all of
// them; so each file is compared with what the others took in the same run.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const REPORT = path.join(ROOT, 'coverage/report.json');

const SECONDS = {
  'cli/resident.test.ts': 74,
  'properties/hostileScopes.test.ts': 51,
  'cli/mcp.test.ts': 50,
  'properties/hostileAnswers.test.ts': 49,
  'cli/hookWatchdog.test.ts': 47,
  'properties/length.test.ts': 46,
  'examples/examples.test.ts': 34,
  'faults/spawner.test.ts': 31,
  'process/persistent.test.ts': 28,
  'faults/consentForms.test.ts': 27,
  'faults/process.test.ts': 27,
  'cli/oddFiles.test.ts': 26,
  'faults/fleetServers.test.ts': 25,
  'docs/snippets.test.ts': 24,
  'faults/fleetRecord.test.ts': 21,
  'faults/persistentProcess.test.ts': 21,
  'cli/approvals.test.ts': 19,
  'author/answerEvents.test.ts': 18,
  'faults/budgets.test.ts': 16,
  'examples/demo.test.ts': 16,
};

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
  console.error(
    `${REPORT} has no ${missing.join(', ')}: run all tests first, or mend ${import.meta.filename}`,
  );
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
  console.error(`${wrong.join('\n')}\nThe table is in ${import.meta.filename}`);
  process.exit(1);
}
