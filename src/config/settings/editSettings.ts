import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { applyEdits, modify, type FormattingOptions } from 'jsonc-parser';
import { isRecord } from '../../util/records.js';
import { describe, type Path } from '../../util/checks.js';
import { readGuardedFile } from '../../util/guardedFile.js';
import { parseJsonDocument, type JsonDocument } from '../../util/jsonDocument.js';

/** One change of a settings file. */
export interface SettingsEdit {
  /** Such as `['hooks', 'BeforeTool', 0]`; what is missing on the way is created. */
  readonly path: Path;
  /** The value to write; `undefined` removes what is there. */
  readonly value: unknown;
  /** Adds an item to the array at this index instead of replacing one. */
  readonly isInsertion?: boolean;
}

/** What becomes of a settings file. */
export interface SettingsChange {
  /** Its text now; empty where there is no file. */
  readonly before: string;
  readonly after: string;
}

/**
 * Changes a settings file and leaves everything else in it as it is: comments, order, indentation; only the line that
 * a change touches may be laid out anew. A file that is missing is created. It is replaced as a whole, so that nobody
 * reads half of it.
 *
 * @param file absolute path
 * @returns whether the file has changed
 * @throws Error when the file is no settings file, somebody else could have written it, or it cannot be written
 */
export async function editSettings(file: string, decide: SettingsDecision): Promise<boolean> {
  const { before, after } = await planSettings(file, decide);
  if (after === before) return false;
  await replaceFile(file, after);
  return true;
}

/** Gets what a settings file says now, and returns the changes; they are made one after the other. */
export type SettingsDecision = (
  current: Readonly<Record<string, unknown>>,
) => readonly SettingsEdit[];

/**
 * What `editSettings` would do, without doing it.
 *
 * @throws Error when the file is no settings file, or somebody else could have written it
 */
export async function planSettings(
  file: string,
  decide: SettingsDecision,
): Promise<SettingsChange> {
  const reading = await readGuardedFile(file, { groupMayWrite: true });
  if (reading.status === 'refused') throw new Error(`${file} is not changed: ${reading.reason}`);
  const before = reading.status === 'read' ? reading.text : '';
  const { settings, repeatedKeys } = parseSettings(file, before);
  const edits = decide(settings);
  for (const { path } of edits) refuseRepeatedKey(file, path, repeatedKeys);
  const after = edits.reduce(applyEdit, before);
  const isComplete = after === before || after.endsWith('\n');
  return { before, after: isComplete ? after : `${after}\n` };
}

interface ParsedSettings extends Pick<JsonDocument, 'repeatedKeys'> {
  readonly settings: Record<string, unknown>;
}

function parseSettings(file: string, text: string): ParsedSettings {
  if (text.trim() === '') return { settings: {}, repeatedKeys: [] };
  const { value, syntaxError, repeatedKeys } = parseJsonDocument(text);
  if (syntaxError) {
    const { line, column, message } = syntaxError;
    throw new Error(`${file}:${line}:${column}: not valid JSON: ${message}; mend it first`);
  }
  if (isRecord(value)) return { settings: value, repeatedKeys };
  throw new Error(`${file}: expected an object of settings, got ${describe(value)}; mend it first`);
}

/** The first of two keys would be edited, and the last one counts. */
function refuseRepeatedKey(
  file: string,
  edited: Path,
  repeatedKeys: JsonDocument['repeatedKeys'],
): void {
  const repeated = repeatedKeys.find(({ path }) => path.every((step, at) => step === edited[at]));
  if (repeated === undefined) return;
  const { line, column } = repeated.position;
  const key = String(repeated.path.at(-1));
  throw new Error(
    `${file}:${line}:${column}: not changed: "${key}" is written again below, and only the last one counts; remove one of them first`,
  );
}

function applyEdit(text: string, { path, value, isInsertion }: SettingsEdit): string {
  const edits = modify(text, [...path], value, {
    formattingOptions: formattingOf(text),
    isArrayInsertion: isInsertion,
  });
  return applyEdits(text, edits);
}

/** The way in which the file is written already. */
function formattingOf(text: string): FormattingOptions {
  const indentation = /^[ \t]+(?=\S)/m.exec(text)?.[0] ?? '  ';
  const insertSpaces = !indentation.startsWith('\t');
  return {
    insertSpaces,
    tabSize: insertSpaces ? indentation.length : 1,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  // A link stays one, and so do the permissions.
  const target = await realpath(file).catch(() => file);
  const mode = await stat(target).then(
    (stats) => stats.mode & 0o777,
    () => 0o644,
  );
  const draft = `${target}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode, flag: 'wx' });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
