import { decode, isBlank, LINE_FEED, startOfText } from './lines.js';

/** What was found in a stream. */
export interface FoundLine {
  /** Without its end; of one that is too long, the beginning. */
  readonly line: string;
  readonly isTooLong: boolean;
  /** Whether nothing that says anything came behind it. */
  readonly isAll: boolean;
}

/** Looks for the first line of a stream that is not empty. */
export class FirstLine {
  bytesRead = 0;
  #chunks: Buffer[] = [];

  /** @param maxBytes of the line */
  constructor(private readonly maxBytes: number) {}

  /** What was read so far, empty lines aside. */
  get chunks(): readonly Buffer[] {
    return this.#chunks;
  }

  /** @returns `undefined` as long as there is no end of a line */
  read(chunk: Buffer): FoundLine | undefined {
    this.bytesRead += chunk.length;
    this.#chunks.push(chunk);
    const hasEnd = chunk.includes(LINE_FEED);
    if (!hasEnd && this.bytesRead <= this.maxBytes) return undefined;
    const all = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const text = all.subarray(startOfText(all));
    this.#chunks = [text];
    const end = text.indexOf(LINE_FEED);
    if (end < 0 && text.length <= this.maxBytes) return undefined;
    const isTooLong = end < 0 || end > this.maxBytes;
    const line = decode(text.subarray(0, isTooLong ? this.maxBytes : end));
    return { line, isTooLong, isAll: !isTooLong && isBlank(text.subarray(end)) };
  }
}
