import { closeSync, constants, openSync, readSync } from 'node:fs';

/** Opening a pipe waits for its other end otherwise. Windows has no such flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The first bytes of a file, at most `length`.
 *
 * @throws the system's error, where it cannot be read
 */
export function readStart(file: string, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  const descriptor = openSync(file, FLAGS);
  try {
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, 0));
  } finally {
    closeSync(descriptor);
  }
}
