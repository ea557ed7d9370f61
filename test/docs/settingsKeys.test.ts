import path from 'node:path';
import { expect, it } from 'vitest';
import { readDocument, ROOT } from './markdown.js';
import { keysOf, withSettingsKeys } from './settingsKeys.js';

const PAGE = 'docs/configuration.md';
const page = await readDocument(PAGE);

it('docs/configuration.md has the keys of the schema; `vitest run test/docs/settingsKeys -u` writes them', async () => {
  await expect(withSettingsKeys(page)).toMatchFileSnapshot(path.join(ROOT, PAGE));
});

it.each(['settings', 'group', 'hook'])('docs/configuration.md has the keys of %s', (name) => {
  expect(page).toContain(`<!-- keys of ${name} -->`);
});

it('the words of a key say what is within it', () => {
  const keys = ['settings', 'group', 'hook'].flatMap(keysOf).filter(({ name }) => name !== 'hooks');
  const unsaid = keys.flatMap(({ name, words, within }) =>
    within.filter((key) => !words.includes(`"${key}"`)).map((key) => `${name}.${key}`),
  );
  expect(unsaid).toEqual([]);
});
