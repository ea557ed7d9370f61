// node test/withoutWarmShells.mjs [ARGUMENT…]: runs once more, with HOOKSTACK_WARM_SHELLS=0 and HOOKSTACK_SPAWNER=0, the
// tests of what happens from the start of a hook's command to its end. Of these, it takes the files that start hooks in the
// process of the test, or in a host with its environment, as noted in the report of the last run of all tests by
// test/helpers/waitingShells.ts: a file there that starts to run hooks is part of the second run from then on.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const REPORT = path.join(ROOT, 'coverage/report.json');

/**
 * Where it can matter who starts a command, and when. All else begins with what a hook has answered, or ends before it is
 * started. Faults of a process that run in each of the ways to start one by themselves are missing here.
 */
const COMMANDS = [
  'test/hooks/',
  'test/run/',
  'test/middleware/run',
  'test/core/coreTool',
  'test/core/geminiChat.test.ts',
  'test/peers/',
  'test/requirements/failOpen.test.ts',
  'test/requirements/modelTriggers.test.ts',
  'test/agent/agent.test.ts',
  // Scripts as people write them, in all the languages.
  'test/dialects/realHooks.test.ts',
  'test/dialects/endings.test.ts',
  'test/properties/fidelity.test.ts',
  ...['concurrency', 'guards', 'isolation', 'lostStarts', 'processHost', 'security', 'values'].map(
    (name) => `test/faults/${name}.test.ts`,
  ),
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

const files = noted.filter((file) => COMMANDS.some((begin) => file.startsWith(begin))).toSorted();
console.log(`${files.length} of ${testResults.length} files`);
const { status } = spawnSync('npx', ['vitest', 'run', ...process.argv.slice(2), ...files], {
  cwd: ROOT,
  env: { ...process.env, HOOKSTACK_WARM_SHELLS: '0', HOOKSTACK_SPAWNER: '0' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
