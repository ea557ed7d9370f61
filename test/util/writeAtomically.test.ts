import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeAtomically } from '../../src/util/writeAtomically.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

describe('a file that is written atomically', () => {
  it('replaces a link and does not follow it', async () => {
    const [target, link] = ['target', 'link'].map((name) => path.join(temp.path, name));
    await writeFile(target!, 'old');
    await symlink(target!, link!);
    await writeAtomically(link!, 'new');
    expect(await readFile(target!, 'utf8')).toBe('old');
    expect(await readFile(link!, 'utf8')).toBe('new');
    expect((await lstat(link!)).isSymbolicLink()).toBe(false);
  });

  it.skipIf(process.platform === 'win32')(
    'has the permissions that were asked for, whatever the mask says',
    async () => {
      const file = path.join(temp.path, 'file');
      await writeAtomically(file, 'text', 0o666);
      expect((await stat(file)).mode & 0o777).toBe(0o666);
    },
  );

  it('leaves nothing behind when it cannot be put in its place', async () => {
    const folder = path.join(temp.path, 'folder');
    await mkdir(path.join(folder, 'inner'), { recursive: true });
    await expect(writeAtomically(folder, 'text')).rejects.toThrow(/EISDIR|ENOTEMPTY|EPERM/u);
    expect(await readdir(temp.path)).toEqual(['folder']);
  });
});
