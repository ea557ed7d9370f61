import path from 'node:path';
import { expect, it } from 'vitest';
import { HookEventName } from '../../src/protocol/types.js';
import { withEventTables } from './eventTables.js';
import { readDocument, ROOT } from './markdown.js';

const PAGE = 'docs/events.md';
const page = await readDocument(PAGE);

it('docs/events.md has the fields of the table of events; `vitest run test/docs/eventTables -u` writes it', async () => {
  await expect(withEventTables(page)).toMatchFileSnapshot(path.join(ROOT, PAGE));
});

it.each([...Object.values(HookEventName), 'every event', 'every answer'])(
  'docs/events.md has the fields of %s',
  (name) => {
    expect(page).toContain(`<!-- fields of ${name} -->`);
  },
);
