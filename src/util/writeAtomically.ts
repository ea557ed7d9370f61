import { open, rename, rm } from 'node:fs/promises';

// Not the package write-file-atomic: it follows links, and its draft has a name that can be guessed; a project may bring
// a link for either.

/**
 * Replaces a file as a whole, so that no reader ever sees half of it. A link in its place is replaced as well.
 *
 * @param file absolute path
 * @param mode its permissions, whatever the mask of the process. Default: those of a new file
 * @throws the file system's error; then the file is as it was
 */
export async function writeAtomically(
  file: string,
  content: string | Uint8Array,
  mode?: number,
): Promise<void> {
  // Only when something is written, as it takes two milliseconds to load.
  const { randomUUID } = await import('node:crypto');
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(draft, 'wx', mode ?? 0o644);
    try {
      await handle.writeFile(content);
      if (mode !== undefined) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
