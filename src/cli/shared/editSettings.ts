import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { editJson, type JsonEdit } from './editJson.js';
import type { Path } from '../../util/checks.js';
import type { JsonDocument } from '../../util/jsonDocument.js';
import { readJsonFile, type JsonReading } from '../../util/guardedFile.js';
import { readBytes } from '../../util/guardedRead.js';
import { writeAtomically } from '../../util/writeAtomically.js';
import { diffLines } from '../../trace/diff.js';
import { paint, toVisible } from './terminal.js';

/** The text of a settings file before and after a change; empty where there is no file. */
export interface SettingsChange {
  readonly before: string;
  readonly after: string;
}

/**
 * Changes a settings file, and nothing of it but the lines of the change; see `editJson`. A missing file is created.
 *
 * @param file absolute path
 * @returns whether the file has changed
 * @throws Error when the file is not a settings file, somebody else could have written it, or it cannot be written
 */
export async function editSettings(file: string, decide: SettingsDecision): Promise<boolean> {
  const { before, after } = await planSettings(file, decide);
  if (after === before) return false;
  await replaceFile(file, after);
  return true;
}

/** Gets the settings as they are now, and returns the edits, which are made one after the other. */
export type SettingsDecision = (current: Readonly<Record<string, unknown>>) => readonly JsonEdit[];

/**
 * What `editSettings` would do, without doing it.
 *
 * @throws Error when the file is not a settings file, or somebody else could have written it
 */
export async function planSettings(
  file: string,
  decide: SettingsDecision,
): Promise<SettingsChange> {
  const { settings, text: before, repeatedKeys } = await readSettings(file);
  const edits = decide(settings);
  for (const { path } of edits) refuseRepeatedKey(file, path, repeatedKeys);
  const after = edits.reduce(editJson, before);
  const isComplete = after === before || after.endsWith('\n');
  return { before, after: isComplete ? after : `${after}\n` };
}

async function readSettings(file: string) {
  const reading = await readJsonFile(file, { groupMayWrite: true }, 'an object of settings');
  if (reading.status === 'read') {
    if (reading.text.includes('\uFFFD')) throw new Error(`${file} is not changed: ${NO_UTF_8}`);
    const { value, document, text } = reading;
    return { settings: value, text, repeatedKeys: document.repeatedKeys };
  }
  if (reading.status === 'refused') throw new Error(`${file} is not changed: ${reading.reason}`);
  const text = reading.status === 'missing' ? '' : reading.text;
  if (reading.status === 'missing' || text.trim() === '') {
    return { settings: {}, text, repeatedKeys: [] };
  }
  throw new Error(explainInvalid(file, reading));
}

const NO_UTF_8 =
  'it holds a character that could not be read, and would be lost: save it as UTF-8, without U+FFFD';

/** For those who cannot go on without the file. */
export function explainInvalid(
  file: string,
  { reason, position: { line, column } }: Extract<JsonReading, { status: 'invalid' }>,
): string {
  return `${file}:${line}:${column}: ${reason}; fix it first`;
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

/**
 * Writes a file as a whole. A link stays one, and so do the permissions, and a byte order mark.
 *
 * @param mode that of a file that is not there yet
 */
export async function replaceFile(file: string, text: string, mode?: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const target = await realpath(file).catch(() => file);
  const stats = await stat(target).catch(() => undefined);
  const bytes = stats?.isFile() ? await readBytes(target) : undefined;
  const mark = bytes?.subarray(0, MARK.length).equals(MARK) ? MARK.toString() : '';
  await writeAtomically(target, mark + text, stats ? stats.mode & 0o777 : mode);
}

const MARK = Buffer.from('\uFEFF');

/** Lines shown around a change. */
const CONTEXT = 3;
/** More changed lines are not matched. */
const MAX_CHANGED = 1000;

export function diffSettings(before: string, after: string): string[] {
  const texts = [before, after].map((text) => text.replaceAll('\r\n', '\n'));
  const hunks = diffLines(...(texts as [string, string]), CONTEXT, MAX_CHANGED);
  return hunks.flatMap((hunk, index) => (index === 0 ? hunk : ['@@', ...hunk]));
}

/** A line of a diff, for a terminal. */
export function paintDiff(line: string): string {
  // Tabs are the indentation of the file.
  const text = line.slice(0, 1) + line.slice(1).split('\t').map(toVisible).join('\t');
  if (line.startsWith('+')) return paint('green', text);
  return line.startsWith('-') ? paint('red', text) : text;
}
