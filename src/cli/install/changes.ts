import { createHash } from 'node:crypto';
import { rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { findFileObjection, readJsonFile } from '../../util/guardedFile.js';
import { requireHome } from '../../util/homeDirectory.js';
import { isInside, linkStatsOf, statsOf } from '../../util/paths.js';
import { isRecord } from '../../util/records.js';
import { replaceFile } from '../shared/editSettings.js';
import { ownFolder } from '../shared/privateFolder.js';
import { isThere } from '../shared/projectRoot.js';
import { UsageError } from '../shared/usageError.js';

/** What a file holds; `undefined` where there is none. */
type Text = string | undefined;

/** A file as it is and as it is to be. */
export interface FileChange {
  readonly file: string;
  readonly before: Text;
  readonly after: Text;
  /** What was there before the entries of hookstack, which only what is remembered of it brings back. */
  readonly original?: { readonly text: Text };
  readonly mode?: number;
}

/**
 * Makes all of these changes, or none. What cannot be seen any more in a file that has our entries is kept in the home
 * directory, for `--undo`: whether it was there, and what else it held.
 */
export async function makeChanges(changes: readonly FileChange[]): Promise<void> {
  if (changes.length === 0) return;
  const lost = changes.find(({ file, before }) => before === undefined && linkStatsOf(file));
  if (lost)
    throw new UsageError(`${lost.file} is a link to nothing, and is not written: remove it`);
  const memory = await recall();
  for (const { file, before, after, original } of changes) {
    memory.files.delete(file);
    if (before === undefined) for (const each of missingFolders(file)) memory.folders.add(each);
    if (!original || after === undefined) continue;
    memory.files.set(file, { after: hashOf(after), before: original.text ?? null });
  }
  await remember(memory);
  const done: FileChange[] = [];
  try {
    for (const change of changes) {
      await write(change);
      done.push(change);
    }
  } catch (error) {
    for (const { file, before, after, mode } of done.toReversed()) {
      await write({ file, before: after, after: before, ...(mode && { mode }) });
    }
    await removeFolders(memory, changes);
    throw error;
  }
  await removeFolders(memory, changes);
}

async function write({ file, after, mode }: FileChange): Promise<void> {
  await (after === undefined ? rm(file, { force: true }) : replaceFile(file, after, mode));
}

function missingFolders(file: string): string[] {
  const folder = path.dirname(file);
  return isThere(folder) ? [] : [folder, ...missingFolders(folder)];
}

/** Those that were made for these files, and are empty. */
async function removeFolders(memory: Memory, changes: readonly FileChange[]): Promise<void> {
  const made = [...memory.folders].filter((folder) =>
    changes.some(({ file }) => isInside(file, folder)),
  );
  for (const folder of made.toSorted((a, b) => b.length - a.length)) {
    await rmdir(folder).catch(() => undefined);
    if (!isThere(folder)) memory.folders.delete(folder);
  }
  await remember(memory);
}

/** @throws UsageError where others may write a folder on the way, and so put another file there */
export function requireOwnFolders(directory: string, file: string): void {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const stats = statsOf(folder);
    const objection = stats && findFileObjection(folder, stats, true);
    if (objection) throw new UsageError(`${file} is not written, for its folder: ${objection}`);
    const above = path.dirname(folder);
    if (above === directory || !isInside(above, directory)) return;
  }
}

interface Memory {
  /** Of each file, the hash of what was written, and what was there before; `null` for nothing. */
  readonly files: Map<string, { readonly after: string; readonly before: string | null }>;
  /** That were made for a file. */
  readonly folders: Set<string>;
}

/** What a file held before; `undefined` where that is not known, or the file was changed since. */
export async function recallOriginal(
  file: string,
  now: Text,
): Promise<{ readonly text: Text; readonly isUnchanged: boolean } | undefined> {
  const kept = (await recall()).files.get(file);
  if (!kept || now === undefined) return undefined;
  return { text: kept.before ?? undefined, isUnchanged: kept.after === hashOf(now) };
}

const memoryFile = () => path.join(requireHome(), '.llxprt', 'installed.json');

async function recall(): Promise<Memory> {
  const reading = await readJsonFile(memoryFile(), { groupMayWrite: false });
  const { files, folders } = reading.status === 'read' ? reading.value : {};
  const known = Object.entries(isRecord(files) ? files : {}).flatMap(([file, kept]) => {
    const { after, before } = isRecord(kept) ? kept : {};
    const isText = before === null || typeof before === 'string';
    return typeof after === 'string' && isText ? [[file, { after, before }] as const] : [];
  });
  const listed: readonly unknown[] = Array.isArray(folders) ? folders : [];
  return {
    files: new Map(known),
    folders: new Set(listed.filter((each) => typeof each === 'string')),
  };
}

async function remember({ files, folders }: Memory): Promise<void> {
  if (files.size + folders.size === 0) return rm(memoryFile(), { force: true });
  const text = JSON.stringify({ files: Object.fromEntries(files), folders: [...folders] });
  await replaceFile(ownFolder(path.basename(memoryFile())), `${text}\n`, 0o600);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
