import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { errorMessage } from './errorMessage.js';
import { waitForDescriptors } from './descriptors.js';

/**
 * The one door through which files are read. A project, an extension or another user may have put anything in the place
 * of a file: a link to a device, a named pipe, gigabytes. So a file is opened once, without waiting for another end; what
 * was opened has to be a regular file of a limited size; and no more than that is read, of that very file.
 */

export interface ReadLimits {
  /** In bytes. A larger file is refused. Default 16 MiB. */
  readonly maxBytes?: number | undefined;
  /** Why this file is not to be read, such as who may write it. */
  readonly objectTo?: ((stats: Stats) => string | undefined) | undefined;
}

/** A file that must not be read, as opposed to one that cannot be. */
export class RefusedFile extends Error {
  override readonly name = 'RefusedFile';

  /** @param reason what is wrong with it, and what to do about that */
  constructor(
    file: string,
    readonly reason: string,
  ) {
    super(`${file}: ${reason}`);
  }
}

/** What is wrong with a file, for a message that names it. */
export function reasonOf(error: unknown): string {
  return error instanceof RefusedFile ? error.reason : errorMessage(error);
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
/** Ms for one file, or for each piece of one that is read in pieces: a network drive may not answer. */
const READ_MS = 10_000;
const CHUNK_BYTES = 256 * 1024;

// A flag that a system lacks, as Windows does some, is `undefined`, which counts as 0.
const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW, O_RDWR } = constants;
const READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY;
const OWN_FLAGS = O_RDWR | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;

/**
 * The bytes of a file.
 *
 * @throws RefusedFile, or the system's error
 */
export async function readBytes(file: string, limits: ReadLimits = {}): Promise<Buffer> {
  const reading = withRegularFile(file, limits, async (handle, { size }) => {
    const bytes = gather(file, limits, size);
    let step = bytes.next();
    while (!step.done) step = bytes.next((await handle.read(step.value, 0)).bytesRead);
    return step.value;
  });
  return inTime(file, reading);
}

/** The same as {@link readBytes}, at once. Whoever waits for it cannot be told when a drive does not answer. */
export function readBytesSync(file: string, limits: ReadLimits = {}): Buffer {
  const descriptor = openSync(file, READ_FLAGS);
  try {
    const stats = fstatSync(descriptor);
    check(file, stats, limits);
    const bytes = gather(file, limits, stats.size);
    let step = bytes.next();
    while (!step.done) step = bytes.next(readSync(descriptor, step.value));
    return step.value;
  } finally {
    closeSync(descriptor);
  }
}

/** The text of a file in UTF-8, without a byte order mark; else as {@link readBytes}. */
export async function readText(file: string, limits?: ReadLimits): Promise<string> {
  return new TextDecoder().decode(await readBytes(file, limits));
}

/** The text of a file in UTF-8, without a byte order mark; else as {@link readBytesSync}. */
export function readTextSync(file: string, limits?: ReadLimits): string {
  return new TextDecoder().decode(readBytesSync(file, limits));
}

/** The first bytes of a file of any size, at most `length`; else as {@link readBytesSync}. */
export function readStart(file: string, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  const descriptor = openSync(file, READ_FLAGS);
  try {
    check(file, fstatSync(descriptor), { maxBytes: Infinity });
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * A file of any size in pieces, as they are asked for.
 *
 * @param range in bytes; `end` is not part of it. Default: all of it
 */
export async function* readPieces(
  file: string,
  range?: { readonly start?: number; readonly end?: number },
): AsyncGenerator<Buffer> {
  const { handle } = await openRegular(file, { maxBytes: Infinity });
  try {
    yield* piecesOf(file, handle, range);
  } finally {
    // Closing waits for what is being read.
    await inTime(file, handle.close());
  }
}

/** Pieces of a file that is open; else as {@link readPieces}. */
export async function* piecesOf(
  file: string,
  handle: FileHandle,
  { start = 0, end = Infinity }: { readonly start?: number; readonly end?: number } = {},
): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    const length = Math.min(CHUNK_BYTES, end - at);
    const chunk = Buffer.allocUnsafe(length);
    const position = at;
    const { bytesRead } = await inTime(file, handle.read(chunk, 0, length, position));
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

/**
 * Does something with a file that is open, and closes it.
 *
 * @param limits with `isOwn`, it may be written, too, and is no link
 * @throws RefusedFile, the system's error, or what `work` throws
 */
export async function withRegularFile<T>(
  file: string,
  limits: ReadLimits & { readonly isOwn?: boolean },
  work: (handle: FileHandle, stats: Stats) => Promise<T>,
): Promise<T> {
  const { handle, stats } = await openRegular(file, limits, limits.isOwn ? OWN_FLAGS : READ_FLAGS);
  try {
    return await work(handle, stats);
  } finally {
    // Closing waits for what is being read.
    await inTime(file, handle.close());
  }
}

async function openRegular(file: string, limits: ReadLimits, flags = READ_FLAGS) {
  const opening = openAndCheck(file, limits, flags);
  try {
    return await inTime(file, opening);
  } catch (error) {
    // A file that opens after its time is closed again.
    opening.then(
      ({ handle }) => handle.close(),
      () => undefined,
    );
    throw error;
  }
}

async function openAndCheck(file: string, limits: ReadLimits, flags: number) {
  const handle = await waitForDescriptors(() => open(file, flags));
  try {
    const stats = await handle.stat();
    check(file, stats, limits);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function check(
  file: string,
  stats: Stats,
  { maxBytes = DEFAULT_MAX_BYTES, objectTo }: ReadLimits,
): void {
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? 'a directory' : 'no regular file';
    throw new RefusedFile(file, `it is ${kind}; put a file there, or remove it`);
  }
  const objection = objectTo?.(stats);
  if (objection !== undefined) throw new RefusedFile(file, objection);
  if (stats.size > maxBytes) throw tooLarge(file, maxBytes);
}

function tooLarge(file: string, maxBytes: number): RefusedFile {
  const limit = `${maxBytes.toLocaleString('en')} bytes`;
  return new RefusedFile(
    file,
    `it is larger than the ${limit} that are read of it; make it smaller, or remove it`,
  );
}

function tooSlow(file: string): RefusedFile {
  return new RefusedFile(
    file,
    `it could not be read within ${READ_MS / 1000} s; look at the drive that it is on, or remove it`,
  );
}

/**
 * Yields where to read to, is told how many bytes that were, and returns all of them. Files of the system say that they
 * are empty, and those that grow say too little.
 */
function* gather(
  file: string,
  { maxBytes = DEFAULT_MAX_BYTES }: ReadLimits,
  size: number,
): Generator<Buffer, Buffer, number> {
  const until = performance.now() + READ_MS;
  const pieces: Buffer[] = [];
  let length = 0;
  // With room for one more, of which there is to be none.
  let next = Buffer.allocUnsafe(size + 1);
  for (let count = yield next; count > 0; count = yield next) {
    pieces.push(next.subarray(0, count));
    length += count;
    if (length > maxBytes) throw tooLarge(file, maxBytes);
    if (performance.now() > until) throw tooSlow(file);
    next = count < next.length ? next.subarray(count) : Buffer.allocUnsafe(CHUNK_BYTES);
  }
  const [first] = pieces;
  return pieces.length === 1 && first ? first : Buffer.concat(pieces);
}

async function inTime<T>(file: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooSlow(file)), READ_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
