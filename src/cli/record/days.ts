import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { readSpan, type SpanRecord } from '../../trace/record.js';
import { whileLocked } from '../../util/fileLock.js';
import { piecesOf, withRegularFile } from '../../util/guardedRead.js';

const DAY_FILE = /^\d{4}-\d\d-\d\d\.jsonl$/u;
const LINE_BREAK = 0x0a;
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
 */
export async function* linesOf(
  file: string,
  handle: FileHandle,
  range: { readonly start: number; readonly end: number },
): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of piecesOf(file, handle, range)) {
    rest = Buffer.concat([rest, chunk]);
    for (let at = rest.indexOf(LINE_BREAK); at >= 0; at = rest.indexOf(LINE_BREAK)) {
      yield rest.subarray(0, at + 1);
      rest = rest.subarray(at + 1);
    }
  }
}

/** Calls `see` with each span of a file. */
export function scanDay(file: string, see: (span: SpanRecord) => void): Promise<void> {
  return withRegularFile(file, { maxBytes: Infinity }, async (handle, { size: end }) => {
    for await (const line of linesOf(file, handle, { start: 0, end })) {
      const span = readSpan(line.toString());
      if (span) see(span);
    }
  });
}

/**
 * Removes lines of a file that collectors may be writing. Whoever reads it sees all of the old one or all of the new one.
 *
 * @returns how many lines were removed
 * @throws the file system's error; then the file is as it was
 */
export async function removeFromDay(
  file: string,
  isRemoved: (span: SpanRecord) => boolean,
): Promise<number> {
  for (;;) {
    const draft = `${file}.${randomUUID()}.tmp`;
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
        await copy.goOn(target);
        if (copy.removed === 0) return 0;
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

  /** Copies what has been added since the last time. */
  async goOn(target: FileHandle): Promise<void> {
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
  }
}

/**
 * Removes files of days that are over before a time.
 *
 * @param time ms since 1970
 * @returns how many
 */
export async function removeDaysBefore(directory: string, time: number): Promise<number> {
  // The file of the day of that time still holds what is younger.
  const day = new Date(time).toISOString().slice(0, 10);
  const old = (await dayFiles(directory)).filter((file) => path.basename(file) < day);
  for (const file of old) await whileLocked(file, () => rm(file, { force: true }));
  return old.length;
}
