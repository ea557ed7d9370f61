import type { Writable } from 'node:stream';

/** Writes messages, one a line; those of one turn of the event loop together. */
export class Outlet {
  #isCorked = false;

  constructor(private readonly stream: Writable) {}

  /** @param message an object, or a line that has its newline */
  send(message: Buffer | object): void {
    const { stream } = this;
    if (!stream.writable) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      stream.cork();
      process.nextTick(() => this.#uncork());
    }
    stream.write(Buffer.isBuffer(message) ? message : `${JSON.stringify(message)}\n`);
  }

  #uncork(): void {
    this.#isCorked = false;
    this.stream.uncork();
  }

  /** Waits while the reader is too slow. */
  async drained(): Promise<void> {
    const { stream } = this;
    if (!stream.writableNeedDrain || stream.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        for (const event of ENDS) stream.off(event, done);
        resolve();
      };
      for (const event of ENDS) stream.on(event, done);
    });
  }

  /** Waits until everything has been handed to the system. */
  async flushed(): Promise<void> {
    const { stream } = this;
    if (!stream.writable || stream.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      stream.once('close', resolve);
      stream.write('', () => resolve());
    });
  }
}

const ENDS = ['drain', 'close', 'error'] as const;
