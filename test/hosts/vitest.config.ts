import path from 'node:path';
import { defineConfig } from 'vitest/config';

const SRC = path.resolve(import.meta.dirname, '../../src');

/** Tests against the real packages of hosts, by `npm run test:hosts`. They import this package by its published names. */
export default defineConfig({
  root: import.meta.dirname,
  resolve: {
    alias: [
      { find: /^hookstack$/u, replacement: path.join(SRC, 'index.ts') },
      { find: /^hookstack\/([\w-]+)$/u, replacement: path.join(SRC, 'hosts/$1.ts') },
    ],
  },
  test: { include: ['*.test.ts'], css: true, testTimeout: 30_000, hookTimeout: 30_000 },
});
