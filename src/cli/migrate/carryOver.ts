import { formatPath, type Path } from '../../util/checks.js';
import { parseHookDefinitions } from '../../hooks/hookSettings.js';
import { findUnmatchableNames } from '../../validate/matching.js';
import { requireAskable } from '../../fleet/requireAskable.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import { type DialectName, type HookDefinition, HookEventName } from '../../protocol/types.js';
import { dialects, foreignMoment, ourEventName, sentEvent } from '../../dialects/dialects.js';
import { events } from '../../protocol/events.js';
import { areOwnHooks } from '../shared/ownHook.js';

export interface CarriedOver {
  /** Without hooks that cannot run here. */
  readonly groups: readonly {
    /** The key of our settings. */
    readonly key: string;
    readonly group: HookDefinition;
  }[];
  readonly disabledHooks: readonly string[];
  /** Whether that agent runs hooks at all. */
  readonly areHooksOn: boolean;
  /** What was left out or will differ; paths are of that agent's settings. */
  readonly remarks: readonly {
    readonly path: Path;
    readonly message: string;
    readonly kind: RemarkKind;
  }[];
}

/** `lost` is what could stop something there, and stops nothing here. `other` has nothing to do with hooks. */
export type RemarkKind = 'lost' | 'changed' | 'other';

/** Never throws. */
export function carryOver(settings: Record<string, unknown>, dialect: DialectName): CarriedOver {
  const remarks: { path: Path; message: string; kind: RemarkKind }[] = [];
  const report: Report = (path, message, kind = 'changed') => remarks.push({ path, message, kind });
  const { hooks = {}, ...others } = settings;
  for (const key of Object.keys(others)) {
    if (READ_KEYS.has(key) || (key === PLUGINS && isEachOff(others[key]))) continue;
    const known = TOP_LEVEL.get(key);
    if (known !== undefined) report([key], known);
    else if (forbids(key, others[key])) report([key], FORBIDS, 'lost');
    else report([key], 'is not a setting of hooks', 'other');
  }
  if (!isRecord(hooks)) report(['hooks'], 'is not an object of events, and is left out');
  return {
    groups: isRecord(hooks)
      ? [...carryEvents(hooks, { dialect, servers: settings['mcpServers'] }, report)]
      : [],
    ...readSwitches(settings, report),
    remarks,
  };
}

/** Whether a hook of it could stop what the agent does. */
export function mayBlock({ groups }: CarriedOver, dialect: DialectName): boolean {
  return groups.some(({ key }) => {
    const event = ourEventName(dialects[dialect], key);
    return event !== undefined && events[event].canBlock;
  });
}

type Report = (path: Path, message: string, kind?: RemarkKind) => unknown;

const READ_KEYS: ReadonlySet<string> = new Set(['$schema', 'hooksConfig', 'disableAllHooks']);

/** It names plugins, which may have hooks. */
export const PLUGINS = 'enabledPlugins';

function isEachOff(plugins: unknown): boolean {
  return isRecord(plugins) && Object.values(plugins).every((isOn) => isOn === false);
}

/** Remarks on keys that concern hooks, or seem to. */
const TOP_LEVEL: ReadonlyMap<string, string> = new Map([
  ['env', 'is not set for hooks; set it in the "env" of each hook that needs it'],
  ['allowManagedHooksOnly', 'has no counterpart: hooks of all settings files run'],
  [PLUGINS, 'hooks of plugins are not carried over: copy those that you need'],
  ['extensions', 'hooks of extensions are not carried over: copy those that you need'],
]);

/** Keys under which other agents forbid tools, without hooks. */
const FORBIDDING: ReadonlyMap<string, readonly string[]> = new Map([
  ['permissions', ['deny', 'ask']],
  ['tools', ['exclude']],
]);

const FORBIDS = 'what this forbids without a hook is not forbidden here; write it as rules';

function forbids(key: string, value: unknown): boolean {
  if (key === 'excludeTools') return isFilled(value);
  return isRecord(value) && (FORBIDDING.get(key) ?? []).some((each) => isFilled(value[each]));
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** Keys that are not events. */
const SWITCHES: ReadonlySet<string> = new Set(['enabled', 'disabled', 'notifications']);

function readSwitches(settings: Record<string, unknown>, report: Report) {
  const holders = ['hooks', 'hooksConfig'].flatMap((key) => {
    const holder = settings[key];
    return isRecord(holder) ? [{ key, holder }] : [];
  });
  for (const { key, holder } of holders) {
    for (const name of Object.keys(holder)) {
      const isKnown = key === 'hooks' || SWITCHES.has(name);
      if (name === 'notifications') {
        report([key, name], 'has no counterpart: it is not shown here that a hook runs');
      } else if (!isKnown) report([key, name], 'is not a switch of hooks');
    }
  }
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

interface Whose {
  readonly dialect: DialectName;
  /** MCP servers of the same file, which its hooks may name. */
  readonly servers: unknown;
}

function* carryEvents(
  hooks: Record<string, unknown>,
  whose: Whose,
  report: Report,
): Generator<CarriedOver['groups'][number]> {
  const { dialect } = whose;
  const { agent } = dialects[dialect];
  for (const [name, groups] of Object.entries(hooks)) {
    // They run the hooks that are here.
    if (SWITCHES.has(name) || areOwnHooks(groups)) continue;
    const event = dialects[dialect].events.find((each) => each.name === name)?.event;
    const key = foreignMoment(dialects[dialect], name) ? name : event;
    if (!key)
      report(['hooks', name], whyNoEvent(name, dialect), mayStop(name) ? 'lost' : 'changed');
    else if (!Array.isArray(groups)) report(['hooks', name], 'is not a list of groups');
    if (!key || !Array.isArray(groups)) continue;
    if (groups.length === 0) report(['hooks', name], EMPTY);
    for (const [index, raw] of groups.entries()) {
      if (areOwnHooks([raw])) continue;
      const at = ['hooks', name, index];
      const wrapped = wrapHook(raw);
      if (wrapped)
        report(at, `is a hook without a group, which ${agent} does not run; here it runs`);
      const group = carryGroup(wrapped ?? raw, key, whose, (path, message, kind) =>
        report([...at, ...(wrapped ? path.slice(2) : path)], message, kind),
      );
      if (group) yield { key, group };
    }
  }
}

/** By its name, as nothing else is known of such an event. */
function mayStop(name: string): boolean {
  return /^(?:before|pre_?(?!compact))|permissionrequest|submit/iu.test(name);
}

function whyNoEvent(name: string, dialect: DialectName): string {
  const { agent } = dialects[dialect];
  const sent = sentEvent(dialects[dialect], name)?.event;
  const isSame = (each: { name: string }) => each.name.toLowerCase() === name.toLowerCase();
  const known = dialects[dialect].events.find(isSame)?.name;
  if (known !== undefined) {
    return `hooks of ${known}, which this is with a capital letter, read and answer other fields: have the hook do so, and write it as ${known}`;
  }
  if (sent === undefined) return `this event of ${agent} does not exist here`;
  return `has no event of its own here, where hooks of ${sent} answer it, once ${agent} runs them: if the hook may run there too, copy it to ${sent}`;
}

/** A group around a hook that was written in place of one. */
function wrapHook(raw: unknown): Record<string, unknown> | undefined {
  if (!isRecord(raw) || raw['hooks'] !== undefined || raw['command'] === undefined)
    return undefined;
  const { matcher, ...hook } = raw;
  return { ...(matcher !== undefined && { matcher }), hooks: [{ type: 'command', ...hook }] };
}

/** Converts nothing: a group that names its dialect is read as it was written. */
function carryGroup(
  raw: unknown,
  key: string,
  { dialect, servers }: Whose,
  report: Report,
): HookDefinition | undefined {
  const group = isRecord(raw) ? { ...raw, dialect } : raw;
  const parsed = parseHookDefinitions({ [key]: [group] }, { scope: 'file' }, servers);
  const named = ourEventName(dialects[dialect], key);
  const canBlock = named !== undefined && events[named].canBlock;
  for (const { path, message, kind } of parsed.problems) {
    const isLost = canBlock && (kind === 'unsupported' || kind === 'unusable');
    report(path.slice(2), message, isLost ? 'lost' : 'changed');
  }
  const hooks: unknown = isRecord(raw) ? raw['hooks'] : undefined;
  if (Array.isArray(hooks) && hooks.length === 0) report(['hooks'], EMPTY);
  const leftOut = new Set(parsed.problems.map(({ path }) => formatPath(path.slice(2))));
  for (const [index, hook] of Array.isArray(hooks) ? hooks.entries() : []) {
    const at = ['hooks', index, 'if'];
    const isConditional = isRecord(hook) && hook['if'] !== undefined;
    if (isConditional && !leftOut.has(formatPath(at))) report(at, CONDITION);
    const fault = whyNeverAsked({ [key]: [{ dialect, hooks: [hook] }] }, dialect);
    if (fault === undefined) continue;
    const message = `the hook cannot be asked: ${fault}`;
    report(['hooks', index, 'url'], message, canBlock ? 'lost' : 'changed');
  }
  const event = Object.values(HookEventName).find((each) => parsed.hooks[each]?.length);
  const [read = { hooks: [] }] = (event && parsed.hooks[event]) ?? [];
  const { origin: _, moment: _moment, ...carried } = read;
  if (!event || carried.hooks.length === 0) return undefined;
  const { idle, subjects } = findUnmatchableNames(carried, event);
  if (idle.length > 0) {
    const names = subjects.join(', ');
    report(['matcher'], `waits for ${idle.join(', ')}, which never comes here, but ${names}`);
  }
  // The servers stand in the file beside the hooks, which name them.
  return { ...carried, hooks: carried.hooks.map(({ mcpServer: _server, ...hook }) => hook) };
}

/** @param hooks with one hook, as what was read does not say where it stood among others */
function whyNeverAsked(hooks: object, dialect: DialectName): string | undefined {
  const groups = Object.values(parseHookDefinitions(hooks, { scope: 'file' }).hooks).flat();
  const hook = groups[0]?.hooks[0];
  if (hook?.type !== 'remote') return undefined;
  try {
    requireAskable(hook, dialect);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

const EMPTY = 'holds no hook, so that there is nothing to carry over';

const CONDITION =
  'becomes "when", which finds the same calls, and looks further: into bash -c, sudo and env, and behind options such as git -C';
