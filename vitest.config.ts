import path from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

/** Tests that hold limits of less than a second, or compare what two things take: nothing runs beside them. */
const ALONE = [
  'test/faults/{concurrency,guardAnswers,persistentProcess,process,processIo,searches}.test.ts',
  'test/middleware/planner.test.ts',
  'test/process/{ending,host,runCommand}.test.ts',
];

/** Beside the sources there is none; tests start the built one. */
const SPAWNER_PROGRAM = {
  find: /^\.\/spawnerProgram\.js$/,
  replacement: path.resolve(import.meta.dirname, 'test/helpers/spawnerProgram.ts'),
};

export default defineConfig({
  resolve: { alias: [SPAWNER_PROGRAM] },
  test: {
    reporters: ['default', ['json', { outputFile: 'coverage/report.json' }]],
    setupFiles: ['test/helpers/waitingShells.ts'],
    // Modules of extensions, and the built program, are loaded by Node itself, as in a host.
    server: { deps: { external: [/\.llxprt\/extensions\//, /\/dist\/program\.js$/] } },
    // Style sheets are empty for tests otherwise, also those that are read as text.
    css: true,
    typecheck: {
      enabled: true,
      include: ['test/types/**/*.test-d.ts'],
      tsconfig: './test/tsconfig.json',
    },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: {
      provider: 'v8',
      include: ['src/**', 'middleware/**'],
      reporter: ['text-summary', 'json-summary'],
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'side by side',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/hosts/**', ...ALONE],
          // Not one less than there are cores: the main process has little to do.
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          typecheck: { enabled: false },
        },
      },
    ],
  },
});
