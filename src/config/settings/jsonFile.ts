import { isRecord } from '../../util/records.js';
import { isShortage, onDemand, waitForDescriptors } from '../../util/room.js';
import { errorMessage } from '../../util/errorMessage.js';
import { describe, textOf, type Message, type Path } from '../../util/checks.js';
import { readGuardedFile, type GuardedFileOptions } from '../../util/guardedFile.js';
import { countHooks, formatPath } from '../../hooks/hookSettings.js';
import type { JsonDocument, Position } from '../../util/jsonDocument.js';
import type { FileProblem, SettingsFile } from './settings.js';

/** What became of reading a JSON file that decides what runs. */
export type JsonFileReading =
  | {
      readonly status: 'read';
      readonly value: Record<string, unknown>;
      readonly document: JsonDocument;
      /** The length of the text that was read. */
      readonly size: number;
    }
  | { readonly status: 'missing' }
  | {
      readonly status: 'refused' | 'invalid';
      readonly problem: FileProblem;
      /** The length of the text that was read, if any. */
      readonly size?: number;
      /** The system has no descriptors left, and may have some later. */
      readonly isShortage?: boolean;
    };

/** Larger files of a project are refused: they are read before anybody has allowed anything of it. */
export const MAX_PROJECT_FILE_BYTES = 1024 * 1024;

/** More hooks, or groups of hooks, of a project are refused. */
export const MAX_PROJECT_HOOKS = 1000;

/** At most this many problems of one file, or of a project's extensions together, are told. */
export const MAX_PROBLEMS = 20;

const loadParser = onDemand(() => import('../../util/jsonDocument.js'));

/** Receives what is wrong at `path` of a file; `position` where that is not where `path` begins. */
export type Warn = (
  path: Path,
  message: Message,
  kind?: FileProblem['kind'],
  position?: Position,
) => void;

/**
 * Reads a JSON file, unless somebody else could have written it, or it is too large: 1 MiB for one of a project, 16 MiB
 * for others.
 *
 * @param what completes "expected …"
 * @returns never rejects
 */
export async function readJsonFile(source: SettingsFile, what: string): Promise<JsonFileReading> {
  const reading = await readGuardedFile(source.file, guardOf(source.scope));
  if (reading.status === 'missing') return reading;
  if (reading.status === 'refused') return refused(source, reading);
  try {
    const { parseJsonDocument } = await waitForDescriptors(loadParser);
    const { text } = reading;
    return readDocument(source, what, parseJsonDocument(text), text.length);
  } catch (error) {
    const reason = `it cannot be read (${errorMessage(error)})`;
    return refused(source, { reason, isShortage: isShortage(error) });
  }
}

function refused(
  source: SettingsFile,
  { reason, isShortage: isTemporary }: { reason: string; isShortage?: boolean },
): JsonFileReading {
  const problem = fileError(source, `refused: ${reason}`);
  return { status: 'refused', problem, isShortage: isTemporary };
}

function readDocument(
  source: SettingsFile,
  what: string,
  document: JsonDocument,
  size: number,
): JsonFileReading {
  const { value, syntaxError } = document;
  if (syntaxError !== undefined) {
    const message = `not valid JSON: ${syntaxError.message}; nothing in this file counts until it is mended`;
    return { status: 'invalid', problem: fileError(source, message, syntaxError), size };
  }
  if (!isRecord(value)) {
    const message = `expected ${what}, got ${describe(value)}; nothing in this file counts`;
    return { status: 'invalid', problem: fileError(source, message, document.locate([])), size };
  }
  return { status: 'read', value, document, size };
}

/** Which files of a scope are refused: those of a project may be written by its group. */
export function guardOf(scope: SettingsFile['scope']): GuardedFileOptions {
  return {
    groupMayWrite: scope === 'project' || scope === 'file',
    maxBytes: scope === 'project' ? MAX_PROJECT_FILE_BYTES : undefined,
  };
}

/** After this problem, nothing of the file counts. */
export function fileError(
  { scope, file }: SettingsFile,
  message: string,
  { line, column }: Position = { line: 1, column: 1 },
): FileProblem {
  return { scope, file, line, column, path: '', message, severity: 'error' };
}

function isGrave(kind: FileProblem['kind']): boolean {
  return kind === 'value' || kind === 'unsupported' || kind === 'unknown-event';
}

/** What is wrong in one file, each with the place where it was written: the first twenty, and how many more. */
export class ProblemList {
  readonly #problems: FileProblem[] = [];
  #omitted = 0;
  #worstOmitted: FileProblem['kind'];

  constructor(
    private readonly source: SettingsFile,
    private readonly document: JsonDocument,
  ) {}

  readonly warn: Warn = (path, message, kind = 'value', position) => {
    if (this.#problems.length >= MAX_PROBLEMS) {
      this.#omitted += 1;
      if (!this.#worstOmitted || isGrave(kind)) this.#worstOmitted = kind;
      return;
    }
    const { line, column } = position ?? this.document.locate(path);
    this.#add({ line, column, path: formatPath(path), message: textOf(message), kind });
  };

  /** In the order in which they stand in the file. */
  inOrder(): readonly FileProblem[] {
    const inOrder = this.#problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
    if (this.#omitted === 0) return inOrder;
    const message = `${this.#omitted} more like these; fix those above first`;
    const place = { line: 1, column: 1, path: '' };
    const rest = { ...this.source, ...place, message, severity: 'warning' } as const;
    return [...inOrder, { ...rest, kind: this.#worstOmitted }];
  }

  #add(problem: Omit<FileProblem, 'scope' | 'file' | 'severity'>): void {
    const { scope, file } = this.source;
    this.#problems.push({ scope, file, ...problem, severity: 'warning' });
  }
}

/** Why the hooks of a project are refused that has more than anybody can read. */
export function tooManyHooks(hooks: unknown): string {
  const count = countHooks(hooks).toLocaleString('en');
  const limit = MAX_PROJECT_HOOKS.toLocaleString('en');
  return `refused: it holds ${count} hooks, and a project may have ${limit}; nothing in this file counts until there are fewer`;
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
