import type { Path } from '../config/fields.js';
import { parseHookDefinitions } from '../config/hookSettings.js';
import { isRecord } from '../hooks/merge.js';
import { HookEventName, type HookDefinition } from '../hooks/types.js';
import type { DialectName } from './dialect.js';
import { dialects, foreignMoment, theirEventName } from './words.js';

/** What of another agent's settings has a place in ours. */
export interface CarriedOver {
  /** Groups with their dialect; hooks that cannot run here are left out. */
  readonly groups: readonly {
    /** The key of our settings that they belong under. */
    readonly key: string;
    readonly group: HookDefinition;
  }[];
  /** Names of hooks that are switched off. */
  readonly disabledHooks: readonly string[];
  /** Whether that agent runs hooks at all. */
  readonly areHooksOn: boolean;
  /** What was left out or will differ, and where it stands in that agent's settings. */
  readonly remarks: readonly { readonly path: Path; readonly message: string }[];
}

/** Reads another agent's settings, as parsed. Never throws. */
export function carryOver(settings: Record<string, unknown>, dialect: DialectName): CarriedOver {
  const remarks: { path: Path; message: string }[] = [];
  const report = (path: Path, message: string) => remarks.push({ path, message });
  const { hooks = {}, ...others } = settings;
  for (const key of Object.keys(others)) {
    if (!READ_KEYS.has(key)) report([key], TOP_LEVEL.get(key) ?? 'is no setting of hooks');
  }
  if (!isRecord(hooks)) report(['hooks'], 'is no object of events, and is left out');
  return {
    groups: isRecord(hooks) ? [...carryEvents(hooks, dialect, report)] : [],
    ...readSwitches(settings, report),
    remarks,
  };
}

type Report = (path: Path, message: string) => unknown;

const READ_KEYS: ReadonlySet<string> = new Set(['$schema', 'hooksConfig', 'disableAllHooks']);

/** What settings that concern hooks, or seem to, come to. */
const TOP_LEVEL: ReadonlyMap<string, string> = new Map([
  [
    'permissions',
    'permissions are no hooks: what they forbid is not forbidden here; write a BeforeTool hook',
  ],
  ['env', 'is not set for hooks; set it in the "env" of each hook that needs it'],
  ['allowManagedHooksOnly', 'has no counterpart: hooks of all settings files run'],
]);

/** Switches that stand among the events, or beside them. */
const SWITCHES: ReadonlySet<string> = new Set(['enabled', 'disabled', 'notifications']);

/** Keys of a hook without which it would do something else. */
const VITAL_KEYS: ReadonlyMap<string, string> = new Map([
  ['if', 'a condition cannot be carried over, and without it the hook would run too often'],
]);

/** Keys of a hook that are dropped. */
const LOST_KEYS: ReadonlyMap<string, string> = new Map([
  ['async', 'is dropped: the event waits for the hook'],
  ['asyncRewake', 'is dropped: the event waits for the hook'],
  ['once', 'is dropped: the hook runs every time'],
  ['statusMessage', 'is dropped: no such message is shown'],
]);

function readSwitches(settings: Record<string, unknown>, report: Report) {
  const holders = ['hooks', 'hooksConfig'].flatMap((key) => {
    const holder = settings[key];
    return isRecord(holder) ? [{ key, holder }] : [];
  });
  const switchedOff: Path[] = [
    ...(settings['disableAllHooks'] === true ? [['disableAllHooks']] : []),
    ...holders.flatMap(({ key, holder }) =>
      holder['enabled'] === false ? [[key, 'enabled']] : [],
    ),
  ];
  for (const path of switchedOff) {
    report(path, 'hooks are off there; here they run wherever "enableHooks" is true');
  }
  const lists = holders.map(({ holder }) => holder['disabled']).filter(Array.isArray);
  const names = lists.flat().filter((name) => typeof name === 'string');
  return { disabledHooks: [...new Set(names)], areHooksOn: switchedOff.length === 0 };
}

function* carryEvents(
  hooks: Record<string, unknown>,
  dialect: DialectName,
  report: Report,
): Generator<CarriedOver['groups'][number]> {
  const { agent } = dialects[dialect];
  for (const [name, groups] of Object.entries(hooks)) {
    if (SWITCHES.has(name)) continue;
    const event = Object.values(HookEventName).find(
      (each) => theirEventName(dialects[dialect], each) === name,
    );
    const key = foreignMoment(dialects[dialect], name) ? name : event;
    if (!key) report(['hooks', name], `this event of ${agent} does not exist here`);
    else if (!Array.isArray(groups)) report(['hooks', name], 'is no list of groups');
    if (!key || !Array.isArray(groups)) continue;
    for (const [index, raw] of groups.entries()) {
      const at = ['hooks', name, index];
      const group = carryGroup(raw, key, dialect, (path, message) =>
        report([...at, ...path], message),
      );
      if (group) yield { key, group };
    }
  }
}

/** Nothing is converted in here: a group that names its dialect is read as it was written. */
function carryGroup(
  raw: unknown,
  key: string,
  dialect: DialectName,
  report: Report,
): HookDefinition | undefined {
  // An item that is left out must not shift those behind it, whose places are reported.
  const hooks: unknown = isRecord(raw) ? raw['hooks'] : undefined;
  const usable = Array.isArray(hooks)
    ? hooks.map((hook, index) =>
        usableHook(hook, (path, message) => report(['hooks', index, ...path], message)),
      )
    : hooks;
  const group = isRecord(raw) ? { ...raw, dialect, hooks: usable } : raw;
  const parsed = parseHookDefinitions({ [key]: [group] }, { scope: 'file' });
  for (const { path, message } of parsed.problems) {
    const [, , ...inGroup] = path;
    const isLeftOut = Array.isArray(usable) && usable[Number(inGroup[1])] === LEFT_OUT;
    if (!isLeftOut) report(inGroup, message);
  }
  const [read = { hooks: [] }] = Object.values(parsed.hooks).flat();
  const { origin: _, moment: _moment, ...carried } = read;
  return carried.hooks.length > 0 ? carried : undefined;
}

/** Takes the place of a hook that has been reported already. */
const LEFT_OUT = null;

function usableHook(hook: unknown, report: Report): unknown {
  if (!isRecord(hook)) return hook;
  if (typeof hook['type'] === 'string' && hook['type'] !== 'command') {
    report(
      [],
      `a hook of the type ${JSON.stringify(hook['type'])} is left out: only commands run here`,
    );
    return LEFT_OUT;
  }
  for (const key of Object.keys(hook)) {
    const vital = VITAL_KEYS.get(key);
    if (vital !== undefined) {
      report([key], `the hook is left out: ${vital}`);
      return LEFT_OUT;
    }
  }
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(hook)) {
    const loss = LOST_KEYS.get(key);
    if (loss === undefined) kept[key] = value;
    else report([key], loss);
  }
  return kept;
}
