import { closeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { openPrivately } from '../../trace/privateFile.js';
import { withRegularFile } from '../../util/guardedRead.js';
import { readSpan } from '../../trace/record.js';
import type { FleetSpan } from '../../fleet/recordSubject.js';
import { whileLocked } from '../../util/fileLock.js';
import { linesOf } from '../record/days.js';
import { keyOf } from '../record/row.js';

/** Of ids of one day; those that were written first are forgotten first. Some 100 bytes each. */
const MAX_IDS = 1_000_000;

/** The trace file of one day, which several collectors may write. */
export class DayFile {
  readonly #file: string;
  readonly #ids = new Set<string>();
  /** Up to where the file has been read. In bytes. */
  #read = 0;
  /** Which file has been read. It is another one where a session was removed from it. */
  #identity = '';

  constructor(directory: string, day: string) {
    this.#file = path.join(directory, `${day}.jsonl`);
  }

  /**
   * Writes those spans that are not there yet, and waits until they are on disk.
   *
   * @returns those that were written
   * @throws the file system's error; then some of them may have been written
   */
  async add(spans: readonly FleetSpan[]): Promise<readonly FleetSpan[]> {
    return whileLocked(this.#file, async () => {
      // Makes it where it is missing, and no link is followed.
      closeSync(openPrivately(this.#file, 'append'));
      const limits = { maxBytes: Infinity, isOwn: true };
      return withRegularFile(this.#file, limits, (handle) => this.#addTo(handle, spans));
    });
  }

  async #addTo(handle: FileHandle, spans: readonly FleetSpan[]): Promise<readonly FleetSpan[]> {
    await this.#readNew(handle);
    const fresh = spans.filter((span) => this.#note(span));
    if (fresh.length === 0) return fresh;
    const bytes = Buffer.from(fresh.map((span) => `${JSON.stringify(span)}\n`).join(''));
    try {
      for (let at = 0; at < bytes.length;) {
        at += (await handle.write(bytes, at, bytes.length - at, this.#read + at)).bytesWritten;
      }
      await handle.sync();
    } catch (error) {
      // They come again.
      for (const span of fresh) this.#ids.delete(keyOf(span));
      throw error;
    }
    this.#read += bytes.length;
    return fresh;
  }

  /** Reads what has been added by others. What a collector that was killed has left half is cut off. */
  async #readNew(handle: FileHandle): Promise<void> {
    const { size, ino, birthtimeMs } = await handle.stat();
    // The number of a file that is gone may be given to the next one.
    const identity = `${ino} ${birthtimeMs}`;
    if (size < this.#read || identity !== this.#identity) {
      this.#identity = identity;
      this.#read = 0;
      this.#ids.clear();
    }
    if (size === this.#read) return;
    let end = this.#read;
    for await (const line of linesOf(this.#file, handle, { start: this.#read, end: size })) {
      const span = readSpan(line.toString());
      if (span) this.#note(span);
      end += line.length;
    }
    if (end < size) await handle.truncate(end);
    this.#read = end;
  }

  /** Whether it is new. */
  #note(span: Pick<FleetSpan, 'id'> & { readonly from?: string }): boolean {
    const key = keyOf(span);
    if (this.#ids.has(key)) return false;
    this.#ids.add(key);
    if (this.#ids.size > MAX_IDS) {
      const [oldest = ''] = this.#ids;
      this.#ids.delete(oldest);
    }
    return true;
  }
}
