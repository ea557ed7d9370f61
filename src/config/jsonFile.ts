import { isRecord } from '../hooks/merge.js';
import { describe, type Path } from './fields.js';
import { readGuardedFile, type GuardedReading } from './guardedFile.js';
import { formatPath } from './hookSettings.js';
import type { JsonDocument, Position } from './jsonDocument.js';
import type { FileProblem, SettingsFile } from './settings.js';

/** What became of reading a JSON file that decides what runs. */
export type JsonFileReading =
  | {
      readonly status: 'read';
      readonly value: Record<string, unknown>;
      readonly document: JsonDocument;
    }
  | { readonly status: 'missing' }
  | { readonly status: 'refused' | 'invalid'; readonly problem: FileProblem };

/** Receives what is wrong at `path` of a file; `position` where that is not where `path` begins. */
export type Warn = (
  path: Path,
  message: string,
  kind?: FileProblem['kind'],
  position?: Position,
) => void;

/**
 * Reads a JSON file, unless somebody else could have written it.
 *
 * @param what completes "expected …"
 * @returns never rejects
 */
export async function readJsonFile(source: SettingsFile, what: string): Promise<JsonFileReading> {
  const reading = await readFileOf(source.scope, source.file);
  if (reading.status === 'missing') return reading;
  if (reading.status === 'refused') {
    return { status: 'refused', problem: fileError(source, `refused: ${reading.reason}`) };
  }
  const { parseJsonDocument } = await import('./jsonDocument.js');
  const document = parseJsonDocument(reading.text);
  const { value, syntaxError } = document;
  if (syntaxError !== undefined) {
    const message = `not valid JSON: ${syntaxError.message}; nothing in this file counts until it is mended`;
    return { status: 'invalid', problem: fileError(source, message, syntaxError) };
  }
  if (!isRecord(value)) {
    const message = `expected ${what}, got ${describe(value)}; nothing in this file counts`;
    return { status: 'invalid', problem: fileError(source, message, document.locate([])) };
  }
  return { status: 'read', value, document };
}

/** Reads a file that decides what runs; that of a project may be written by its group. */
export function readFileOf(scope: SettingsFile['scope'], file: string): Promise<GuardedReading> {
  return readGuardedFile(file, { groupMayWrite: scope === 'project' || scope === 'file' });
}

/** After this problem, nothing of the file counts. */
export function fileError(
  { scope, file }: SettingsFile,
  message: string,
  { line, column }: Position = { line: 1, column: 1 },
): FileProblem {
  return { scope, file, line, column, path: '', message, severity: 'error' };
}

/** Adds what is wrong in a file to `problems`, with the place where it was written. */
export function warningInto(
  problems: FileProblem[],
  { scope, file }: SettingsFile,
  document: JsonDocument,
): Warn {
  return (path, message, kind = 'value', { line, column } = document.locate(path)) =>
    problems.push({
      scope,
      file,
      line,
      column,
      path: formatPath(path),
      message,
      severity: 'warning',
      kind,
    });
}

/** Reports keys that are written twice, below those top-level keys that `counts`. */
export function warnOfRepeatedKeys(
  document: JsonDocument,
  counts: (topLevelKey: string) => boolean,
  warn: Warn,
): void {
  for (const { path, position } of document.repeatedKeys) {
    if (!counts(String(path[0]))) continue;
    const message = 'written again further down, where it replaces this one; merge the two';
    warn(path, message, 'repeated-key', position);
  }
}

/** In the order in which they stand in their file. */
export function inFileOrder(problems: readonly FileProblem[]): readonly FileProblem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
}
