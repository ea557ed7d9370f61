import { expect, it } from 'vitest';
import { loadOptional } from '../../src/util/optionalPackage.js';

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
