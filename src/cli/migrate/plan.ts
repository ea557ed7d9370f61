import type { JsonEdit } from '../shared/editJson.js';
import { editSettings, planSettings } from '../shared/editSettings.js';
import { settingsFileIn } from '../../config/settings/settingsPlaces.js';
import { isAsked } from '../../protocol/identity.js';
import type { DialectName, CommandHookConfig, HookDefinition } from '../../protocol/types.js';
import { mayBlock } from './carryOver.js';
import { HookNames } from './hookNames.js';
import { readPlugins } from './plugins.js';
import { readSources, type Remark, type Source } from './sources.js';
import { dialects, foreignMoment, ourEventName } from '../../dialects/dialects.js';
import { commandKey } from '../../run/sameCommand.js';
import { parseHookDefinitions } from '../../hooks/hookSettings.js';
import { isRecord } from '../../util/records.js';
import { foreignPlaces, type ForeignScope } from '../shared/foreignSettings.js';
import { projectSettingsToWrite } from '../shared/projectFile.js';
import { orUsageError } from '../shared/usageError.js';

export interface Move {
  readonly scope: ForeignScope;
  /** Absolute, as all paths here. */
  readonly target: string;
  /** Files that were looked for. */
  readonly places: readonly string[];
  readonly sources: readonly Source[];
  /** Those of them that are of a plugin. */
  readonly plugins: readonly Source[];
  /** Of all sources, and of what was left where it is: lost guards first, then by file and line. */
  readonly remarks: readonly Remark[];
  readonly before: string;
  readonly after: string;
  readonly added: number;
  readonly present: number;
}

/** @param directory the project, or the home directory */
export async function planMove(
  directory: string,
  from: DialectName,
  scope: ForeignScope,
): Promise<Move> {
  const plugins = scope === 'project' ? await readPlugins(directory, from) : [];
  const sources = [...(await readSources(directory, from, scope)), ...plugins];
  // What only one person wanted is not put into a file that is committed.
  const local = scope === 'project' ? await readSources(directory, from, 'local') : [];
  const isWritten = scope !== 'user' && sources.length > 0;
  const target = isWritten ? await projectSettingsToWrite(directory) : settingsFileIn(directory);
  let counts = { added: 0, present: 0 };
  let left = 0;
  const change = planSettings(target, (current) => {
    const { edits, ...counted } = planEdits(current, sources);
    counts = counted;
    left = planEdits(current, [...sources, ...local]).added - counted.added;
    return edits;
  });
  const { before, after } = await orUsageError(change, (detail) => detail);
  const remarks = [
    ...sources.flatMap((source) => source.remarks),
    ...local.flatMap((source) => remarkLeft(source, left, from)),
  ];
  const sorted = [...remarks.filter(isLost), ...remarks.filter((remark) => !isLost(remark))];
  const scopes: readonly ForeignScope[] = scope === 'project' ? ['project', 'local'] : [scope];
  const places = scopes.flatMap((each) => foreignPlaces(directory, from, each));
  const found = { places, sources, plugins, remarks: sorted };
  return { scope, target, ...found, before, after, ...counts };
}

function isLost({ kind }: Remark): boolean {
  return kind === 'lost';
}

/** @param left hooks of it that are in no other file */
function remarkLeft({ file, carried, remarks }: Source, left: number, from: DialectName): Remark[] {
  const message = `${left === 1 ? '1 hook is' : `${left} hooks are`} yours alone here, and left out, as the file of the project is for everybody; to put it there all the same, run: hookstack migrate --from ${from} --scope local`;
  const kind = mayBlock(carried, from) ? 'lost' : 'changed';
  const place = { file, line: 1, column: 1, path: 'hooks' };
  return [...(left > 0 ? [{ ...place, message, kind } as const] : []), ...remarks.filter(isLost)];
}

export async function makeMove({ target, sources, before, after }: Move): Promise<void> {
  if (before !== after) await editSettings(target, (current) => planEdits(current, sources).edits);
}

function planEdits(current: Readonly<Record<string, unknown>>, sources: readonly Source[]) {
  const groups = sources.flatMap(({ carried }) => carried.groups);
  const known = new Set(knownHooks(current));
  const disabled = sources.flatMap(({ carried }) => carried.disabledHooks);
  const names = new HookNames(
    [...hooksIn(current), ...groups.flatMap(({ group }) => group.hooks)],
    new Set([...disabled, ...listOf(current['disabledHooks'])]),
  );
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
    edits.push({
      path: ['hooks', event, -1],
      value: { ...group, hooks: hooks.map((hook) => asWritten(names.named(hook, group.matcher))) },
      isInsertion: true,
    });
  }
  return { ...counts, edits: [...switchEdits(current, sources, disabled, edits), ...edits] };
}

/** The loader gives every hook a command, and only some have one. */
export function asWritten(hook: CommandHookConfig): object {
  const { command, ...others } = hook;
  return command === '' ? others : hook;
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
  const listed = listOf(disabledHooks);
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
      const event = dialect && (foreignMoment(dialect, name) ? name : ourEventName(dialect, name));
      // As they are read: the same question to a server can be written in several ways.
      for (const read of event ? groupsIn({ [name]: [group] }) : []) {
        for (const hook of read.hooks) yield keyOf(event, read, hook);
      }
    }
  }
}

function hooksIn({ hooks = {} }: Readonly<Record<string, unknown>>): CommandHookConfig[] {
  return groupsIn(hooks).flatMap((group) => group.hooks);
}

function groupsIn(hooks: unknown): HookDefinition[] {
  return Object.values(parseHookDefinitions(hooks).hooks).flat();
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function keyOf(
  event: string | undefined,
  { dialect, matcher = '' }: HookDefinition,
  hook: CommandHookConfig,
): string {
  const { type, command, args, env = {} } = hook;
  // Those name the plugin whose command it is.
  const roots = dialect && dialects[dialect].missingVariables.map((name) => env[name]);
  return JSON.stringify([
    event,
    dialect,
    matcher,
    isAsked({ type }) ? commandKey(hook) : command,
    args,
    roots?.filter((root) => root !== undefined),
  ]);
}
