import path from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const SRC = path.resolve(import.meta.dirname, '../../src');

/** Adapters that import their hosts are not beside them here, as they are where the package is installed. */
const hosts: Plugin = {
  name: 'hosts',
  enforce: 'pre',
  resolveId(source, importer) {
    if (
      !/^(?:langchain|@google\/adk|@modelcontextprotocol\/sdk\/.+)$/u.test(source) ||
      !importer?.startsWith(SRC)
    )
      return null;
    return this.resolve(source, import.meta.filename, { skipSelf: true });
  },
};

/** Tests against the real packages of hosts, by `npm run test:hosts`. They import this package by its published names. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [hosts],
  resolve: {
    alias: [
      { find: /^hookstack$/u, replacement: path.join(SRC, 'index.ts') },
      { find: /^hookstack\/([\w-]+)$/u, replacement: path.join(SRC, 'hosts/$1.ts') },
    ],
  },
  test: {
    include: ['*.test.ts'],
    css: true,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Not one less than there are cores, as in the configuration of all other tests.
    maxWorkers: '100%',
  },
});
