import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { realpathOfNearestExisting } from '../../src/agent/tools/nearestExisting.js';

let directory: string;
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'hookstack-paths-')));
});
afterEach(() => rm(directory, { recursive: true }));

it('takes a file that is made meanwhile for what it is', async () => {
  for (let round = 0; round < 300; round++) {
    const file = join(directory, String(round));
    const [found] = await Promise.all([realpathOfNearestExisting(file), writeFile(file, '')]);
    expect(found).toBe(file);
  }
});

it('knows of no place behind a link that leads nowhere', async () => {
  await symlink(join(directory, 'gone'), join(directory, 'link'));
  expect(await realpathOfNearestExisting(join(directory, 'link'))).toBeUndefined();
  expect(await realpathOfNearestExisting(join(directory, 'link', 'a', 'b'))).toBeUndefined();
});
