import { mkdir, mkdtemp, realpath, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { isInside } from '../../util/paths.js';

/** Keeps relative paths of a hook out of the project; files of it that `command` names are linked. */
export async function inScratchProject<T>(
  project: string,
  command: string,
  work: (scratch: string) => Promise<T>,
): Promise<T> {
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'hookstack-')));
  try {
    for (const word of command.match(/[^\s'"`;&|()<>$={}]+/gu) ?? []) {
      await linkFile(word, project, scratch);
    }
    return await work(scratch);
  } finally {
    // A process that is about to end may still write into it.
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function linkFile(word: string, project: string, scratch: string): Promise<void> {
  const file = join(project, word);
  if (isAbsolute(word) || file === project || !isInside(file, project)) return;
  const stats = await stat(file).catch(() => undefined);
  if (!stats?.isFile()) return;
  const link = join(scratch, relative(project, file));
  await mkdir(dirname(link), { recursive: true });
  await symlink(file, link).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
