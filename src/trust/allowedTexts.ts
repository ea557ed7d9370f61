import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ConsentItem } from '../hooks/entry.js';
import { readGuardedFile } from '../util/guardedFile.js';
import { readBytes } from '../util/guardedRead.js';
import { writeAtomically } from '../util/writeAtomically.js';
import { sha256 } from './consentItem.js';

/** In bytes. What is longer is not kept, and shown as a whole when it has changed. */
const MAX_TEXT = 64 * 1024;
/** Of one project. Hooks have few; extensions may hold much else. */
const MAX_TEXTS = 200;

/** Where copies of allowed files are, beside the file of consents. They are only ever shown. */
function folderOf(store: string): string {
  return join(dirname(store), 'trusted-texts');
}

/** The name of a copy, if the digest is that of bytes. Behind it may stand where a link leads. */
function nameOf(digest: string): string | undefined {
  return /^sha256:([0-9a-f]{64})(?: |$)/.exec(digest)?.[1];
}

/** What was allowed, to compare it with what is there now; `undefined` where no copy is kept. */
export async function readAllowedText(store: string, digest: string): Promise<string | undefined> {
  const name = nameOf(digest);
  if (name === undefined) return undefined;
  const file = join(folderOf(store), name);
  const reading = await readGuardedFile(file, { groupMayWrite: false, maxBytes: MAX_TEXT });
  if (reading.status !== 'read') return undefined;
  return sha256(reading.text) === `sha256:${name}` ? reading.text : undefined;
}

/**
 * Keeps the texts that a project's items cover, as far as they are still there, and drops those that no consent names
 * any more. Nothing depends on them, so that what cannot be kept is left out.
 *
 * @param all what is allowed in all projects
 */
export async function tidyTexts(
  store: string,
  project: string,
  items: readonly ConsentItem[],
  all: Iterable<readonly ConsentItem[]>,
): Promise<void> {
  const folder = folderOf(store);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const present = new Set(await readdir(folder));
    await keep(folder, project, items, present);
    const named = new Set(
      Array.from(all).flatMap((list) =>
        list.flatMap(({ files }) => Object.values(files).map(nameOf)),
      ),
    );
    for (const name of present) {
      if (!named.has(name)) await rm(join(folder, name), { force: true });
    }
  } catch {
    // The consents are written, and are what counts.
  }
}

async function keep(
  folder: string,
  project: string,
  items: readonly ConsentItem[],
  present: ReadonlySet<string>,
): Promise<void> {
  const files = items.flatMap(({ files: digests }) => Object.entries(digests));
  const paths = new Map(files.map(([path, digest]) => [nameOf(digest) ?? '', path]));
  for (const [name, path] of [...paths].slice(0, MAX_TEXTS)) {
    if (present.has(name)) continue;
    const text = await readSmallText(resolve(project, path));
    if (text === undefined || sha256(text) !== `sha256:${name}`) continue;
    await writeAtomically(join(folder, name), text, 0o600);
  }
}

async function readSmallText(file: string): Promise<string | undefined> {
  const bytes = await readBytes(file, { maxBytes: MAX_TEXT }).catch(() => undefined);
  return bytes?.includes(0) ? undefined : bytes?.toString();
}
