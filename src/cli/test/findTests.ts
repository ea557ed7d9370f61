import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { walkFiles } from '../../agent/tools/findFiles.js';
import { HOOK_TEST_SUFFIX } from '../shared/hookTestFile.js';
import { orUsageError, UsageError } from '../shared/usageError.js';

/** Absolute paths. Throws UsageError where there is none, or a path cannot be read. */
export async function findTests(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(findTestsAt));
  const files = [...new Set(found.flat())].toSorted();
  if (files.length > 0) return files;
  throw new UsageError(
    `There is no *${HOOK_TEST_SUFFIX} in ${paths.join(', ')}; record one with hookstack fire … --record FILE`,
  );
}

async function findTestsAt(path: string): Promise<string[]> {
  const stats = await orUsageError(stat(path), (detail) => `${path} cannot be read (${detail})`);
  if (!stats.isDirectory()) return [resolve(path)];
  const tests: string[] = [];
  for await (const files of walkFiles(path)) {
    for (const file of files) {
      if (file.endsWith(HOOK_TEST_SUFFIX)) tests.push(resolve(join(path, file)));
    }
  }
  return tests;
}
