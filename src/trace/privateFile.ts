import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, openSync } from 'node:fs';

/**
 * Makes the file its owner's alone. Pipes and devices are opened as they are. The caller closes the descriptor.
 * Throws the file system's error, or an Error for a link or somebody else's file.
 */
export function openPrivately(file: string, mode: 'append' | 'replace'): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  // Non-blocking: opening a named pipe would otherwise wait for its reader. Some systems lack the last two.
  const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  const descriptor = openUnlessLink(file, mode === 'append' ? flags | O_APPEND : flags);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return descriptor;
    const me = process.getuid?.();
    if (me !== undefined && stats.uid !== me) throw new Error(`it belongs to user ${stats.uid}`);
    if (me !== undefined && (stats.mode & 0o077) !== 0) fchmodSync(descriptor, 0o600);
    if (mode === 'replace') ftruncateSync(descriptor);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function openUnlessLink(file: string, flags: number): number {
  try {
    return openSync(file, flags, 0o600);
  } catch (cause) {
    const isLink = cause instanceof Error && 'code' in cause && cause.code === 'ELOOP';
    throw isLink ? new Error('it is a link to another file', { cause }) : cause;
  }
}
