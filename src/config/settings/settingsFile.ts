import { countHooks, readHookDefinitions } from '../../hooks/hookSettings.js';
import type { HookDefinitions, HookOrigin } from '../../protocol/types.js';
import { formatPath, textOf, type Message, type Path, type Report } from '../../util/checks.js';
import { fileError, type FileProblem, type SettingsFile } from '../../util/fileProblem.js';
import type { JsonDocument, Position } from '../../util/jsonDocument.js';
import { readJsonFile, type GuardedFileOptions, type JsonReading } from '../../util/guardedFile.js';

// Files of a project are read before anybody has allowed anything of it: larger ones, and more hooks, are refused.
export const MAX_PROJECT_FILE_BYTES = 1024 * 1024;
export const MAX_PROJECT_HOOKS = 1000;

/** At most this many problems of one file, or of a project's extensions together, are listed. */
export const MAX_PROBLEMS = 20;

/** What became of reading a settings file, or a file of an extension. */
export type SettingsFileReading =
  | Extract<JsonReading, { status: 'read' | 'missing' }>
  | {
      readonly status: 'refused' | 'invalid';
      readonly problem: FileProblem;
      /** What was read of it, if anything. */
      readonly text?: string;
      /** The system has no descriptors left, and may have some later. */
      readonly isShortage?: boolean;
    };

/**
 * Reads a JSON file, unless somebody else could have written it, or it is too large: 1 MiB for one of a project, 16 MiB
 * for others.
 *
 * @param what completes "expected …"
 * @returns never rejects
 */
export async function readSettingsFile(
  source: SettingsFile,
  what: string,
): Promise<SettingsFileReading> {
  const reading = await readJsonFile(source.file, guardOf(source.scope), what);
  if (reading.status === 'refused') {
    return { ...reading, problem: fileError(source, `refused: ${reading.reason}`) };
  }
  if (reading.status !== 'invalid') return reading;
  const message = `${reading.reason}; nothing in this file counts until it is fixed`;
  return { ...reading, problem: fileError(source, message, reading.position) };
}

/** Which files of a scope are refused: those of a project may be written by its group. */
export function guardOf(scope: SettingsFile['scope']): GuardedFileOptions {
  return {
    groupMayWrite: scope === 'project' || scope === 'file',
    maxBytes: scope === 'project' ? MAX_PROJECT_FILE_BYTES : undefined,
  };
}

/** Called with what is wrong at `path` of a file; `position` where that is not where `path` begins. */
export type Warn = (
  path: Path,
  message: Message,
  kind?: FileProblem['kind'],
  position?: Position,
) => void;

/** The check of one file: collects what is wrong, each with the place where it was written. */
export class FileCheck {
  readonly #problems: FileProblem[] = [];
  #omitted = 0;
  #worstOmitted: FileProblem['kind'];

  /** @param isKnownKey for a top-level key: one without an effect may stand twice without a warning */
  constructor(
    private readonly source: SettingsFile,
    readonly document: JsonDocument,
    isKnownKey: (topLevelKey: string) => boolean,
  ) {
    for (const { path, position } of document.repeatedKeys) {
      if (!isKnownKey(String(path[0]))) continue;
      const message = 'written again further down, where it replaces this one; merge the two';
      this.warn(path, message, 'repeated-key', position);
    }
  }

  readonly warn: Warn = (path, message, kind = 'value', position) => {
    if (this.#problems.length >= MAX_PROBLEMS) {
      this.#omitted += 1;
      if (!this.#worstOmitted || GRAVE.has(kind)) this.#worstOmitted = kind;
      return;
    }
    const { scope, file } = this.source;
    const { line, column } = position ?? this.document.locate(path);
    this.#problems.push({
      scope,
      file,
      line,
      column,
      path: formatPath(path),
      message: textOf(message),
      severity: 'warning',
      kind,
    });
  };

  /** @param servers what stands under `mcpServers`, which the hooks may name */
  readHooks(raw: unknown, origin: HookOrigin, servers?: unknown): HookDefinitions {
    const report: Report = (path, message, kind) => this.warn(['hooks', ...path], message, kind);
    return readHookDefinitions(raw, origin, report, servers);
  }

  /** The first 20 problems, in the order in which they stand in the file, and how many more there are. */
  problems(): readonly FileProblem[] {
    const inOrder = this.#problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
    if (this.#omitted === 0) return inOrder;
    const message = `${this.#omitted} more like these; fix those above first`;
    const rest = fileError(this.source, message);
    return [...inOrder, { ...rest, severity: 'warning', kind: this.#worstOmitted }];
  }
}

const GRAVE: ReadonlySet<FileProblem['kind']> = new Set([
  'value',
  'unsupported',
  'unknown-event',
  'matcher-invalid',
  'unusable',
]);

/** Why a file with too many hooks is refused; `undefined` for one with fewer. */
export function findTooManyHooks(hooks: unknown): string | undefined {
  const count = countHooks(hooks);
  if (count <= MAX_PROJECT_HOOKS) return undefined;
  const limit = MAX_PROJECT_HOOKS.toLocaleString('en');
  return `refused: it holds ${count.toLocaleString('en')} hooks, and a project may have ${limit}; nothing in this file counts until there are fewer`;
}
