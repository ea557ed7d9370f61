import path from 'node:path';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { withCommandHelp } from './commandHelp.js';
import { readDocument, ROOT } from './markdown.js';

const PAGE = 'docs/cli.md';
const page = await readDocument(PAGE);

it('docs/cli.md is what the help of the commands says; `vitest run test/docs/commandHelp -u` writes it', async () => {
  await expect(withCommandHelp(page)).toMatchFileSnapshot(path.join(ROOT, PAGE));
});

it.each(COMMANDS)('docs/cli.md has the help of $name', ({ name }) => {
  expect(page).toMatch(new RegExp(`^<!-- help of ${name}\\b`, 'm'));
});
