import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ConsentItem } from '../../hooks/entry.js';
import { sha256 } from '../../trust/consentItem.js';
import { writeForm } from '../../trust/consentForm.js';
import { lockFileIn } from '../../trust/consentStore.js';
import { writeAtomically } from '../../util/writeAtomically.js';

/** Writes the lock; returns the digest to hand to other machines. The same items make the same bytes. */
export async function writeLock(project: string, items: readonly ConsentItem[]): Promise<string> {
  const sorted = items.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
  const file = lockFileIn(project);
  const text = writeForm(file, (pack) => ({ items: pack(sorted) }));
  await mkdir(dirname(file), { recursive: true });
  await writeAtomically(file, text, 0o644);
  return sha256(text);
}
