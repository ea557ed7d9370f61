import { setMaxListeners } from 'node:events';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { MAX_KEPT_BYTES } from './limits.js';

/** What was read of a stream so far. */
export interface CollectedOutput {
  /** Settles when nothing more can come: everybody who could write to the stream is gone. */
  readonly closed: Promise<unknown>;
  readonly isClosed: boolean;
  /** All bytes, kept or dropped. */
  readonly bytesRead: number;
  /** When the last bytes came, on the clock of `performance.now()`. */
  readonly lastReadAt: number;
  readonly truncated: boolean;
  /** What was kept, as UTF-8 without a byte order mark. A character that the limit cut in two is left out. */
  text(): string;
}

/**
 * Reads a stream to its end and keeps only its beginning, so that a flood costs time but no memory. It is to be destroyed
 * by whoever reads it. Its end comes one turn of the loop before it is closed, and not at all after an error.
 */
export function collectOutput(stream: Readable, maxKeptBytes = MAX_KEPT_BYTES): CollectedOutput {
  const chunks: Uint8Array[] = [];
  let keptBytes = 0;
  const output = {
    closed: untilClosed(stream),
    bytesRead: 0,
    lastReadAt: -Infinity,
    get isClosed() {
      return stream.readableEnded || stream.closed;
    },
    get truncated() {
      return output.bytesRead > keptBytes;
    },
    text: () => new TextDecoder().decode(Buffer.concat(chunks), { stream: output.truncated }),
  };
  // Nobody writes to it. Unless told so, Node closes it at its end, and takes its time before it hears of the exit.
  if (stream instanceof Socket) stream.allowHalfOpen = true;
  stream.on('error', ignore);
  stream.on('data', (chunk: Uint8Array) => {
    output.bytesRead += chunk.length;
    output.lastReadAt = performance.now();
    const kept = chunk.subarray(0, Math.max(0, maxKeptBytes - keptBytes));
    keptBytes += kept.length;
    if (kept.length > 0) chunks.push(kept);
    else release(chunk);
  });
  return output;
}

/** Settles when nothing more can come of a stream. */
export async function untilClosed(stream: Readable): Promise<void> {
  if (stream.readableEnded || stream.closed) return;
  await new Promise((resolve) => {
    for (const event of ['end', 'close']) stream.once(event, resolve);
  });
}

/** A read error ends the stream; what was read before stays. */
function ignore(): void {}

let sink: MessagePort | undefined;

/**
 * Frees the memory of a chunk at once by transferring it to a closed port, since a flood makes garbage faster than it
 * is collected. The chunk must not be used elsewhere.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  sink ??= openSink();
  sink.postMessage(null, [buffer]);
}

function openSink(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}

/**
 * Reads what is left: until `ended` settles, `quietMs` pass without a byte, or `drainMs` are over.
 * A host that is too busy to read meanwhile does not count as silence.
 *
 * @param canEnd silence counts once it says so; without it, at once
 */
export async function drain(
  outputs: readonly CollectedOutput[],
  ended: Promise<unknown>,
  { quietMs, drainMs }: { quietMs: number; drainMs: number },
  canEnd?: () => boolean,
): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const now = performance.now();
    let quietSince = canEnd?.() === false ? now : startedAt;
    for (const { lastReadAt } of outputs) quietSince = Math.max(quietSince, lastReadAt);
    const quietUntil = quietSince + quietMs;
    const remainingMs = Math.min(quietUntil, startedAt + drainMs) - now;
    if (remainingMs <= 0 || (await settlesWithin(ended, remainingMs))) return;
    await letPendingEventsThrough();
  }
}

/** Waits for `event`, at most `ms`; says whether it came in time. */
export function settlesWithin(event: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false);
    const settle = () => {
      clearTimeout(timer);
      resolve(true);
    };
    void event.then(settle);
  });
}

/** What ends a command before it does so itself. */
export type Interruption = 'timeout' | 'aborted';

/**
 * Waits for an event. Says what came before it, if anything did.
 *
 * Written out, because promises of `node:timers` and `node:events` that are called off cost a third of a ms. Many
 * commands may wait for one signal, and each of them lets go of it.
 */
export function firstOf(
  event: Promise<unknown>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<Interruption | undefined> {
  return new Promise((resolve) => {
    const settle = (first?: unknown) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(first === 'timeout' || first === 'aborted' ? first : undefined);
    };
    const timer = setTimeout(settle, timeoutMs, 'timeout');
    const onAbort = () => settle('aborted');
    if (signal) setMaxListeners(0, signal);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    void event.then(settle);
  });
}

/**
 * Lets reads and exits through that have happened but were not yet reported. On a host that was busy, a
 * timer fires before them, however long ago they were.
 */
export async function letPendingEventsThrough(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
