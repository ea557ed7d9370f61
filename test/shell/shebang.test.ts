import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readShebang } from '../../src/shell/shebang.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

it.each<[string, string, readonly string[] | undefined]>([
  ['no such line', 'echo a', undefined],
  ['an interpreter', '#!/bin/sh\necho a', ['/bin/sh']],
  ['all that follows as one word', '#! /bin/sh -e -u \n', ['/bin/sh', '-e -u']],
  ['words that env splits', '#!/usr/bin/env -S node --test\n', ['/usr/bin/env', 'node', '--test']],
  ['a path in any letters', '#!/opt/ünï/int\n', ['/opt/ünï/int']],
  ['as much as the system reads', `#!/${'a'.repeat(252)}\n`, [`/${'a'.repeat(252)}`]],
  ['more than the system reads', `#!/${'a'.repeat(254)}\n`, []],
])('finds %s', async (_, text, words) => {
  const file = path.join(temp.path, 'script');
  await writeFile(file, text);
  expect(readShebang(file)).toEqual(words);
});
