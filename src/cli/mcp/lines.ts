import { isAscii } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';

/** More than any message of a client or server that is well; the SDKs give up at 10 MiB. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** What some readers take for the end of a line, though JSON allows it in a text. Other such characters it does not. */
const SEPARATORS = ['\u0085', '\u2028', '\u2029'].map((separator) => ({
  bytes: Buffer.from(separator),
  escaped: Buffer.from(`\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`),
}));

/**
 * The same message without what some readers take for the end of a line: they would read a part of it as a message of
 * its own, which nobody has looked at. Everything else stays byte for byte, so that numbers keep their digits.
 *
 * @param line valid JSON, and a newline
 */
export function asOneLine(line: Buffer): Buffer {
  let whole = withoutReturns(line);
  if (isAscii(whole)) return whole;
  for (const { bytes, escaped } of SEPARATORS) {
    if (!whole.includes(bytes)) continue;
    const pieces: Buffer[] = [];
    let start = 0;
    for (let at = whole.indexOf(bytes); at >= 0; at = whole.indexOf(bytes, start)) {
      pieces.push(whole.subarray(start, at), escaped);
      start = at + bytes.length;
    }
    whole = Buffer.concat([...pieces, whole.subarray(start)]);
  }
  return whole;
}

/** JSON has them between its words only, where a blank says the same. */
function withoutReturns(line: Buffer): Buffer {
  const first = line.indexOf(RETURN);
  const beforeNewline = line.length - 2;
  if (first < 0 || first === beforeNewline) return line;
  const whole = Buffer.from(line);
  for (let at = first; at >= 0 && at < beforeNewline; at = whole.indexOf(RETURN, at)) {
    whole[at] = BLANK;
  }
  return whole;
}

const BLANK = 0x20;

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

/** Writes messages, one a line, in the order in which they were sent; those of one turn of the event loop together. */
export class Outlet {
  #waiting: Buffer[] = [];

  constructor(private readonly stream: Writable) {}

  /** @param message an object, or a line that has its newline */
  send(message: Buffer | object): void {
    if (this.#waiting.length === 0) setImmediate(this.#write);
    this.#waiting.push(Buffer.isBuffer(message) ? message : toLine(message));
  }

  readonly #write = (): void => {
    const lines = this.#waiting;
    const [first] = lines;
    this.#waiting = [];
    if (first === undefined || !this.stream.writable) return;
    // One piece takes the system a fraction of the time of many.
    const size = lines.reduce((sum, line) => sum + line.length, 0);
    if (lines.length === 1) this.stream.write(first);
    else if (size <= MAX_JOINED) this.stream.write(Buffer.concat(lines, size));
    else for (const line of lines) this.stream.write(line);
  };

  /** Waits while the reader is too slow; `undefined` where it is not. */
  drained(): Promise<void> | undefined {
    const { stream } = this;
    if (!stream.writableNeedDrain || stream.destroyed) return undefined;
    return new Promise<void>((resolve) => {
      const done = () => {
        for (const event of ENDS) stream.off(event, done);
        resolve();
      };
      for (const event of ENDS) stream.on(event, done);
    });
  }

  /** Writes what is left, and no more. */
  end(): void {
    this.#write();
    this.stream.end();
  }

  /** Waits until everything has been handed to the system. */
  async flushed(): Promise<void> {
    const { stream } = this;
    this.#write();
    if (!stream.writable || stream.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      stream.once('close', resolve);
      stream.write('', () => resolve());
    });
  }
}

/** A message as a line. */
export function toLine(message: unknown): Buffer {
  return asOneLine(Buffer.from(`${JSON.stringify(message)}\n`));
}

/** In bytes: copying more takes longer than it saves. */
const MAX_JOINED = 65_536;
const ENDS = ['drain', 'close', 'error'] as const;
