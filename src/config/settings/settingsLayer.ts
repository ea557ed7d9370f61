import type { HookDefinitions } from '../../protocol/types.js';
import { readFields } from '../../util/checks.js';
import { isRecord } from '../../util/records.js';
import {
  FileCheck,
  objectToCount,
  readSettingsFile,
  type SettingsFileReading,
  type Warn,
} from './settingsFile.js';
import { fileError, type FileProblem, type SettingsFile } from '../../util/fileProblem.js';
import { MISPLACED_SETTINGS, SCALAR_FIELDS, type Scalars } from './settingsKeys.js';

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

/** Stands for the user's file where the system does not know a home directory. */
export const UNKNOWN_HOME = '~/.llxprt/settings.json';

/**
 * Reads one settings file. It is normal that one is missing, unless the user has named it.
 *
 * @param trustProject whether all of a project's file counts, and not only its hooks
 * @returns never rejects: what is wrong is among the layer's problems
 */
export async function readLayer(source: SettingsFile, trustProject = false): Promise<Layer> {
  if (source.file === UNKNOWN_HOME) {
    return refusedLayer(source, 'your home directory is not known, nor your settings: set HOME');
  }
  const reading = await readSettingsFile(source, 'an object of settings');
  if (reading.status === 'missing') {
    return source.scope === 'file'
      ? refusedLayer(source, 'there is no such file; check the path')
      : emptyLayer(source, 'missing');
  }
  const trusted = source.scope !== 'project' || trustProject;
  if (reading.status === 'read') return parseLayer(source, reading, trusted);
  return emptyLayer(source, reading.status === 'refused' ? 'refused' : 'read', reading.problem);
}

function parseLayer(
  source: SettingsFile,
  { value, document }: Extract<SettingsFileReading, { status: 'read' }>,
  trusted: boolean,
): Layer {
  const objection = source.scope === 'project' ? objectToCount(value['hooks']) : undefined;
  if (objection !== undefined) {
    return emptyLayer(source, 'read', fileError(source, objection, document.locate(['hooks'])));
  }
  const check = new FileCheck(source, document, isKey);
  warnOfMisplacedSettings(value, check.warn);
  const scalars = readFields(value, SCALAR_FIELDS, 'file', check.warn) ?? {};
  const hooks = check.readHooks(value['hooks'] === undefined ? {} : value['hooks'], source);
  return {
    source,
    status: 'read',
    trusted,
    scalars: trusted ? scalars : withholdUntrusted(scalars, check.warn),
    hooks,
    problems: check.problems(),
  };
}

function isKey(key: string): boolean {
  return key === 'hooks' || Object.hasOwn(SCALAR_FIELDS, key);
}

function warnOfMisplacedSettings(value: Record<string, unknown>, warn: Warn): void {
  for (const { section, key, rightKey } of MISPLACED_SETTINGS) {
    const holder = section === undefined ? value : value[section];
    if (!isRecord(holder) || holder[key] === undefined) continue;
    const message = `has no effect; use the key '${rightKey}' at the top level of the file`;
    warn(section === undefined ? [key] : [section, key], message, 'misplaced-key');
  }
}

/** Keeps only what cannot weaken the user's own guards. */
function withholdUntrusted(scalars: Partial<Scalars>, warn: Warn): Partial<Scalars> {
  const kept = scalars.enableHooks === true ? { enableHooks: true } : {};
  const message =
    'ignored, as this project is not trusted; trust the project, or set it in your user settings';
  for (const key of Object.keys(scalars)) {
    if (!Object.hasOwn(kept, key)) warn([key], message, 'untrusted');
  }
  return kept;
}

function refusedLayer(source: SettingsFile, message: string): Layer {
  return emptyLayer(source, 'refused', fileError(source, message));
}

function emptyLayer(source: SettingsFile, status: Layer['status'], problem?: FileProblem): Layer {
  const problems = problem ? [problem] : [];
  return { source, status, trusted: true, scalars: {}, hooks: {}, problems };
}
