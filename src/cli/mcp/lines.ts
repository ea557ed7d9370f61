/** More than any message of a client or server that is well; the SDKs give up at 10 MiB. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * The lines of a stream, byte for byte, each with its newline.
 *
 * @param limit in bytes
 * @returns `undefined`, once, in place of a line that is longer
 */
export async function* readLines(
  stream: AsyncIterable<Buffer>,
  limit = MAX_LINE_BYTES,
): AsyncGenerator<Buffer | undefined> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      const piece = chunk.subarray(start, end);
      const wasTooLong = size > limit;
      size += piece.length;
      if (size <= limit) pieces.push(piece);
      else {
        pieces = [];
        if (!wasTooLong) yield undefined;
      }
      if (newline >= 0) {
        if (size <= limit) yield pieces.length === 1 ? piece : Buffer.concat(pieces);
        pieces = [];
        size = 0;
      }
      start = end;
    }
  }
  if (pieces.length > 0) yield Buffer.concat([...pieces, Buffer.of(NEWLINE)]);
}
