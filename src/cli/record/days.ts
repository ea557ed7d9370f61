import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { isRunning } from '../../fleet/spool.js';
import { readSpan, type SpanRecord } from '../../trace/record.js';
import { whileLocked } from '../../util/fileLock.js';
import { piecesOf, withRegularFile } from '../../util/guardedRead.js';

const DAY_FILE = /^\d{4}-\d\d-\d\d\.jsonl$/u;
/** What is to take the place of one, with the number of the process that writes it. */
const DRAFT = /^\d{4}-\d\d-\d\d\.jsonl\.(\d+)-[\w-]+\.tmp$/u;
const LINE_BREAK = 0x0a;
/** A longer one is read by nobody. In bytes. */
const MAX_LINE = 64 * 1024 * 1024;
/** That are written at a time. */
const MAX_LINES = 500;

/**
 * The files of the record in a directory, the oldest first.
 *
 * @param since a day such as `2026-11-27`: older ones are left out
 * @throws the file system's error
 */
export async function dayFiles(directory: string, since = ''): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => DAY_FILE.test(name) && name >= since);
  return names.toSorted().map((name) => path.join(path.resolve(directory), name));
}

/**
 * The lines of a file that is open, each with its line break; what stands behind the last one is left out.
 *
 * @param range in bytes; `end` is not part of it
 * @throws Error for a line of over 64 MiB
 */
export async function* linesOf(
  file: string,
  handle: FileHandle,
  range: { readonly start: number; readonly end: number },
): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const chunk of piecesOf(file, handle, range)) {
    let begin = 0;
    for (let at = chunk.indexOf(LINE_BREAK); at >= 0; at = chunk.indexOf(LINE_BREAK, begin)) {
      yield Buffer.concat([...pieces, chunk.subarray(begin, at + 1)]);
      [pieces, length, begin] = [[], 0, at + 1];
    }
    pieces.push(chunk.subarray(begin));
    length += chunk.length - begin;
    if (length > MAX_LINE) throw new Error(`${file} has a line of over ${MAX_LINE} bytes`);
  }
}

/**
 * Calls `see` with each span of a file.
 *
 * @returns whether it ends with a line break, as where nobody was killed while he wrote
 */
export function scanDay(file: string, see: (span: SpanRecord) => void): Promise<boolean> {
  return withRegularFile(file, { maxBytes: Infinity }, async (handle, { size: end }) => {
    let read = 0;
    for await (const line of linesOf(file, handle, { start: 0, end })) {
      read += line.length;
      const span = readSpan(line.toString());
      if (span) see(span);
    }
    return read === end;
  });
}

/** The same with all files of a directory. */
export async function scanDirectory(
  directory: string,
  see: (span: SpanRecord) => void,
): Promise<void> {
  for (const file of await dayFiles(directory)) await scanDay(file, see);
}

/**
 * Removes lines of a file that collectors may be writing, and what one that was killed left half. Whoever reads it sees
 * all of the old one or all of the new one.
 *
 * @returns how many lines were removed
 * @throws the file system's error; then the file is as it was
 */
export async function removeFromDay(
  file: string,
  isRemoved: (span: SpanRecord) => boolean,
): Promise<number> {
  for (;;) {
    const draft = `${file}.${process.pid}-${randomUUID()}.tmp`;
    try {
      const removed = await writeWithout(file, draft, isRemoved);
      if (removed !== undefined) return removed;
    } finally {
      await rm(draft, { force: true });
    }
  }
}

/** @returns `undefined` where somebody else has replaced the file meanwhile */
function writeWithout(
  file: string,
  draft: string,
  isRemoved: (span: SpanRecord) => boolean,
): Promise<number | undefined> {
  return withRegularFile(file, { maxBytes: Infinity }, async (source, { ino }) => {
    const copy = new Copy(file, source, isRemoved);
    const target = await open(draft, 'wx', 0o600);
    try {
      // Most of it without the lock, as collectors wait for that.
      await copy.goOn(target);
      return await whileLocked(file, async () => {
        if ((await stat(file)).ino !== ino) return undefined;
        const isWhole = await copy.goOn(target);
        if (copy.removed === 0 && isWhole) return 0;
        await target.sync();
        await rename(draft, file);
        return copy.removed;
      });
    } finally {
      await target.close();
    }
  });
}

class Copy {
  removed = 0;
  #read = 0;

  constructor(
    private readonly file: string,
    private readonly source: FileHandle,
    private readonly isRemoved: (span: SpanRecord) => boolean,
  ) {}

  /**
   * Copies what has been added since the last time.
   *
   * @returns whether it ends with a line break
   */
  async goOn(target: FileHandle): Promise<boolean> {
    const { size: end } = await this.source.stat();
    let kept: Buffer[] = [];
    let size = 0;
    for await (const line of linesOf(this.file, this.source, { start: this.#read, end })) {
      this.#read += line.length;
      const span = readSpan(line.toString());
      if (span && this.isRemoved(span)) this.removed += 1;
      else size = kept.push(line);
      if (size < MAX_LINES) continue;
      await target.appendFile(Buffer.concat(kept));
      [kept, size] = [[], 0];
    }
    await target.appendFile(Buffer.concat(kept));
    return this.#read === end;
  }
}

/**
 * Removes files of days that are over before one.
 *
 * @param day such as `2026-11-27`
 * @returns how many
 */
export async function removeDaysBefore(directory: string, day: string): Promise<number> {
  await removeDrafts(directory);
  const old = (await dayFiles(directory)).filter((file) => path.basename(file) < day);
  for (const file of old) await whileLocked(file, () => rm(file, { force: true }));
  return old.length;
}

/** Removes what was left by processes that were killed while they removed something. */
export async function removeDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const [, pid] = DRAFT.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    await rm(path.join(directory, name), { force: true });
  }
}
