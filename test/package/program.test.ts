import { stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';

it('is executable after a build, so that what npm link made leads to a program', async () => {
  const { mode } = await stat(path.resolve(import.meta.dirname, '../../dist/cli.cjs'));
  expect(mode & 0o777).toBe(0o755);
});
