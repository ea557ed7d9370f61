import { createHash } from 'node:crypto';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { errorMessage } from '../errorMessage.js';
import { findObjection } from './guardedFile.js';
import { isInside } from './namedFiles.js';

/** Files by the names that they have in lists, each with the digest of its bytes. */
export type FileDigests = Readonly<Record<string, string>>;

/** The digests of files, or why one of them must not be run. */
export interface Digesting {
  readonly files: FileDigests;
  readonly refusal?: string;
}

const MAX_BYTES = 512 * 1024 * 1024;
const MAX_FOLDER_BYTES = 32 * 1024 * 1024;
const MAX_FOLDER_FILES = 1000;

/**
 * Digests the bytes of files. Their names are relative to the project where they are in it, and tell where links lead,
 * so that they are the same on another machine.
 *
 * @param paths absolute paths
 */
export async function digestFiles(
  paths: readonly string[],
  project: string,
  maxBytes = MAX_BYTES,
): Promise<Digesting> {
  const digests: [name: string, sha256: string][] = [];
  let left = maxBytes;
  const result = (refusal?: string) => ({ files: Object.fromEntries(digests), refusal });
  try {
    for (const path of paths) {
      const real = await realpath(path);
      const name = nameOf(path, real, project);
      left -= (await stat(real)).size;
      if (left < 0) return result(`its files are too large to check: over ${maxBytes} bytes`);
      const digest = await digestFile(real);
      if (digest.refusal !== undefined) return result(`${name}: ${digest.refusal}`);
      digests.push([name, digest.sha256]);
    }
    return result();
  } catch (error) {
    return result(`its files cannot be read: ${errorMessage(error)}`);
  }
}

/** Digests every file of a folder, with what is below it. */
export async function digestFolder(folder: string, project: string): Promise<Digesting> {
  try {
    const paths = await listFolder(folder);
    if (typeof paths === 'string') return { files: {}, refusal: paths };
    return await digestFiles(paths, project, MAX_FOLDER_BYTES);
  } catch (error) {
    return { files: {}, refusal: `its folder cannot be read: ${errorMessage(error)}` };
  }
}

/** The digest of bytes, as it is written everywhere. */
export function sha256(bytes: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

async function listFolder(folder: string): Promise<string[] | string> {
  const paths: string[] = [];
  const folders = [folder];
  for (const current of folders) {
    for (const entry of await readdir(current, { withFileTypes: true })) {
      const path = join(current, entry.name);
      const isLink = entry.isSymbolicLink();
      const target = isLink ? await stat(path).catch(() => undefined) : entry;
      if (target?.isFile()) paths.push(path);
      else if (isLink && target?.isDirectory())
        return `${path} is a link to a folder, which is not checked: copy the folder`;
      else if (target?.isDirectory()) folders.push(path);
      if (paths.length + folders.length > MAX_FOLDER_FILES) {
        return `${folder} holds more than ${MAX_FOLDER_FILES} files, which is too much to check: bundle its modules`;
      }
    }
  }
  return paths.toSorted();
}

type FileDigest =
  | { readonly sha256: string; readonly refusal?: undefined }
  | { readonly refusal: string };

async function digestFile(file: string): Promise<FileDigest> {
  const handle = await open(file);
  try {
    const refusal = findObjection(file, await handle.stat(), true);
    if (refusal !== undefined) return { refusal };
    const hash = createHash('sha256');
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      hash.update(chunk as Uint8Array);
    }
    return { sha256: `sha256:${hash.digest('hex')}` };
  } finally {
    await handle.close();
  }
}

function nameOf(path: string, real: string, project: string): string {
  const named = relativeTo(project, path);
  const target = relativeTo(project, real);
  return named === target ? named : `${named} -> ${target}`;
}

function relativeTo(project: string, path: string): string {
  const shown = isInside(path, project) ? relative(project, path) : path;
  return shown.replaceAll(sep, '/');
}
