// node test/withoutWarmShells.mjs [ARGUMENT…]: runs once more, with HOOKSTACK_WARM_SHELLS=0 and HOOKSTACK_SPAWNER=0, the
// test files for which these can make a difference, as noted in the report of the last run of all tests by
// test/helpers/waitingShells.ts.
// There is no list to keep up to date: a file that starts to run hooks is part of the second run from then on.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const REPORT = path.join(ROOT, 'coverage/report.json');

/** Files that are noted although the variable changes nothing of what they test. */
const LEFT_OUT = [
  // Hold commands by themselves: the variable is read by what calls them.
  'test/process/',
  // Measures the way of a call with the process that starts hooks.
  'test/architecture/',
  // Start programs of Node that run no hook.
  'test/package/',
  'test/requirements/check.test.ts',
  // Compare what is printed, or said to a model, which is the same. Commands as these run hooks in the tests of faults.
  'test/docs/',
  'test/cli/newcomer.test.ts',
  'test/examples/',
  'test/faults/shown.test.ts',
  // What consent covers is decided before there is a process. Their commands run in no other way than all others.
  'test/faults/budgets.test.ts',
  'test/faults/consentForms.test.ts',
  'test/faults/clonedRepository.test.ts',
  // Run every fault in each of the ways to start a hook themselves, or only with a spawner.
  ...['escapees', 'guardAnswers', 'process', 'processIo'].map(
    (name) => `test/faults/${name}.test.ts`,
  ),
  'test/faults/spawner.test.ts',
  'test/faults/brokenSpawner.test.ts',
  // Ask servers: how these start their hooks is of no importance to who asks.
  'test/fleet/',
  'test/cli/serve/',
  'test/faults/fleet',
  // Ask processes that stay, which are started by the host in any case.
  'test/properties/hostile',
  'test/faults/persistent',
  'test/properties/persistent.test.ts',
  'test/dialects/persistentAsk.test.ts',
  'test/cli/doctorPersistent.test.ts',
  'test/cli/persistentInit.test.ts',
  'test/author/',
];

const { testResults } = JSON.parse(readFileSync(REPORT, 'utf8'));
const noted = testResults
  .filter(({ assertionResults }) => assertionResults.some(({ meta }) => meta?.keepsShells))
  .map(({ name }) => path.relative(ROOT, name));
// If what starts hooks ahead were no longer recognized, or the run was not of all tests, too few would be run again.
for (const known of ['test/process/spawner.test.ts', 'test/examples/examples.test.ts']) {
  if (noted.includes(known)) continue;
  console.error(`${REPORT} does not say that ${known} starts hooks ahead: run all tests first`);
  process.exit(1);
}

const files = noted.filter((file) => !LEFT_OUT.some((left) => file.startsWith(left))).toSorted();
console.log(`${files.length} of ${testResults.length} files`);
const { status } = spawnSync('npx', ['vitest', 'run', ...process.argv.slice(2), ...files], {
  cwd: ROOT,
  env: { ...process.env, HOOKSTACK_WARM_SHELLS: '0', HOOKSTACK_SPAWNER: '0' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
