import type { ProblemKind } from './checks.js';
import type { Position } from './jsonDocument.js';
import { toVisible } from './visible.js';

/** One settings file. */
export interface SettingsFile {
  readonly scope: 'project' | 'user' | 'system' | 'file';
  /** Absolute path. */
  readonly file: string;
}

/** One thing that is wrong in a settings file. */
export interface FileProblem {
  readonly scope: SettingsFile['scope'];
  /** Absolute path. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units. */
  readonly column: number;
  /** Such as `hooks.BeforeTool[1].hooks[0].timeout`; `''` for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** After an `error` nothing of the file counts; after a `warning` only the named part does not. */
  readonly severity: 'error' | 'warning';
  /** What kind of thing it is; absent for a file as a whole. */
  readonly kind?: ProblemKind | 'untrusted';
}

/** A problem after which nothing of the file counts. */
export function fileError(
  { scope, file }: SettingsFile,
  message: string,
  { line, column }: Position = { line: 1, column: 1 },
): FileProblem {
  return { scope, file, line, column, path: '', message, severity: 'error' };
}

/**
 * One line for a terminal or a log: `file:line:column: path: message`. What would hide something in it, or end the line,
 * is escaped.
 */
export function formatProblem(problem: FileProblem): string {
  const { file, line, column, path, message } = problem;
  const where = path === '' ? '' : `${path}: `;
  // A name of a file, or of what stands in it, may hold a newline or an escape sequence.
  return toVisible(`${file}:${line}:${column}: ${where}${message}`);
}
