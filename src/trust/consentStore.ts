import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRecord } from '../util/records.js';
import { requireHome } from '../util/homeDirectory.js';
import { tidyTexts } from './allowedTexts.js';
import { whileLocked } from '../util/fileLock.js';
import { readJsonFile } from '../util/guardedFile.js';
import { writeAtomically } from '../util/writeAtomically.js';
import { MAX_FORM_BYTES, readForm, writeForm } from './consentForm.js';
import { sha256 } from './consentItem.js';
import type { ConsentItem } from '../hooks/entry.js';

/** What somebody has allowed, by the real path of the project. */
export type Consents = ReadonlyMap<string, readonly ConsentItem[]>;

/** What was read of a file that allows something, or why it allows nothing. */
type ConsentReading<T> =
  | { readonly content: T; readonly refusal?: undefined; readonly isTemporary?: undefined }
  | {
      readonly content?: undefined;
      readonly refusal: string;
      /** Whether there was no descriptor to read it with, so that it is to be read again. */
      readonly isTemporary?: boolean;
    };

/** What one file allows, as last read. */
export class AllowedItems {
  items: readonly ConsentItem[] = [];
  /** Why the file allows nothing. */
  refusal: string | undefined;
  /** Whether it could not be read for want of descriptors, and is read again. */
  isInDoubt = false;
  /** The state of the file that this is of. */
  signature: string | undefined;

  /** @param signature another one than before where the file may have changed */
  async refresh(
    signature: string,
    read: () => Promise<ConsentReading<readonly ConsentItem[]>>,
  ): Promise<void> {
    if (signature === this.signature) return;
    const { content = [], refusal, isTemporary = false } = await read();
    this.items = content;
    this.refusal = refusal;
    this.isInDoubt = isTemporary;
    this.signature = isTemporary ? undefined : signature;
  }
}

/** Outside of every project, so that none can bring it. Throws where the user has no home directory. */
export function consentFileIn(home = requireHome()): string {
  return join(home, '.llxprt', 'trusted-hooks.json');
}

/** A missing file holds none; one that somebody else could have written is refused. */
export async function readConsents(file: string): Promise<ConsentReading<Consents>> {
  const reading = await readJsonFile(file, { groupMayWrite: false, maxBytes: MAX_FORM_BYTES });
  if (reading.status === 'missing') return { content: new Map() };
  if (reading.status === 'refused') return refusalOf(file, reading);
  const form = reading.status === 'read' ? reading.value : {};
  const [readItems, projects] = [readForm(form), form['projects']];
  if (!readItems || !isRecord(projects)) {
    return { refusal: `${file} is damaged, and allows nothing; remove it` };
  }
  return {
    content: new Map(
      Object.entries(projects).map(([project, items]) => [project, readItems(items)] as const),
    ),
  };
}

function refusalOf(
  file: string,
  { reason, isShortage }: { readonly reason: string; readonly isShortage?: boolean },
): ConsentReading<never> {
  return { refusal: `${file}: ${reason}`, isTemporary: isShortage === true };
}

/**
 * Replaces the consents of one project, as several processes may do at once.
 *
 * @param items what is allowed from now on; an empty list forgets the project
 * @throws Error when the file is refused, would be too large to be read, or cannot be written; it is then as it was
 */
export async function writeConsents(
  file: string,
  project: string,
  items: readonly ConsentItem[],
): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await whileLocked(file, () => replaceConsents(file, project, items));
}

async function replaceConsents(
  file: string,
  project: string,
  items: readonly ConsentItem[],
): Promise<void> {
  const { content, refusal } = await readConsents(file);
  if (!content) throw new Error(refusal);
  const projects = new Map(content).set(project, items);
  if (items.length === 0) projects.delete(project);
  const sorted = [...projects].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = writeForm(file, (pack) => ({
    projects: Object.fromEntries(sorted.map(([path, allowed]) => [path, pack(allowed)])),
  }));
  await writeAtomically(file, text, 0o600);
  await tidyTexts(file, project, items, projects.values());
}

/** The lock of a project: what may run there, for machines that know the digest of this very file. */
export function lockFileIn(project: string): string {
  return join(project, '.llxprt', 'hooks.lock');
}

/**
 * Reads what a lock allows.
 *
 * @param trusted the digest of the lock's bytes, from outside of the project
 */
export async function readLock(
  project: string,
  trusted: string,
): Promise<ConsentReading<readonly ConsentItem[]>> {
  const file = lockFileIn(project);
  const reading = await readJsonFile(file, { groupMayWrite: true, maxBytes: MAX_FORM_BYTES });
  if (reading.status === 'missing') return { refusal: `${file} does not exist` };
  if (reading.status === 'refused') return refusalOf(file, reading);
  const actual = sha256(reading.text);
  if (actual !== trusted.trim().toLowerCase()) {
    return { refusal: `${file} is ${actual}, not ${trusted}` };
  }
  const form = reading.status === 'read' ? reading.value : {};
  const readItems = readForm(form);
  return readItems ? { content: readItems(form['items']) } : { refusal: `${file} is not a lock` };
}
