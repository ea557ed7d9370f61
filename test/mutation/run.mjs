// node test/mutation/run.mjs [NAME…]: changes middleware/NAME.ts, or src/run/dialect.ts (all files, unless some are named) in many small ways,
// one at a time, and runs the tests named below to see whether they notice. Needs minutes per file, and installs
// Stryker here at the first run. Prints what no test noticed, and the score; details are in coverage/mutation/.
// Exits with 1 when less than 96 % of all changes were noticed. What may stay unnoticed is explained in survivors.md.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
const REPORTS = 'coverage/mutation';
const WANTED_PERCENT = 96;

/** The test files that notice what changes in each file, without those that run long and notice nothing more. */
const TESTS = {
  translator: ['middleware/translator'],
  planner: [
    'middleware/enablementGate',
    'middleware/planner',
    'middleware/matching',
    'peers/planner',
    'dialects/moments',
  ],
  callerEffects: [
    'middleware/callerEffects',
    'middleware/toolEffects',
    'middleware/modelEffects',
    'core/seenAgain',
    'core/doors',
    'approvals/approvals',
    'approvals/moments',
  ],
  modelResults: ['requirements/modelTriggers', 'middleware/modelEffects', 'core/geminiChat'],
  dialect: ['run/dialect', 'middleware/runs'],
  aggregator: [
    'middleware/aggregator',
    'middleware/scopes',
    'middleware/resolveResult',
    'peers/aggregator',
    'peers/outputs',
    'protocol/hookOutput',
  ],
  scopes: ['middleware/scopes', 'middleware/aggregator', 'peers/aggregator'],
  runner: [
    'middleware/runs',
    'middleware/runner',
    'middleware/askAgain',
    'hooks/hookRunner',
    'run/chaining',
  ],
  askAgain: ['middleware/askAgain'],
  runHook: ['middleware/runs', 'middleware/runner', 'hooks/hookRunner'],
  readRun: ['middleware/runs', 'hooks/hookRunner', 'peers/runner'],
};

/** Where a file is that is no stage. */
const FOLDERS = { dialect: 'src/run' };

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(TESTS, name));
if (unknown.length > 0) {
  console.error(
    `No such file: ${unknown.join(', ')}. Name some of ${Object.keys(TESTS).join(', ')}`,
  );
  process.exit(2);
}

if (!existsSync(path.join(import.meta.dirname, 'node_modules'))) {
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 2, 2],
  });
}
process.chdir(ROOT);
const { Stryker } = await import('@stryker-mutator/core');

const total = { noticed: 0, of: 0 };
for (const name of names.length > 0 ? names : Object.keys(TESTS)) {
  const startedAt = performance.now();
  const results = await new Stryker(optionsFor(name)).runMutationTest();
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const count = (...kinds) => results.filter(({ status }) => kinds.includes(status)).length;
  const noticed = count('Killed', 'Timeout');
  const of = noticed + count('Survived', 'NoCoverage');
  total.noticed += noticed;
  total.of += of;
  console.log(`${name}: ${describe({ noticed, of })}, ${seconds} s\n`);
}
console.log(`all: ${describe(total)}`);
process.exitCode = percentOf(total) < WANTED_PERCENT ? 1 : 0;

function optionsFor(name) {
  return {
    mutate: [`${FOLDERS[name] ?? 'middleware'}/${name}.ts`],
    testFiles: TESTS[name].map((file) => `test/${file}.test.ts`),
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.mjs' },
    plugins: ['@stryker-mutator/vitest-runner'],
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    concurrency: 2,
    // Tests wait for processes, and the machine may be busy.
    timeoutMS: 20_000,
    timeoutFactor: 3,
    // It would be read with an API that TypeScript 7 does not have, and is not needed.
    tsconfigFile: 'none',
    ignorePatterns: ['coverage', 'test/bench/subjects'],
    tempDirName: `${REPORTS}/sandbox`,
    reporters: ['clear-text', 'progress-append-only', 'json'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    jsonReporter: { fileName: `${REPORTS}/${name}.json` },
  };
}

function describe({ noticed, of }) {
  return `${noticed} of ${of} noticed, ${percentOf({ noticed, of }).toFixed(1)} %`;
}

function percentOf({ noticed, of }) {
  return of === 0 ? 100 : (100 * noticed) / of;
}
