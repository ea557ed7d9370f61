import { closeSync, constants, openSync, readSync } from 'node:fs';

/** To open a file for reading: without waiting for the other end, should it be a pipe. Windows has no such flag. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The first bytes of a file, at most `length`.
 *
 * @throws the system's error, where it cannot be read
 */
export function readStart(file: string, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  const descriptor = openSync(file, READ_FLAGS);
  try {
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, 0));
  } finally {
    closeSync(descriptor);
  }
}
