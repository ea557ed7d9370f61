import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { MAX_LINE_BYTES, readPieces } from '../lines.js';

/** Hears what a stream of events says. */
export interface EventReader {
  readonly event: (event: EventSourceMessage) => void;
  /** A sign of life. */
  readonly comment?: () => void;
  /** @param ms after which to come again */
  readonly retry?: (ms: number) => void;
  /** What to wait for before reading on. */
  readonly wait?: () => Promise<void> | undefined;
}

/**
 * Reads a stream of events to its end.
 *
 * @returns whether the server has ended it; else it was broken off, or said more in one event than a message may have
 */
export async function readEvents(
  response: IncomingMessage,
  body: Readable,
  { event, comment, retry, wait }: EventReader,
): Promise<boolean> {
  let isTooLong = false;
  const parser = createParser({
    onEvent: ({ id, event: name, data }) =>
      event({ id: inOneLine(id), event: inOneLine(name), data }),
    maxBufferSize: MAX_LINE_BYTES,
    ...(comment && { onComment: comment }),
    ...(retry && { onRetry: retry }),
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded';
    },
  });
  const decoder = new TextDecoder();
  await readPieces(body, (chunk) => {
    parser.feed(decoder.decode(chunk, { stream: true }));
    return isTooLong ? 'enough' : wait?.();
  });
  if (isTooLong) response.destroy();
  return !isTooLong && response.complete;
}

/** Some readers end a line where events do not, and would read the rest as an event that nobody has looked at. */
function inOneLine(field: string | undefined): string | undefined {
  return field !== undefined && /[\p{Cc}\u2028\u2029]/u.test(field) ? undefined : field;
}

interface EventFields {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
}

/** An event as it is written. */
export function formatEvent({ id, event }: EventFields, data: string): string {
  const lines = data.split(/\r\n|[\r\n]/u).map((line) => `data: ${line}\n`);
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}${lines.join('')}\n`;
}
