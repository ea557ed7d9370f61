import { randomUUID } from 'node:crypto';
import { link, lstat, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './errorMessage.js';
import { ignoreMissing } from './missing.js';

/** Ms after which a lock counts as left by a killed process. The work under a lock takes a few ms. */
const STALE_MS = 10_000;
/** Ms to wait for a lock: long enough for one to become stale. */
const PATIENCE_MS = 3 * STALE_MS;
const RETRY_MS = 20;

/**
 * Does some work while no other process does any for the same file, so that none undoes what another wrote. The lock is
 * a file beside it, in a directory that must exist; one that a killed process has left is removed after 10 s.
 *
 * @param file absolute path
 * @param patienceMs how long to wait for others. Default: 30 s
 * @throws Error when others hold the lock for longer, and the file system's error
 */
export async function whileLocked<T>(
  file: string,
  work: () => Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const lock = `${file}.lock`;
  const handle = await acquire(lock, patienceMs);
  try {
    return await work();
  } finally {
    if (await isOwn(lock, handle)) await rm(lock, { force: true });
    await handle.close();
  }
}

async function acquire(lock: string, patienceMs: number): Promise<FileHandle> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      // Exclusive: it follows no link.
      return await open(lock, 'wx', 0o600);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    await removeStale(lock);
    if (performance.now() > deadline) {
      throw new Error(
        `${lock} says that another process is writing; if there is none, remove it and try again`,
      );
    }
    await delay(RETRY_MS * (1 + Math.random()));
  }
}

/** Of all who find the same stale lock, one moves it away. */
async function removeStale(lock: string): Promise<void> {
  if (!(await isStale(lock))) return;
  const aside = `${lock}.${randomUUID()}`;
  const isMoved = await rename(lock, aside).then(() => true, ignoreMissing);
  if (!isMoved) return;
  // Somebody else may have done the same, and locked, in between: that lock goes back.
  if (!(await isStale(aside))) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}

async function isStale(lock: string): Promise<boolean> {
  const stats = await lstat(lock).catch(() => undefined);
  // A clock may have been set back.
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) > STALE_MS;
}

/** A process that was asleep for long may have lost its lock. */
async function isOwn(lock: string, handle: FileHandle): Promise<boolean> {
  const [there, mine] = await Promise.all([lstat(lock).catch(() => undefined), handle.stat()]);
  return there?.ino === mine.ino && there.dev === mine.dev;
}
