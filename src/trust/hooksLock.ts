import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from './consentItem.js';
import type { ConsentItem } from '../hooks/entry.js';
import { FORM, isKnownVersion, readItems, refusalOf, type ConsentReading } from './consentStore.js';
import { readJsonFile } from '../util/jsonFile.js';
import { writeAtomically } from '../util/writeAtomically.js';

/** The lock of a project: what may run there, for machines that know the digest of this very file. */
export function lockFileIn(project: string): string {
  return join(project, '.llxprt', 'hooks.lock');
}

/** Writes the lock; returns the digest to hand to other machines. The same items make the same bytes. */
export async function writeLock(project: string, items: readonly ConsentItem[]): Promise<string> {
  const sorted = items.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
  const text = `${JSON.stringify({ version: FORM, items: sorted }, undefined, 2)}\n`;
  const file = lockFileIn(project);
  await mkdir(dirname(file), { recursive: true });
  await writeAtomically(file, text, 0o644);
  return sha256(text);
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
  const reading = await readJsonFile(file, { groupMayWrite: true });
  if (reading.status === 'missing') return { refusal: `${file} does not exist` };
  if (reading.status === 'refused') return refusalOf(file, reading);
  const actual = sha256(reading.text);
  if (actual !== trusted.trim().toLowerCase()) {
    return { refusal: `${file} is ${actual}, not ${trusted}` };
  }
  const { version, items } = reading.status === 'read' ? reading.value : {};
  if (!isKnownVersion(version)) return { refusal: `${file} is not a lock` };
  return { content: readItems(items) };
}
