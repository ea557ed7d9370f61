import type { Dialect } from '../dialects/dialect.js';
import {
  DIALECT_NAMES,
  HookEventName,
  MOMENTS,
  type CommandHookConfig,
  type HookDefinition,
  type HookDefinitions,
  type HookOrigin,
} from '../protocol/types.js';
import { withoutForeignKeys } from '../dialects/foreignKeys.js';
import { dialects, foreignEvent, foreignMoment, ourEventName } from '../dialects/dialects.js';
import { events } from '../protocol/events.js';
import {
  describe,
  expecting,
  flag,
  list,
  listOfText,
  nonBlankText,
  oneOf,
  positiveCount,
  readFields,
  reportUnknownKeys,
  text,
  textOf,
  type Field,
  type FieldTable,
  type Path,
  type ProblemKind,
  type Report,
} from '../util/checks.js';
import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';
import { suggestName } from '../util/suggestName.js';

/** One thing that is wrong with hook definitions; everything around it is read all the same. */
export interface SettingsProblem {
  /** Path inside the value, such as `['BeforeTool', 1, 'hooks', 0, 'timeout']`. */
  readonly path: readonly (string | number)[];
  /** What is wrong, and what became of it. */
  readonly message: string;
  readonly kind: ProblemKind;
}

/**
 * Checks hook definitions of any origin, as under the `hooks` key of settings.json, entry by entry.
 * A bad entry is left out, its neighbours stay. Never throws for what a file can contain.
 *
 * @param origin put on every group. With it, an `origin` that `raw` claims for itself is an unknown
 *   key; without it, the `origin` of a group that was loaded earlier is kept.
 * @returns what is valid, in new objects, and one problem for each thing that is not
 */
export function parseHookDefinitions(
  raw: unknown,
  origin?: HookOrigin,
): { hooks: HookDefinitions; problems: SettingsProblem[] } {
  const problems: SettingsProblem[] = [];
  const hooks = readHookDefinitions(raw, origin, (path, message, kind = 'value') =>
    problems.push({ path, message: textOf(message), kind }),
  );
  return { hooks, problems };
}

/** How many hooks, or groups of hooks, are under the `hooks` key, good or bad; whichever are more. */
export function countHooks(raw: unknown): number {
  const groups = isRecord(raw) ? Object.values(raw).flatMap((each) => listOf(each)) : [];
  const hooks = groups.map((group) => (isRecord(group) ? listOf(group['hooks']).length : 0));
  return Math.max(
    groups.length,
    hooks.reduce((sum, count) => sum + count, 0),
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Writes a path as one would in code: `hooks.BeforeTool[1].hooks[0].timeout`. `''` for an empty path. */
export function formatPath(path: readonly (string | number)[]): string {
  return path
    .map((step, depth) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w$-]{1,60}$/.test(step)) return `[${describe(step)}]`;
      return depth === 0 ? step : `.${step}`;
    })
    .join('');
}

type GroupFields = Omit<HookDefinition, 'hooks'> & { readonly hooks: readonly unknown[] };
type CommandFields = Omit<CommandHookConfig, 'dialect' | 'moment' | 'extensionPath' | 'ofProject'>;
type PluginFields = Omit<CommandFields, 'command'> & { readonly command?: string };

/** Keys that plain assignment or a careless merge would turn into something else than a key. */
const UNSAFE_KEYS: readonly string[] = ['__proto__', 'constructor', 'prototype'];

const ORIGIN_SCOPES: ReadonlySet<unknown> = new Set<HookOrigin['scope']>([
  'project',
  'user',
  'system',
  'file',
  'extension',
]);

function timeoutField(
  unit: string,
  advise: (timeout: number) => string | undefined,
): Field<number> {
  return {
    struct: expecting<number>(
      `a number of ${unit} above 0`,
      (value) => Number.isFinite(value) && Number(value) > 0,
      { type: 'number', exclusiveMinimum: 0 },
    ),
    advise,
  };
}

const SECONDS = timeoutField('seconds', (timeout) =>
  timeout >= 1000 ? `${timeout} is in seconds here; did you mean ${timeout / 1000}?` : undefined,
);

const PLUGIN_FIELDS: FieldTable<PluginFields> = {
  type: { struct: oneOf('command', 'plugin'), required: true },
  command: { struct: text },
  // A hook without its arguments would be another one.
  args: { struct: listOfText, vital: true },
  shell: { struct: oneOf('bash'), vital: true },
  name: { struct: text },
  description: { struct: text },
  timeout: timeoutField('milliseconds', (timeout) =>
    timeout < 1000 ? `${timeout} is in milliseconds; did you mean ${timeout * 1000}?` : undefined,
  ),
  env: {
    struct: expecting<Readonly<Record<string, string>>>(
      `an object of strings with no key named ${UNSAFE_KEYS.join(', ')}`,
      (value) =>
        isRecord(value) &&
        Object.entries(value).every(
          ([key, item]) => typeof item === 'string' && !UNSAFE_KEYS.includes(key),
        ),
      {
        type: 'object',
        propertyNames: { not: { enum: UNSAFE_KEYS } },
        additionalProperties: text.schema,
      },
    ),
  },

  onFailure: { struct: oneOf('allow', 'deny') },
  maxConsecutiveFailures: { struct: positiveCount },
  prestart: { struct: flag },
};

/** The keys of one hook that runs a command. */
export const COMMAND_FIELDS: FieldTable<CommandFields> = {
  ...PLUGIN_FIELDS,
  command: { struct: nonBlankText, required: true },
};

/** The keys of one group of hooks in a file. */
export const FILE_GROUP_FIELDS: FieldTable<Omit<GroupFields, 'origin' | 'moment'>> = {
  matcher: { struct: text, vital: true },
  sequential: { struct: flag },
  dialect: { struct: oneOf(...DIALECT_NAMES), vital: true },
  hooks: { struct: list, required: true },
};

const GROUP_FIELDS: FieldTable<GroupFields> = {
  ...FILE_GROUP_FIELDS,
  moment: { struct: oneOf(...MOMENTS), vital: true },
  origin: {
    struct: expecting<HookOrigin>(
      'the origin of loaded settings',
      (value) =>
        isRecord(value) &&
        ORIGIN_SCOPES.has(value.scope) &&
        (value.file === undefined || typeof value.file === 'string'),
    ),
    vital: true,
  },
};

/** Keys of other agents' `hooks` object that have another name, and another place, here. */
const MISPLACED_KEYS: ReadonlyMap<string, string> = new Map([
  ['disabled', 'disabledHooks'],
  ['enabled', 'enableHooks'],
]);

const EVENT_NAMES: readonly string[] = Object.values(HookEventName);

/** The same as {@link parseHookDefinitions}, where `report` is told of each problem. */
export function readHookDefinitions(
  raw: unknown,
  origin: HookOrigin | undefined,
  report: Report,
): HookDefinitions {
  const hooks: { [E in HookEventName]?: HookDefinition[] } = {};
  if (!isRecord(raw)) {
    report([], `expected an object of event names, got ${describe(raw)}; no hook is read from it`);
    return hooks;
  }
  for (const [key, groups] of Object.entries(raw)) {
    if (!Array.isArray(groups)) {
      if (!isEventName(key)) report([key], () => explainUnknownEvent(key), 'unknown-event');
      else if (groups !== undefined)
        report([key], `expected an array of groups, got ${describe(groups)}; it is ignored`);
      continue;
    }
    if (isEventName(key)) hooks[key] ??= [];
    else if (!groups.some((group) => eventOf(key, group))) {
      report([key], () => explainUnknownEvent(key), 'unknown-event');
      continue;
    }
    parseEach(groups, [key], report, (group, reportGroup) => {
      const eventName = eventOf(key, group);
      if (!eventName) reportGroup([], () => explainUnknownEvent(key), 'unknown-event');
      const parsed = eventName && parseGroup(group, key, eventName, origin, reportGroup);
      if (parsed) (hooks[eventName] ??= []).push(parsed);
      return parsed;
    });
  }
  return hooks;
}

/** The event that a key means for one of its groups: keys in the words of a dialect need a group that names it. */
function eventOf(key: string, group: unknown): HookEventName | undefined {
  const spoken = isRecord(group) ? dialectOf(group) : undefined;
  if (spoken) return ourEventName(spoken, key);
  return isEventName(key) ? key : undefined;
}

function dialectOf({ dialect }: Record<string, unknown>): Dialect | undefined {
  return DIALECT_NAMES.filter((name) => name === dialect).map((name) => dialects[name])[0];
}

function parseGroup(
  raw: unknown,
  key: string,
  eventName: HookEventName,
  origin: HookOrigin | undefined,
  report: Report,
): HookDefinition | undefined {
  if (!isRecord(raw)) {
    report(
      [],
      `expected a group { "matcher": …, "hooks": […] }, got ${describe(raw)}; it is ignored`,
    );
    return undefined;
  }
  reportUnknownKeys(raw, origin ? FILE_GROUP_FIELDS : GROUP_FIELDS, report);
  const fields = origin
    ? readFields(raw, FILE_GROUP_FIELDS, 'group', report)
    : readFields(raw, GROUP_FIELDS, 'group', report);
  if (fields === undefined) return undefined;
  const spoken = fields.dialect && dialects[fields.dialect];
  const found = spoken && foreignMoment(spoken, key);
  return {
    ...fields,
    ...(found && { moment: found.moment }),
    ...(origin && { origin }),
    hooks: parseEach(fields.hooks, ['hooks'], report, (hook, reportHook) =>
      parseHook(hook, eventName, spoken, reportHook),
    ),
  };
}

function parseHook(
  raw: unknown,
  eventName: HookEventName,
  spoken: Dialect | undefined,
  report: Report,
): CommandHookConfig | undefined {
  if (!isRecord(raw)) {
    report(
      [],
      `expected a hook { "type": "command", "command": … }, got ${describe(raw)}; it is ignored`,
    );
    return undefined;
  }
  const own = withoutForeignKeys(raw, spoken, report);
  if (!own) return undefined;
  reportUnknownKeys(own, COMMAND_FIELDS, report);
  const timeout = spoken?.timeoutUnit.name === 'seconds' ? SECONDS : PLUGIN_FIELDS.timeout;
  const fields =
    raw.type === 'plugin'
      ? readFields<PluginFields>(own, { ...PLUGIN_FIELDS, timeout }, 'hook', report)
      : readFields<CommandFields>(own, { ...COMMAND_FIELDS, timeout }, 'hook', report);
  if (fields === undefined) return undefined;
  adviseOnFailure(fields, eventName, report);
  return { ...fields, command: fields.command ?? '' };
}

function adviseOnFailure(hook: PluginFields, eventName: HookEventName, report: Report): void {
  if (hook.onFailure !== 'deny') return;
  if (!events[eventName].canBlock) {
    report(['onFailure'], `has no effect: hooks of ${eventName} cannot block`, 'no-effect');
  }
  if (hook.maxConsecutiveFailures !== undefined) {
    const message = 'has no effect beside onFailure "deny": a guard stays on';
    report(['maxConsecutiveFailures'], message, 'no-effect');
  }
}

/** Parses each item by itself, with a report of its own place, and keeps those that came out. */
function parseEach<T>(
  items: readonly unknown[],
  at: Path,
  report: Report,
  parse: (item: unknown, report: Report) => T | undefined,
): T[] {
  return items.flatMap((item, index) => {
    const reportItem: Report = (path, message, kind) =>
      report([...at, index, ...path], message, kind);
    try {
      return parse(item, reportItem) ?? [];
    } catch (error) {
      reportItem([], `cannot be read (${errorMessage(error)}); it is ignored`);
      return [];
    }
  });
}

function explainUnknownEvent(name: string): string {
  const rightKey = MISPLACED_KEYS.get(name);
  if (rightKey !== undefined) {
    return `not an event, ignored; use the key '${rightKey}' at the top level of the file`;
  }
  const foreign = foreignEvent(name);
  if (foreign) {
    const { dialect, ours } = foreign;
    return `not an event here, ignored; use '${ours}', or say "dialect": "${dialect}" in a group that was written for ${dialects[dialect].agent}`;
  }
  return `unknown event, ignored; ${suggestName(name, EVENT_NAMES)}`;
}

function isEventName(name: string): name is HookEventName {
  return EVENT_NAMES.includes(name);
}
