import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';
import { loadOptional } from '../../src/util/optionalPackage.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

it('loads a package that is there', async () => {
  const { parse } = await loadOptional<{ parse: unknown }>('yaml', 'A test needs');
  expect(parse).toBeTypeOf('function');
});

it('says what to install where it is missing', async () => {
  await expect(
    loadOptional('hookstack-no-such', 'A test needs', 'hookstack-no-such@1'),
  ).rejects.toThrow(
    'A test needs the package "hookstack-no-such", which is not installed: npm install hookstack-no-such@1',
  );
});

it.each([
  ['lib/node_modules/hookstack/dist', 'npm install -g hookstack-no-such'],
  ['node_modules/hookstack/dist', 'npm install hookstack-no-such'],
])('says so for hookstack in %s', async (place, command) => {
  const file = path.join(temp.path, place, 'it.mjs');
  const source = path.resolve(import.meta.dirname, '../../src/util/optionalPackage.ts');
  const bundle = await rolldown({ input: source, platform: 'node' });
  await bundle.write({ file });
  const installed = (await import(pathToFileURL(file).href)) as {
    readonly loadOptional: typeof loadOptional;
  };
  await expect(installed.loadOptional('hookstack-no-such', 'A test needs')).rejects.toThrow(
    new RegExp(`${command}$`),
  );
});
