import { stat } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout } from 'node:timers/promises';
import { readPieces } from '../../util/guardedRead.js';
import { ignoreMissing } from '../../util/missing.js';
import { readSpan, type SpanRecord } from '../../trace/record.js';
import { plural, printNotice } from './terminal.js';
import { orUsageError, UsageError } from './usageError.js';

/** In UTF-16 code units. */
const MAX_LINE = 64 * 1024 * 1024;

/**
 * Gives spans in the order in which they ended, and the numbers of unreadable lines, from 1.
 * Skips lines that are no span, such as the last one of a process that was killed. Throws the file system's error, or
 * an Error for a line of over 67,108,864 characters.
 */
export async function readTrace(file: string) {
  const spans: SpanRecord[] = [];
  const unreadable: number[] = [];
  const lines = new LineReader();
  let count = 0;
  const add = (line: string | undefined) => {
    count += 1;
    if (line?.trim() === '') return;
    const span = line === undefined ? undefined : readSpan(line);
    if (span) spans.push(span);
    else unreadable.push(count);
  };
  for await (const chunk of readPieces(file)) {
    for (const line of lines.read(chunk)) add(line);
    // What is left of it may be longer than the longest string that JavaScript has.
    if (lines.isTooLong) throw new Error(`line ${count + 1} is longer than ${MAX_LINE} characters`);
  }
  add(lines.end());
  return { spans, unreadable };
}

export async function isDirectory(place: string): Promise<boolean> {
  return (await stat(place).catch(() => undefined))?.isDirectory() === true;
}

/** @throws UsageError for a directory, such as that of a record: nobody is to put a file in its place */
export async function refuseDirectory(place: string): Promise<void> {
  if (!(await isDirectory(place))) return;
  throw new UsageError(
    `${place} is a directory; name a file in it, or ask all of them with hookstack trace --query or --diff`,
  );
}

/** In the order in which spans ended. */
export async function openTrace(file: string): Promise<readonly SpanRecord[]> {
  await refuseDirectory(file);
  const { spans, unreadable } = await orUsageError(
    readTrace(file),
    (detail) => `The trace ${file} cannot be read (${detail}); write one with --trace ${file}`,
  );
  if (unreadable.length > 0) {
    const is = unreadable.length === 1 ? 'is not a span and is' : 'are not spans and are';
    const lines = plural(unreadable.length, 'line');
    printNotice('warning', `${file}:${unreadable[0]}: ${lines} ${is} left out`);
  }
  return spans;
}

export function lastBlock(spans: readonly SpanRecord[]): SpanRecord | undefined {
  return spans.findLast(
    ({ kind, verdict, isShadow }) => kind === 'event' && verdict === 'block' && !isShadow,
  );
}

/** How often a file that is followed is looked at, in ms. */
const FOLLOW_MS = 200;

/**
 * Gives the spans of a trace, and then those that are added to it, as they come. A file that is not there yet is waited
 * for, and one that has become shorter is read anew. Ends when the signal fires.
 *
 * @throws the file system's error, where it is another than that there is no such file
 */
export async function* followTrace(file: string, signal: AbortSignal): AsyncGenerator<SpanRecord> {
  let position = 0;
  let lines = new LineReader();
  while (!signal.aborted) {
    const { size } = (await stat(file).catch(ignoreMissing)) ?? { size: 0 };
    if (size < position) {
      position = 0;
      lines = new LineReader();
    }
    if (size === position) {
      await setTimeout(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
      continue;
    }
    for await (const chunk of readPieces(file, { start: position, end: size })) {
      if (signal.aborted) return;
      position += chunk.length;
      for (const line of lines.read(chunk)) {
        const span = line === undefined ? undefined : readSpan(line);
        if (span) yield span;
      }
    }
  }
}

/** Makes lines of what comes in pieces. A line that is too long is `undefined`. */
class LineReader {
  readonly #decoder = new StringDecoder('utf8');
  #pieces: string[] = [];
  #length = 0;

  get isTooLong(): boolean {
    return this.#length > MAX_LINE;
  }

  read(chunk: Buffer): (string | undefined)[] {
    const [first = '', ...others] = this.#decoder.write(chunk).split('\n');
    this.#add(first);
    return others.map((other) => {
      const line = this.#take();
      this.#add(other);
      return line;
    });
  }

  /** What stands behind the last line break. */
  end(): string | undefined {
    this.#add(this.#decoder.end());
    return this.#take();
  }

  #add(piece: string): void {
    this.#length += piece.length;
    if (this.isTooLong) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  #take(): string | undefined {
    const line = this.isTooLong ? undefined : this.#pieces.join('');
    [this.#pieces, this.#length] = [[], 0];
    return line;
  }
}
