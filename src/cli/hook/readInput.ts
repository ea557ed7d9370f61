import { readSync } from 'node:fs';
import { errorMessage } from '../../util/errorMessage.js';

/** What an agent sent: JSON that was parsed, or why there is none. */
export type HookInputReading = { readonly value: unknown } | { readonly problem: string };

/** Tools may give megabytes; more than this nobody sends who means it. */
export const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/** Whoever writes too much is heard out, up to here: a closed pipe would be his fault then, and not the hook's. */
const MAX_READ_BYTES = 16 * MAX_INPUT_BYTES;

const CHUNK_BYTES = 64 * 1024;

/** Reads stdin to its end. Never rejects. */
export async function readInput(): Promise<HookInputReading> {
  const chunks: Buffer[] = [];
  let size = 0;
  const keep = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_INPUT_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    return size <= MAX_READ_BYTES;
  };
  try {
    // Streams take a while to load.
    if (!readAtOnce(keep)) {
      for await (const chunk of process.stdin) if (!keep(chunk as Buffer)) break;
    }
    if (size > MAX_INPUT_BYTES) {
      return { problem: `the input is larger than ${MAX_INPUT_BYTES / 1024 / 1024} MiB` };
    }
    return parseInput(Buffer.concat(chunks));
  } catch (error) {
    return notJson(error);
  }
}

/** Reads what an agent has sent, as a whole. */
export function parseInput(bytes: Buffer): HookInputReading {
  try {
    return { value: JSON.parse(bytes.toString()) as unknown };
  } catch (error) {
    return notJson(error);
  }
}

function notJson(error: unknown): HookInputReading {
  return { problem: `the input is not JSON (${errorMessage(error)})` };
}

/**
 * @param keep whether it wants more
 * @returns whether that was all; `false` where stdin cannot be waited for like this
 */
function readAtOnce(keep: (chunk: Buffer) => boolean): boolean {
  for (;;) {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    try {
      const bytes = readSync(0, buffer);
      if (bytes === 0 || !keep(buffer.subarray(0, bytes))) return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
      throw error;
    }
  }
}
