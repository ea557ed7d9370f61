import path from 'node:path';
import type { JsonEdit } from '../../config/settings/editJson.js';
import { editSettings, planSettings } from '../../config/settings/editSettings.js';
import { settingsFileIn } from '../../config/settings/settings.js';
import type { DialectName, CommandHookConfig, HookDefinition } from '../../protocol/types.js';
import { carryOver, type CarriedOver } from './carryOver.js';
import { settingsKey, dialects } from '../../dialects/dialects.js';
import { formatPath } from '../../util/checks.js';
import type { Position } from '../../util/jsonDocument.js';
import { explainInvalid, readJsonFile } from '../../util/jsonFile.js';
import { isRecord } from '../../util/records.js';
import { projectSettingsToWrite } from '../shared/projectFile.js';
import { orUsageError, UsageError } from '../shared/usageError.js';

/** A variable may move the user's own. */
function sourcesIn(directory: string, from: DialectName, home: string): string[] {
  const { files, directoryVariable } = dialects[from].settings;
  const configured = directoryVariable && process.env[directoryVariable];
  if (directory === home && configured) return [path.resolve(configured, 'settings.json')];
  return files.map((file) => path.join(directory, file));
}

export interface Move {
  /** Absolute, as all paths here. */
  readonly target: string;
  /** Files that were looked for. */
  readonly places: readonly string[];
  readonly sources: readonly Source[];
  readonly before: string;
  readonly after: string;
  readonly added: number;
  readonly present: number;
}

interface Source {
  readonly file: string;
  readonly carried: CarriedOver;
  readonly remarks: readonly Remark[];
}

export interface Remark extends Position {
  readonly file: string;
  readonly path: string;
  readonly message: string;
}

/** @param directory the project, or the home directory */
export async function planMove(directory: string, from: DialectName, home: string): Promise<Move> {
  const places = sourcesIn(directory, from, home);
  const read = await Promise.all(places.map((file) => readSource(file, from)));
  const sources = read.filter((source) => source !== undefined);
  const isWritten = directory !== home && sources.length > 0;
  const target = isWritten ? await projectSettingsToWrite(directory) : settingsFileIn(directory);
  let counts = { added: 0, present: 0 };
  const change = planSettings(target, (current) => {
    const { edits, ...found } = planEdits(current, sources);
    counts = found;
    return edits;
  });
  const { before, after } = await orUsageError(change, (detail) => detail);
  return { target, places, sources, before, after, ...counts };
}

export async function makeMove({ target, sources, before, after }: Move): Promise<void> {
  if (before !== after) await editSettings(target, (current) => planEdits(current, sources).edits);
}

async function readSource(file: string, from: DialectName): Promise<Source | undefined> {
  const reading = await readJsonFile(file, { groupMayWrite: true }, 'an object of settings');
  if (reading.status === 'missing') return undefined;
  if (reading.status === 'refused') throw new UsageError(`${file} is not read: ${reading.reason}`);
  if (reading.status === 'invalid') throw new UsageError(explainInvalid(file, reading));
  const { value, document } = reading;
  const carried = carryOver(value, from);
  const remarks = carried.remarks.map((remark) => {
    const { line, column } = document.locate(remark.path);
    return { file, line, column, path: formatPath(remark.path), message: remark.message };
  });
  return { file, carried, remarks: remarks.toSorted((a, b) => a.line - b.line) };
}

function planEdits(current: Readonly<Record<string, unknown>>, sources: readonly Source[]) {
  const groups = sources.flatMap(({ carried }) => carried.groups);
  const known = new Set(knownHooks(current));
  const counts = { added: 0, present: 0 };
  const edits: JsonEdit[] = [];
  for (const { key: event, group } of groups) {
    const hooks = group.hooks.filter((hook) => {
      const key = keyOf(event, group, hook);
      const isNew = !known.has(key);
      known.add(key);
      counts[isNew ? 'added' : 'present'] += 1;
      return isNew;
    });
    if (hooks.length === 0) continue;
    edits.push({ path: ['hooks', event, -1], value: { ...group, hooks }, isInsertion: true });
  }
  const disabled = sources.flatMap(({ carried }) => carried.disabledHooks);
  return { ...counts, edits: [...switchEdits(current, sources, disabled, edits), ...edits] };
}

/** `"enableHooks": false` in our file stays. */
function switchEdits(
  current: Readonly<Record<string, unknown>>,
  sources: readonly Source[],
  disabled: readonly string[],
  added: readonly JsonEdit[],
): JsonEdit[] {
  const { enableHooks, disabledHooks = [] } = current;
  const areOn = sources.every(({ carried }) => carried.areHooksOn);
  const listed: readonly unknown[] = Array.isArray(disabledHooks) ? disabledHooks : [];
  const missing = [...new Set(disabled)].filter((name) => !listed.includes(name));
  return [
    ...(added.length > 0 && areOn && enableHooks === undefined
      ? [{ path: ['enableHooks'], value: true }]
      : []),
    ...(Array.isArray(disabledHooks)
      ? missing.map((value) => ({ path: ['disabledHooks', -1], value, isInsertion: true }))
      : [{ path: ['disabledHooks'], value: missing }]),
  ];
}

function* knownHooks({ hooks }: Readonly<Record<string, unknown>>): Generator<string> {
  for (const [name, groups] of Object.entries(isRecord(hooks) ? hooks : {})) {
    for (const group of Array.isArray(groups) ? groups.filter(isRecord) : []) {
      const dialect = Object.entries(dialects).find(([each]) => each === group['dialect'])?.[1];
      const event = dialect && settingsKey(dialect, name);
      const inside = Array.isArray(group['hooks']) ? group['hooks'].filter(isRecord) : [];
      for (const hook of event ? inside : []) yield keyOf(event, group, hook);
    }
  }
}

function keyOf(
  event: string | undefined,
  { dialect, matcher = '' }: Partial<HookDefinition> | Record<string, unknown>,
  { command, args }: Partial<CommandHookConfig> | Record<string, unknown>,
): string {
  return JSON.stringify([event, dialect, matcher, command, args]);
}
