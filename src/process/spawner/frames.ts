import type { Readable, Writable } from 'node:stream';

/** Two lengths of four bytes each: of the message, and of the bytes behind it. */
const PREFIX_BYTES = 8;

const NO_BYTES = Buffer.alloc(0);

/** Writes a message as JSON, and behind it bytes that are passed on as they are. */
export function writeFrame(stream: Writable, message: object, bytes: Uint8Array = NO_BYTES): void {
  const text = Buffer.from(JSON.stringify(message));
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  prefix.writeUInt32LE(text.byteLength, 0);
  prefix.writeUInt32LE(bytes.byteLength, 4);
  if (bytes.byteLength > MAX_COPIED_BYTES) {
    stream.write(Buffer.concat([prefix, text]));
    stream.write(bytes);
  } else stream.write(Buffer.concat([prefix, text, bytes]));
}

/** More than this is not copied, to be written at once with what stands before it. */
const MAX_COPIED_BYTES = 65_536;

/**
 * Reads what `writeFrame` has written.
 *
 * @param onBroken called for what cannot be read, or handled, or is too long; what comes after it is dropped
 */
export function readFrames(
  stream: Readable,
  onFrame: (message: unknown, bytes: Buffer) => void,
  onBroken: () => void,
): void {
  let chunks: Buffer[] = [];
  let had = 0;
  let needed = PREFIX_BYTES;
  const hear = (chunk: Buffer): void => {
    chunks.push(chunk);
    had += chunk.byteLength;
    if (had < needed) return;
    let all = chunks.length === 1 ? chunk : Buffer.concat(chunks, had);
    try {
      for (needed = frameLength(all); all.byteLength >= needed; needed = frameLength(all)) {
        const bytesAt = PREFIX_BYTES + all.readUInt32LE(0);
        const text = all.toString('utf8', PREFIX_BYTES, bytesAt);
        const bytes = all.subarray(bytesAt, needed);
        all = all.subarray(needed);
        onFrame(JSON.parse(text), bytes);
      }
    } catch {
      stream.off('data', hear).resume();
      onBroken();
    }
    chunks = [all];
    had = all.byteLength;
  };
  stream.on('data', hear);
}

/** A hook may give back an input of many MB, twice as long; and there is no longer text. */
const MAX_FRAME_BYTES = 512 * 1024 * 1024;

/**
 * Of the frame at the beginning; that of its prefix, as long as it is not there.
 *
 * @throws RangeError for one that is too long
 */
function frameLength(bytes: Buffer): number {
  if (bytes.byteLength < PREFIX_BYTES) return PREFIX_BYTES;
  const length = PREFIX_BYTES + bytes.readUInt32LE(0) + bytes.readUInt32LE(4);
  if (length > MAX_FRAME_BYTES) throw new RangeError('The frame is too long');
  return length;
}
