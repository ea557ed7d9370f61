import type { Stats } from 'node:fs';
import { constants, open, type FileHandle } from 'node:fs/promises';
import { isPrivateGroup } from './privateGroup.js';
import { isShortage, waitForDescriptors } from './room.js';
import { errorCode, errorMessage } from './errorMessage.js';
import { quoteWord } from './quoteWord.js';
import { READ_FLAGS } from './readStart.js';

export type GuardedReading =
  | { readonly status: 'read'; readonly text: string }
  | { readonly status: 'missing' }
  | {
      readonly status: 'refused';
      readonly reason: string;
      /** The system has no descriptors left, and may have some later. */
      readonly isShortage?: boolean;
    };

export interface GuardedFileOptions {
  /** Whether to accept a file that its group may write. */
  readonly groupMayWrite: boolean;
  /** A larger file is refused. Default 16 MiB. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads a file that decides which commands run, unless somebody else could have written it.
 *
 * Refused are, on POSIX systems, a file that others may write, unless it is by a group that is the user's alone, and a
 * file that belongs neither to the current user nor to root; everywhere, what is not a regular file, what is too large and what cannot be read.
 *
 * @param file absolute path
 * @returns the text, decoded as UTF-8, without a byte order mark. Never rejects.
 */
export async function readGuardedFile(
  file: string,
  options: GuardedFileOptions,
): Promise<GuardedReading> {
  return withGuardedFile(file, options, readText);
}

/** The same as {@link readGuardedFile}, without reading it: the text is empty, and no size is too large. */
export async function checkGuardedFile(
  file: string,
  { groupMayWrite }: Pick<GuardedFileOptions, 'groupMayWrite'>,
): Promise<GuardedReading> {
  return withGuardedFile(file, { groupMayWrite, maxBytes: Infinity }, async () => '');
}

async function withGuardedFile(
  file: string,
  { groupMayWrite, maxBytes = MAX_BYTES }: GuardedFileOptions,
  read: (handle: FileHandle, maxBytes: number) => Promise<string | undefined>,
): Promise<GuardedReading> {
  let handle: FileHandle | undefined;
  try {
    handle = await waitForDescriptors(() => open(file, READ_FLAGS));
    const stats = await handle.stat();
    const reason = findObjection(file, stats, groupMayWrite);
    if (reason !== undefined) return { status: 'refused', reason };
    const text = stats.size > maxBytes ? undefined : await read(handle, maxBytes);
    if (text !== undefined) return { status: 'read', text };
    const limit = `${maxBytes.toLocaleString('en')} bytes`;
    return {
      status: 'refused',
      reason: `it is larger than the ${limit} that are read of it; make it smaller, or remove it`,
    };
  } catch (error) {
    return explainFailure(error);
  } finally {
    await handle?.close();
  }
}

/** `undefined` for a file that has grown too large meanwhile. */
async function readText(handle: FileHandle, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  const stream = handle.createReadStream({ end: maxBytes, autoClose: false });
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return bytes.length > maxBytes ? undefined : new TextDecoder().decode(bytes);
}

/** Why a file must not decide what runs: it is not a regular file, or somebody else could have written it. */
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
  // In the letters of chmod.
  const isShared = !groupMayWrite && (stats.mode & constants.S_IWGRP) !== 0;
  const group = isShared && !isPrivateGroup(stats.gid) ? 'g' : '';
  const others = (stats.mode & constants.S_IWOTH) !== 0 ? 'o' : '';
  if (group + others === '') return undefined;
  return `other users may write it (mode ${formatMode(stats)}) and make it run commands as you; check its content, then run: chmod ${group}${others}-w ${quoteWord(file)}`;
}

function formatMode({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

function explainFailure(error: unknown): GuardedReading {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { status: 'missing' };
  return {
    status: 'refused',
    reason: `it cannot be read (${errorMessage(error)}); make it readable, or remove it`,
    isShortage: isShortage(error),
  };
}
