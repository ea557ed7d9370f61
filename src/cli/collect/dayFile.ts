import { closeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { openPrivately } from '../../trace/privateFile.js';
import { piecesOf, withRegularFile } from '../../util/guardedRead.js';
import { readSpan } from '../../trace/record.js';
import type { FleetSpan } from '../../fleet/recordSubject.js';
import { whileLocked } from '../../util/fileLock.js';

/** Of ids of one day; those that were written first are forgotten first. Some 100 bytes each. */
const MAX_IDS = 1_000_000;

const LINE_BREAK = 0x0a;

/** The trace file of one day, which several collectors may write. */
export class DayFile {
  readonly #file: string;
  readonly #ids = new Set<string>();
  /** Up to where the file has been read. In bytes. */
  #read = 0;

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
    // Makes it where it is missing, and no link is followed.
    closeSync(openPrivately(this.#file, 'append'));
    return whileLocked(this.#file, async () => {
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
    const { size } = await handle.stat();
    if (size < this.#read) {
      this.#read = 0;
      this.#ids.clear();
    }
    if (size === this.#read) return;
    let end = this.#read;
    let rest = Buffer.alloc(0);
    for await (const chunk of piecesOf(this.#file, handle, { start: this.#read, end: size })) {
      rest = Buffer.concat([rest, chunk]);
      for (let at = rest.indexOf(LINE_BREAK); at >= 0; at = rest.indexOf(LINE_BREAK)) {
        const span = readSpan(rest.toString('utf8', 0, at));
        if (span) this.#note(span);
        rest = rest.subarray(at + 1);
        end += at + 1;
      }
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

/** No agent can take the id of another's span. */
function keyOf({ id, from = '' }: Pick<FleetSpan, 'id'> & { readonly from?: string }): string {
  return `${id} ${from}`;
}
