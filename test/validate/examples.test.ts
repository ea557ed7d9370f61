import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';
import { formatProblem } from '../../src/util/fileProblem.js';
import { validateFiles } from '../../src/validate/validate.js';
import { useTempDir } from '../helpers/tempDir.js';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');
const scratch = useTempDir();

const examples = globSync('**/settings.json', { cwd: EXAMPLES, dot: true });

it('there are examples', () => expect(examples.length).toBeGreaterThan(15));

it.each(examples)('nothing is wrong in examples/%s', async (name) => {
  const source = path.join(EXAMPLES, path.dirname(name));
  const folder = path.join(scratch.path, '.llxprt');
  // An example's settings and hooks are copied into a project's folder.
  await cp(source, folder, { recursive: true });
  expect(await readdir(folder)).toContain('settings.json');
  const findings = await validateFiles(
    [{ scope: 'file', file: path.join(folder, 'settings.json') }],
    { workingDir: scratch.path, trustProject: true },
  );
  expect(
    findings.map((finding) => formatProblem({ scope: 'file', ...finding, kind: undefined })),
  ).toEqual([]);
});
