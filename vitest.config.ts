import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    typecheck: {
      enabled: true,
      include: ['test/types/**/*.test-d.ts'],
      tsconfig: './test/tsconfig.json',
    },
    reporters: ['default', ['json', { outputFile: 'coverage/report.json' }]],
    // Modules of extensions are loaded by Node itself, as in a host.
    server: { deps: { external: [/\.llxprt\/extensions\//] } },
    // Style sheets are empty for tests otherwise, also those that are read as text.
    css: true,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: {
      provider: 'v8',
      include: ['src/**', 'middleware/**'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
