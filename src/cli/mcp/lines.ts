import type { Readable } from 'node:stream';

/** More than any message of a client or server that is well; the SDKs give up at 10 MiB. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

/** Makes lines of the pieces of a stream, byte for byte, each with its newline. */
export class LineSplitter {
  #pieces: Buffer[] = [];
  #size = 0;

  /** @param take gets each line; `undefined`, once, in place of one that is too long */
  constructor(
    private readonly take: (line: Buffer | undefined) => void,
    private readonly limit = MAX_LINE_BYTES,
  ) {}

  push(chunk: Buffer): void {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      const piece = chunk.subarray(start, end);
      if (newline >= 0 && this.#size === 0) this.take(piece);
      else this.#add(piece, newline >= 0);
      start = end;
    }
  }

  #add(piece: Buffer, isLast: boolean): void {
    const wasTooLong = this.#size > this.limit;
    this.#size += piece.length;
    if (this.#size <= this.limit) this.#pieces.push(piece);
    else {
      this.#pieces = [];
      if (!wasTooLong) this.take(undefined);
    }
    if (!isLast) return;
    const pieces = this.#pieces;
    const isWhole = this.#size <= this.limit;
    this.#pieces = [];
    this.#size = 0;
    if (isWhole) this.take(Buffer.concat(pieces));
  }

  /** The last line may have no newline. */
  end(): void {
    if (this.#size > 0) this.#add(Buffer.of(NEWLINE), true);
  }
}

/**
 * Hands over the pieces of a stream as they come, until it has ended, was closed or is wanted no more. Not an iterator:
 * each step of one costs as much as a message.
 *
 * @param take says what to wait for before the next piece; `'enough'` for no more
 */
export function readPieces(
  stream: Readable,
  take: (chunk: Buffer) => Promise<void> | 'enough' | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const read = (chunk: Buffer) => {
      const wait = take(chunk);
      if (wait === 'enough') {
        stream.off('data', read);
        stream.pause();
        resolve();
      } else if (wait) {
        stream.pause();
        void wait.then(() => stream.resume());
      }
    };
    stream.on('data', read);
    for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve());
  });
}
