import type { HookEnvironmentPolicy } from '../../run/hookEnvironment.js';
import type { HookDefinitions } from '../../protocol/types.js';
import {
  count,
  expecting,
  flag,
  listOfText,
  oneOf,
  positiveCount,
  readFields,
  type FieldTable,
} from '../../util/checks.js';
import { isRecord } from '../../util/records.js';
import { countHooks, readHookDefinitions } from '../../hooks/hookSettings.js';
import {
  fileError,
  MAX_PROJECT_HOOKS,
  ProblemList,
  readJsonFile,
  tooManyHooks,
  warnOfRepeatedKeys,
  type JsonFileReading,
  type Warn,
} from './jsonFile.js';
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
  return emptyLayer(source, 'refused', [fileError(source, message)]);
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
  const reading = await readJsonFile(source, 'an object of settings');
  if (reading.status === 'missing') return emptyLayer(source, 'missing', []);
  if (reading.status === 'read') return parseLayer(source, reading, trusted);
  const status = reading.status === 'refused' ? 'refused' : 'read';
  return emptyLayer(source, status, [reading.problem]);
}

type Scalars = Omit<Settings, 'hooks'>;

/** The top-level keys besides `hooks`. */
export const SCALAR_FIELDS: FieldTable<Partial<Scalars>> = {
  enableHooks: { struct: flag },
  disabledHooks: { struct: listOfText },
  afterModelDisplay: { struct: oneOf('stream', 'hold') },
  maxStopHookRetries: { struct: count },
  hookEnvironment: {
    struct: expecting<HookEnvironmentPolicy>(
      '{ "inherit": "all" | "none", "allow": [names], "redact": [names] }',
      isEnvironmentPolicy,
      {
        type: 'object',
        properties: {
          inherit: { enum: ['all', 'none'] },
          allow: listOfText.schema,
          redact: listOfText.schema,
        },
        additionalProperties: false,
      },
    ),
  },
  maxParallelHooks: { struct: positiveCount },
  hooksRunner: {
    struct: expecting<{ warmShells?: number }>(
      '{ "warmShells": a whole number of 0 or more }',
      (value) => isRecord(value) && count.is(value['warmShells'] ?? 0),
      { type: 'object', properties: { warmShells: count.schema } },
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

function parseLayer(
  source: SettingsFile,
  { value, document }: Extract<JsonFileReading, { status: 'read' }>,
  trusted: boolean,
): Layer {
  if (source.scope === 'project' && countHooks(value.hooks) > MAX_PROJECT_HOOKS) {
    const error = fileError(source, tooManyHooks(value.hooks), document.locate(['hooks']));
    return emptyLayer(source, 'read', [error]);
  }
  const problems = new ProblemList(source, document);
  const { warn } = problems;
  const counts = (key: string) => key === 'hooks' || Object.hasOwn(SCALAR_FIELDS, key);
  warnOfRepeatedKeys(document, counts, warn);
  warnOfMisplacedSettings(value, warn);
  const scalars = readFields(value, SCALAR_FIELDS, 'file', warn) ?? {};
  const given = value.hooks === undefined ? {} : value.hooks;
  const hooks = readHookDefinitions(given, source, (path, message, kind) =>
    warn(['hooks', ...path], message, kind),
  );
  return {
    source,
    status: 'read',
    trusted,
    scalars: trusted ? scalars : withholdUntrusted(scalars, warn),
    hooks,
    problems: problems.inOrder(),
  };
}

function warnOfMisplacedSettings(value: Record<string, unknown>, warn: Warn): void {
  for (const { section, key, rightKey } of MISPLACED_SETTINGS) {
    const holder = value[section];
    if (!isRecord(holder) || holder[key] === undefined) continue;
    const message = `has no effect; use the key '${rightKey}' at the top level of the file`;
    warn([section, key], message, 'misplaced-key');
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
      'untrusted',
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
