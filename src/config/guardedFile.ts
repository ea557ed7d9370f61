import type { Stats } from 'node:fs';
import { constants, open, type FileHandle } from 'node:fs/promises';
import { quoteWord } from '../process/quoteWord.js';

/** What became of reading a file. */
export type GuardedReading =
  | { readonly status: 'read'; readonly text: string }
  | { readonly status: 'missing' }
  | { readonly status: 'refused'; readonly reason: string };

/**
 * Reads a file that decides which commands run, unless somebody else could have written it.
 *
 * Refused are, on POSIX systems, a file that others may write and a file that belongs neither to the
 * current user nor to root; everywhere, what is no regular file and what cannot be read.
 *
 * @param file absolute path
 * @param options.groupMayWrite whether to accept a file that its group may write
 * @returns the text, decoded as UTF-8, without a byte order mark. Never rejects.
 */
export async function readGuardedFile(
  file: string,
  options: { readonly groupMayWrite: boolean },
): Promise<GuardedReading> {
  let handle: FileHandle | undefined;
  try {
    // Non-blocking, as opening a named pipe would otherwise wait for its writer.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const reason = findObjection(file, await handle.stat(), options.groupMayWrite);
    if (reason !== undefined) return { status: 'refused', reason };
    return { status: 'read', text: new TextDecoder().decode(await handle.readFile()) };
  } catch (error) {
    return explainFailure(error);
  } finally {
    await handle?.close();
  }
}

/** Why a regular file must not decide what runs: somebody else could have written it. */
export function findObjection(
  file: string,
  stats: Stats,
  groupMayWrite: boolean,
): string | undefined {
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? 'a directory' : 'no regular file';
    return `it is ${kind}; put a file there, or remove it`;
  }
  const me = process.getuid?.();
  if (me === undefined) return undefined;

  if (stats.uid !== me && stats.uid !== 0) {
    return `it belongs to user ${stats.uid}, who could make it run commands as you (user ${me}, mode ${formatMode(stats)}); if you trust its content, run: chown ${me} ${quoteWord(file)} && chmod go-w ${quoteWord(file)}`;
  }
  const writers = findWriters(stats, groupMayWrite);
  if (writers === '') return undefined;
  return `other users may write it (mode ${formatMode(stats)}) and make it run commands as you; check its content, then run: chmod ${writers}-w ${quoteWord(file)}`;
}

/** Who else may write, in the letters of chmod. */
function findWriters({ mode }: Stats, groupMayWrite: boolean): string {
  const group = !groupMayWrite && (mode & constants.S_IWGRP) !== 0 ? 'g' : '';
  const others = (mode & constants.S_IWOTH) !== 0 ? 'o' : '';
  return group + others;
}

function formatMode({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

function explainFailure(error: unknown): GuardedReading {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { status: 'missing' };
  const cause = error instanceof Error ? error.message : String(error);
  return {
    status: 'refused',
    reason: `it cannot be read (${cause}); make it readable, or remove it`,
  };
}
