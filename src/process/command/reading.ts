import { setImmediate } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';

let sink: MessagePort | undefined;

/**
 * Frees the memory of a chunk at once by transferring it to a closed port, since a flood makes garbage faster than it
 * is collected. The chunk must not be used elsewhere.
 */
export function releaseMemory({ buffer, byteLength }: Uint8Array): void {
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
 * Lets reads and exits through that have happened but were not yet reported. On a host that was busy, a
 * timer fires before them, however long ago they were.
 */
export async function letPendingEventsThrough(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
