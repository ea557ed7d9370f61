import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { allSchemas } from './build/index.js';

const SCHEMAS = path.resolve(import.meta.dirname, '../../schema');

it.each([...allSchemas()])(
  'schema/%s is what the checks say; `vitest run test/schema -u` writes it',
  async (name, schema) => {
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(path.join(SCHEMAS, name));
  },
);

it('there is no other schema', async () => {
  expect((await readdir(SCHEMAS)).toSorted()).toEqual([...allSchemas().keys()].toSorted());
});
