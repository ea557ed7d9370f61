import type { Readable, Writable } from 'node:stream';
import type { StartOptions } from '../command/execution.js';
import type { ProcessGroup } from '../command/processTable.js';
import type { CommandOptions, CommandOutcome } from '../command/outcome.js';

/** What is large and used more than once is sent once, and named by a number until it is forgotten. */
export type SharedId = number;

/** What the bytes behind it are: an input, or the JSON of an environment. */
export type SharedType = 'input' | 'environment';

/** A command as it is sent, its environment and its input by their numbers. */
export interface SentCommand extends Omit<
  CommandOptions,
  'env' | 'input' | 'signal' | 'start' | 'held'
> {
  readonly env: SharedId;
  /** Absent where the input is behind the message. */
  readonly input?: SharedId | undefined;
}

/** What starts ahead of its event, in an environment by its number. */
export interface SentStart extends Omit<StartOptions, 'env'> {
  readonly env: SharedId;
}

/** What a host tells its spawner. */
export type ToSpawner =
  | { readonly type: 'share'; readonly id: SharedId; readonly what: SharedType }
  | { readonly type: 'forget'; readonly id: SharedId }
  | { readonly type: 'run'; readonly id: number; readonly command: SentCommand }
  | { readonly type: 'abort'; readonly id: number }
  /** What will come: of those that do not say `prestart`, how many may be held. */
  | {
      readonly type: 'expect';
      readonly id: number;
      readonly start: SentStart;
      readonly max: number;
    }
  /** Lets go of all that waits in a directory. */
  | { readonly type: 'drop'; readonly cwd: string }
  /** All that is to end with the host, in place of what was named before. */
  | { readonly type: 'watch'; readonly groups: readonly WatchedGroup[] }
  | { readonly type: 'ping' };

/** A process that the host has started itself, with what it has started. */
export type WatchedGroup = Pick<ProcessGroup, 'id' | 'mark'>;

/** An outcome without its texts, which are the bytes behind it. */
export interface SentOutcome extends Omit<CommandOutcome, 'stdout' | 'stderr' | 'error'> {
  /** Of the bytes, how many are stdout. */
  readonly stdoutBytes: number;
  readonly error?: { readonly message: string; readonly code?: string | undefined } | undefined;
}

/** What a spawner tells its host. */
export type FromSpawner =
  /** From here on the command may have been started, as this run: that which it was held as, if it was. */
  | { readonly type: 'taken'; readonly id: number; readonly runId?: string | undefined }
  | { readonly type: 'ended'; readonly id: number; readonly outcome: SentOutcome }
  /** What was expected ended too early too often. */
  | { readonly type: 'gave-up'; readonly id: number }
  /** It is up, or still there. */
  | { readonly type: 'alive' };

/** Two lengths of four bytes each: of the message, and of the bytes behind it. */
const PREFIX_BYTES = 8;

const NO_BYTES = Buffer.alloc(0);

/**
 * Writes a message as JSON, and behind it bytes that are passed on as they are. To nobody where the other end is known to be
 * gone.
 */
export function writeFrame(stream: Writable, message: object, bytes: Uint8Array = NO_BYTES): void {
  if (!stream.writable) return;
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
 * @param onFrame called with what the other end is known to send, which is not checked
 * @param onBroken called for what cannot be read, or handled, or is too long; what comes after it is dropped
 */
export function readFrames(
  stream: Readable,
  onFrame: (message: never, bytes: Buffer) => void,
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
        onFrame(JSON.parse(text) as never, bytes);
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
