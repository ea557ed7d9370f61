import type { HookEnvironmentPolicy } from '../hooks/hookEnvironment.js';
import type { HookDefinitions } from '../hooks/types.js';
import {
  count,
  describe,
  expecting,
  flag,
  listOfText,
  oneOf,
  positiveCount,
  readFields,
  type FieldTable,
  type Path,
} from './fields.js';
import { isRecord } from '../hooks/merge.js';
import { readGuardedFile } from './guardedFile.js';
import { formatPath, parseHookDefinitions } from './hookSettings.js';
import type { JsonDocument, Position } from './jsonDocument.js';
import type { FileProblem, Settings, SettingsFile } from './settings.js';

/** What one settings file contributes. */
export interface Layer {
  readonly source: SettingsFile;
  readonly status: 'read' | 'missing' | 'refused';
  /** Whether all of it counts, and not only its hooks. */
  readonly trusted: boolean;
  readonly scalars: Partial<Scalars>;
  readonly hooks: HookDefinitions;
  readonly problems: readonly FileProblem[];
}

/** A layer that contributes nothing but the error that says why. */
export function refusedLayer(source: SettingsFile, message: string): Layer {
  return emptyLayer(source, 'refused', [fileError(source, message, { line: 1, column: 1 })]);
}

/**
 * Reads one settings file.
 *
 * @param trusted whether all of it counts, and not only its hooks. Default: unless it is a project's
 * @returns never rejects: what is wrong is among the layer's problems
 */
export async function readLayer(
  source: SettingsFile,
  trusted = source.scope !== 'project',
): Promise<Layer> {
  const groupMayWrite = source.scope === 'project' || source.scope === 'file';
  const reading = await readGuardedFile(source.file, { groupMayWrite });
  if (reading.status === 'refused') return refusedLayer(source, `refused: ${reading.reason}`);
  if (reading.status === 'missing') return emptyLayer(source, 'missing', []);
  const { parseJsonDocument } = await import('./jsonDocument.js');
  return parseLayer(source, parseJsonDocument(reading.text), trusted);
}

type Scalars = Omit<Settings, 'hooks'>;

const SCALAR_FIELDS: FieldTable<Partial<Scalars>> = {
  enableHooks: { struct: flag },
  disabledHooks: { struct: listOfText },
  afterModelDisplay: { struct: oneOf('stream', 'hold') },
  maxStopHookRetries: { struct: count },
  hookEnvironment: {
    struct: expecting<HookEnvironmentPolicy>(
      '{ "inherit": "all" | "none", "allow": [names], "redact": [names] }',
      isEnvironmentPolicy,
    ),
  },
  maxParallelHooks: { struct: positiveCount },
  hooksRunner: {
    struct: expecting<{ warmShells?: number }>(
      '{ "warmShells": a whole number of 0 or more }',
      (value) => isRecord(value) && count.is(value['warmShells'] ?? 0),
    ),
  },
};

function isEnvironmentPolicy(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { inherit = 'all', allow = [], redact = [], ...rest } = value;
  const isKnown = inherit === 'all' || inherit === 'none';
  return isKnown && listOfText.is(allow) && listOfText.is(redact) && Object.keys(rest).length === 0;
}

/** Where people put these settings, and the top-level key that has the effect. */
const MISPLACED_SETTINGS = [
  { section: 'tools', key: 'enableHooks', rightKey: 'enableHooks' },
  { section: 'hooksConfig', key: 'enabled', rightKey: 'enableHooks' },
  { section: 'hooksConfig', key: 'disabled', rightKey: 'disabledHooks' },
] as const;

function parseLayer(source: SettingsFile, document: JsonDocument, trusted: boolean): Layer {
  const { value, syntaxError } = document;
  if (syntaxError !== undefined) {
    const message = `not valid JSON: ${syntaxError.message}; nothing in this file counts until it is mended`;
    return emptyLayer(source, 'read', [fileError(source, message, syntaxError)]);
  }
  if (!isRecord(value)) {
    const message = `expected an object of settings, got ${describe(value)}; nothing in this file counts`;
    return emptyLayer(source, 'read', [fileError(source, message, document.locate([]))]);
  }

  const problems: FileProblem[] = [];
  const warn = (path: Path, message: string, position = document.locate(path)) =>
    problems.push({
      scope: source.scope,
      file: source.file,
      line: position.line,
      column: position.column,
      path: formatPath(path),
      message,
      severity: 'warning',
    });
  warnOfRepeatedKeys(document, warn);
  warnOfMisplacedSettings(value, warn);
  const scalars = readFields(value, SCALAR_FIELDS, 'file', warn) ?? {};
  const { hooks, problems: hookProblems } = parseHookDefinitions(
    value.hooks === undefined ? {} : value.hooks,
    source,
  );
  for (const { path, message } of hookProblems) warn(['hooks', ...path], message);
  return {
    source,
    status: 'read',
    trusted,
    scalars: trusted ? scalars : withholdUntrusted(scalars, warn),
    hooks,
    problems: problems.toSorted((a, b) => a.line - b.line || a.column - b.column),
  };
}

type Warn = (path: Path, message: string, position?: Position) => void;

function warnOfRepeatedKeys(document: JsonDocument, warn: Warn): void {
  for (const { path, position } of document.repeatedKeys) {
    const [topLevelKey] = path;
    if (topLevelKey !== 'hooks' && !Object.hasOwn(SCALAR_FIELDS, String(topLevelKey))) continue;
    warn(path, 'written again further down, where it replaces this one; merge the two', position);
  }
}

function warnOfMisplacedSettings(value: Record<string, unknown>, warn: Warn): void {
  for (const { section, key, rightKey } of MISPLACED_SETTINGS) {
    const holder = value[section];
    if (!isRecord(holder) || holder[key] === undefined) continue;
    warn([section, key], `has no effect; use the key '${rightKey}' at the top level of the file`);
  }
}

/** Leaves what cannot weaken the user's own guards. */
function withholdUntrusted(scalars: Partial<Scalars>, warn: Warn): Partial<Scalars> {
  const kept = scalars.enableHooks === true ? { enableHooks: true } : {};
  for (const key of Object.keys(scalars)) {
    if (Object.hasOwn(kept, key)) continue;
    warn(
      [key],
      'ignored, as this project is not trusted; trust the project, or set it in your user settings',
    );
  }
  return kept;
}

function emptyLayer(
  source: SettingsFile,
  status: Layer['status'],
  problems: readonly FileProblem[],
): Layer {
  return { source, status, trusted: true, scalars: {}, hooks: {}, problems };
}

function fileError(source: SettingsFile, message: string, { line, column }: Position): FileProblem {
  return {
    scope: source.scope,
    file: source.file,
    line,
    column,
    path: '',
    message,
    severity: 'error',
  };
}
