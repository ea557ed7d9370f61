import { availableParallelism } from 'node:os';
import path from 'node:path';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import LongestFirst from './test/helpers/longestFirst.js';

/** Tests that hold limits of less than a second, or compare what two things take: no heavy work runs beside them. */
const ALONE = ['test/middleware/planner.test.ts', 'test/process/{ending,host,runCommand}.test.ts'];
const LONG_ALONE = [
  'test/faults/{concurrency,guardAnswers,persistentProcess,process,processIo,searches}.test.ts',
];

/**
 * Tests that take long, and mostly repeat for a whole program, or for many inputs, what a quick test proves for one: the
 * faults, the pages and examples, browsers, the benchmark, texts of megabytes, random projects, and processes that hang or
 * stay.
 */
const LONG = [
  'test/faults/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/docs/snippets.test.ts',
  'test/bench/**/*.test.ts',
  'test/fleet/{approvalsPage,recordFaults}.test.ts',
  'test/trace/{longPage,page}.test.ts',
  'test/properties/{length,linear,hostile*,shellRules}.test.ts',
  'test/cli/{doctorPersistent,hookWatchdog,mcpWatchdog,oddFiles,resident}.test.ts',
];

/**
 * Quick tests that leave the process as it was. Files of them run one after the other in the same process, and so load the
 * sources once, which would take as long as the tests.
 */
const TOGETHER = [
  'test/{config,confirmation-bus,core,dialects,middleware,protocol,rules,schema,shell,trust,util,validate}/**/*.test.ts',
  'test/cli/*.test.ts',
];

const TYPES = {
  enabled: true,
  include: ['test/types/**/*.test-d.ts'],
  tsconfig: './test/tsconfig.json',
};

const everyTest = 'test/**/*.test.ts';
const elsewhere = [...configDefaults.exclude, 'test/hosts/**', ...ALONE, ...LONG_ALONE];

// Two more than there are cores: many tests wait for a process, and the main process has little to do.
const MANY = { maxWorkers: availableParallelism() + 2, sequence: { groupOrder: 0 } };
// They wait more than they work; with two of them, no core of two is idle.
const FEW = { maxWorkers: 2, sequence: { groupOrder: 1 } };

/** Beside the sources there is none; tests start the built one. */
const SPAWNER_PROGRAM = {
  find: /^\.\/spawnerProgram\.js$/,
  replacement: path.resolve(import.meta.dirname, 'test/helpers/spawnerProgram.ts'),
};

export default defineConfig({
  resolve: { alias: [SPAWNER_PROGRAM] },
  test: {
    reporters: ['default', ['json', { outputFile: 'coverage/report.json' }]],
    setupFiles: ['test/helpers/waitingShells.ts', 'test/helpers/patience.ts'],
    // A condition is waited for as long as a busy machine takes.
    expect: { poll: { timeout: 15_000 } },
    // Modules of extensions, and the built program, are loaded by Node itself, as in a host.
    server: { deps: { external: [/\.llxprt\/extensions\//, /\/dist\/program\.js$/] } },
    // Style sheets are empty for tests otherwise, also those that are read as text.
    css: true,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: {
      provider: 'v8',
      include: ['src/**', 'middleware/**'],
      reporter: ['text-summary', 'json-summary'],
    },
    // `npm test` runs the first three, `npm run test:long` the others.
    projects: [
      project('side by side', {
        include: [everyTest],
        exclude: [...elsewhere, ...LONG, ...TOGETHER],
        ...MANY,
        typecheck: TYPES,
      }),
      // Its name has it run at the end of its group, where quick files leave no core idle.
      project('together', {
        include: TOGETHER,
        exclude: [...elsewhere, ...LONG],
        isolate: false,
        ...MANY,
      }),
      project('alone', { include: ALONE, ...FEW }),
      project('long', { include: LONG, exclude: elsewhere, ...MANY }),
      project('long, alone', { include: LONG_ALONE, ...FEW }),
    ],
  },
});

function project(name: string, test: TestProjectInlineConfiguration['test']) {
  return { extends: true as const, test: { ...test, name } };
}
