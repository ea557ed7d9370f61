import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { MAX_KEPT_BYTES } from './limits.js';

/** Reads a stream to its end and keeps only its beginning, so that a flood costs time but no memory. */
export class OutputCollector {
  /** Settles when nothing more can come: everybody who could write to the stream is gone. */
  readonly closed: Promise<unknown>;
  readonly #stream: Readable;
  readonly #maxKeptBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #keptBytes = 0;
  #bytesRead = 0;
  #lastReadAt = -Infinity;

  /** Starts to read `stream`, of which at most `maxKeptBytes` are kept. It is to be destroyed by whoever reads it. */
  constructor(stream: Readable, maxKeptBytes = MAX_KEPT_BYTES) {
    this.#stream = stream;
    this.#maxKeptBytes = maxKeptBytes;
    // Nobody writes to it. Unless told so, Node closes it at its end, and takes its time before it hears of the exit.
    if (stream instanceof Socket) stream.allowHalfOpen = true;
    // A read error ends the stream, and what was read before it still counts.
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Uint8Array) => this.#collect(chunk));
    this.closed = new Promise((resolve) => {
      // The end comes one turn of the loop earlier, and not at all after an error.
      for (const event of ['end', 'close']) stream.once(event, resolve);
    });
  }

  get isClosed(): boolean {
    return this.#stream.readableEnded || this.#stream.closed;
  }

  /** All bytes, kept or dropped. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  get truncated(): boolean {
    return this.#bytesRead > this.#keptBytes;
  }

  /** When the last bytes came, on the clock of `performance.now()`. */
  get lastReadAt(): number {
    return this.#lastReadAt;
  }

  /** What was kept, as UTF-8 without a byte order mark. A character that the limit cut in two is left out. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: this.truncated });
  }

  #collect(chunk: Uint8Array): void {
    this.#bytesRead += chunk.length;
    this.#lastReadAt = performance.now();
    const room = this.#maxKeptBytes - this.#keptBytes;
    if (room <= 0) {
      release(chunk);
      return;
    }
    const kept = chunk.subarray(0, room);
    this.#chunks.push(kept);
    this.#keptBytes += kept.length;
  }
}

let sink: MessagePort | undefined;

/**
 * Gives the memory of a chunk back at once, since garbage of a flood piles up faster than it is collected: what is
 * sent to nobody is freed. The chunk must be nobody else's.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  if (byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  sink ??= openSink();
  sink.postMessage(null, [buffer]);
}

function openSink(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
