import type { Writable } from 'node:stream';
import { asOneLine } from './lines.js';

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
