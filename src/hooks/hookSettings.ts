import {
  DIALECT_NAMES,
  HookEventName,
  type CommandHookConfig,
  type HookDefinition,
  type HookDecision,
  type HookDefinitions,
  type HookOrigin,
  type When,
} from '../protocol/types.js';
import {
  dialects,
  foreignEvent,
  foreignMoment,
  ourEventName,
  readMatcher,
} from '../dialects/dialects.js';
import {
  events,
  failsClosed,
  isAsync,
  isBlockRead,
  isHookEventName,
  isOfTool,
} from '../protocol/events.js';
import { withoutForeignKeys } from './foreignKeys.js';
import {
  describe,
  readFields,
  reportUnknownKeys,
  textOf,
  type FieldTable,
  type Path,
  type ProblemKind,
  type Report,
} from '../util/checks.js';
import { errorMessage } from '../util/errorMessage.js';
import { problemOf as problemOfPattern } from '../rules/patternProblem.js';
import { canRedact } from '../rules/redact.js';
import { NO_GUARD } from '../run/hookFailure.js';
import { isExpression } from '../util/limitedRegExp.js';
import { isRecord } from '../util/records.js';
import { findServer } from './mcpServers.js';
import { suggestName } from '../util/suggestName.js';
import {
  FILE_GROUP_FIELDS,
  GROUP_FIELDS,
  hookFieldsOf,
  readHookFields,
  SECONDS,
  type FileGroupFields,
} from './hookFields.js';

/** One thing that is wrong with hook definitions; everything around it is read all the same. */
export interface SettingsProblem {
  /** Path inside the value, such as `['BeforeTool', 1, 'hooks', 0, 'timeout']`. */
  readonly path: Path;
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
 * @param servers what stands under `mcpServers` of the same file, which its hooks may name
 * @returns what is valid, in new objects, and one problem for each thing that is not
 */
export function parseHookDefinitions(
  raw: unknown,
  origin?: HookOrigin,
  servers?: unknown,
): { hooks: HookDefinitions; problems: SettingsProblem[] } {
  const problems: SettingsProblem[] = [];
  const report: Report = (path, message, kind = 'value') =>
    problems.push({ path, message: textOf(message), kind });
  const hooks = readHookDefinitions(raw, origin, report, servers);
  return { hooks, problems };
}

/** What several origins say together, in their order. */
export function joinHookDefinitions(all: readonly HookDefinitions[]): HookDefinitions {
  const joined: { [E in HookEventName]?: readonly HookDefinition[] } = {};
  for (const eventName of Object.values(HookEventName)) {
    const groups = all.flatMap((hooks) => hooks[eventName] ?? []);
    if (groups.length > 0) joined[eventName] = groups;
  }
  return joined;
}

/** The number of hooks, or of groups if there are more of them, under the `hooks` key, good or bad. */
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

/** Keys of other agents' `hooks` object that have another name, and another place, here. */
const MISPLACED_KEYS: ReadonlyMap<string, string> = new Map([
  ['disabled', 'disabledHooks'],
  ['enabled', 'enableHooks'],
]);

/** The same as {@link parseHookDefinitions}, but calls `report` with each problem. */
export function readHookDefinitions(
  raw: unknown,
  origin: HookOrigin | undefined,
  report: Report,
  servers?: unknown,
): HookDefinitions {
  const hooks: { [E in HookEventName]?: HookDefinition[] } = {};
  if (!isRecord(raw)) {
    report([], `expected an object of event names, got ${describe(raw)}; no hook is read from it`);
    return hooks;
  }
  for (const [key, groups] of Object.entries(raw)) {
    if (!Array.isArray(groups)) {
      if (!isHookEventName(key)) report([key], () => explainUnknownEvent(key), 'unknown-event');
      else if (groups !== undefined)
        report([key], `expected an array of groups, got ${describe(groups)}; it is ignored`);
      continue;
    }
    if (isHookEventName(key)) hooks[key] ??= [];
    else if (!groups.some((group) => eventOf(key, group))) {
      report([key], () => explainUnknownEvent(key), 'unknown-event');
      continue;
    }
    parseEach(groups, [key], report, (group, reportGroup) => {
      const eventName = eventOf(key, group);
      if (!eventName) reportGroup([], () => explainUnknownEvent(key), 'unknown-event');
      const parsed =
        eventName && parseGroup(group, key, { eventName, origin, servers }, reportGroup);
      if (parsed) (hooks[eventName] ??= []).push(parsed);
      return parsed;
    });
  }
  return hooks;
}

/** The event that a key means for one of its groups: another agent's name counts only in groups of that dialect. */
function eventOf(key: string, group: unknown): HookEventName | undefined {
  const dialect = DIALECT_NAMES.find((name) => isRecord(group) && group['dialect'] === name);
  if (dialect) return ourEventName(dialects[dialect], key);
  return isHookEventName(key) ? key : undefined;
}

/** What a group stands in. */
interface Surroundings {
  readonly eventName: HookEventName;
  readonly origin: HookOrigin | undefined;
  readonly servers: unknown;
}

function parseGroup(
  raw: unknown,
  key: string,
  { eventName, origin, servers }: Surroundings,
  report: Report,
): HookDefinition | undefined {
  if (!isRecord(raw)) return reject('a group { "matcher": …, "hooks": […] }', raw, report);
  const table: FieldTable<FileGroupFields> = origin ? FILE_GROUP_FIELDS : GROUP_FIELDS;
  reportUnknownKeys(raw, table, report);
  const fields = readFields(raw, table, 'group', report);
  if (fields === undefined) return undefined;
  if (!checkWhen(fields.when, eventName, report)) return undefined;
  checkMatcher(fields, eventName, report);
  const spoken = fields.dialect && dialects[fields.dialect];
  const found = spoken && foreignMoment(spoken, key);
  return {
    ...fields,
    ...(found && { moment: found.moment }),
    ...(origin && { origin }),
    hooks: parseEach(fields.hooks, ['hooks'], report, (hook, reportHook) =>
      parseHook(hook, { eventName, servers, dialect: fields.dialect }, reportHook),
    ),
  };
}

/** What an expression that is not valid was to match is not known. */
function checkMatcher(
  group: Pick<FileGroupFields, 'matcher' | 'dialect'>,
  eventName: HookEventName,
  report: Report,
): void {
  const { matchOn, dialectsMatchOn } = events[eventName];
  if (!matchOn && !(group.dialect && dialectsMatchOn)) return;
  const reading = readMatcher(group, eventName);
  if (reading === 'all' || 'names' in reading || isExpression(reading.expression)) return;
  const instead =
    reading.otherwise === 'nothing' ? 'matches nothing' : 'is compared as literal text';
  const message = `${describe(group.matcher)} is not a valid regular expression and ${instead}; guards are asked all the same; correct it`;
  report(['matcher'], message, 'matcher-invalid');
}

function parseHook(
  raw: unknown,
  { eventName, servers, dialect }: Omit<Surroundings, 'origin'> & Pick<FileGroupFields, 'dialect'>,
  report: Report,
): CommandHookConfig | undefined {
  const spoken = dialect && dialects[dialect];
  if (!isRecord(raw)) return reject('a hook { "type": "command", "command": … }', raw, report);
  const own = withoutForeignKeys(raw, spoken, report);
  if (!own) return undefined;
  // Definitions that were read before have `command: ''` where a type has no command.
  const { command, ...others } = own;
  reportUnknownKeys(command === '' ? others : own, hookFieldsOf(own['type']), report);
  const timeout = spoken?.timeoutUnit.name === 'seconds' ? SECONDS : undefined;
  const fields = readHookFields(own, report, timeout);
  const told = raw['if'] === undefined ? report : ofCondition(eventName, report);
  if (!fields || !checkWhen(fields.when, eventName, told)) return undefined;
  if (!checkAsync({ ...fields, ...(dialect && { dialect }) }, eventName, report)) return undefined;
  const read = fields.type === 'mcp_tool' ? withServer(fields, servers, report) : fields;
  const hook = read.type === 'rule' ? readRule(read, eventName, report) : read;
  if (hook) adviseOnFailure(hook, eventName, report);
  return hook;
}

/** A hook with the server that it names. Without one it stays, and fails, so that a guard denies. */
function withServer(hook: CommandHookConfig, servers: unknown, report: Report): CommandHookConfig {
  const { server = '' } = hook;
  const mcpServer = hook.mcpServer ?? findServer(servers, server);
  if (typeof mcpServer !== 'string') return { ...hook, mcpServer };
  const message = `the hook fails, as the server ${describe(server)} ${mcpServer}`;
  report(['server'], message, 'unusable');
  return hook;
}

/**
 * A hook that is waited for, though its author did not mean that, would hold everybody up. A guard that is left out would
 * open the door: it stays, and denies.
 */
function checkAsync(hook: CommandHookConfig, eventName: HookEventName, report: Report): boolean {
  if (hook.rewakeMessage !== undefined && hook.asyncRewake !== true) {
    report(['rewakeMessage'], 'has no effect without "asyncRewake": true', 'no-effect');
  }
  const key = hook.asyncRewake === true ? 'asyncRewake' : 'async';
  if (hook[key] !== true || isAsync(hook, eventName)) return true;
  if (failsClosed(hook, eventName)) {
    const message = `is for hooks that nobody waits for, and a guard (onFailure "deny") has to be: what it guards is denied; remove "${key}"`;
    report([key], message, 'unusable');
    return true;
  }
  const why =
    hook.onFailure === 'deny'
      ? 'a guard (onFailure "deny") cannot say it'
      : `${eventName} waits for its hooks`;
  const message = `the hook is left out: ${why}; remove "${key}", or write the hook for one of ${ASYNC_EVENTS.join(', ')}`;
  report([key], message, 'unsupported');
  return false;
}

const ASYNC_EVENTS = Object.values(HookEventName).filter((each) => events[each].canBeAsync);

/** Without its conditions, or with others than were meant, a hook would do something else. */
function checkWhen(when: When | undefined, eventName: HookEventName, report: Report): boolean {
  if (when === undefined) return true;
  if (!isOfTool(eventName)) {
    const message = `is for calls of tools, and ${eventName} has none; what it belongs to is ignored`;
    report(['when'], message, 'unsupported');
    return false;
  }
  const problems = [when].flat().map((pattern) => problemOfPattern(pattern));
  for (const [index, problem] of problems.entries()) {
    const path = typeof when === 'string' ? ['when'] : ['when', index];
    if (problem !== undefined) report(path, `${problem}; what it belongs to is ignored`);
  }
  return problems.every((problem) => problem === undefined);
}

/** What is wrong with `when` that stands for another agent's `if`, without which the hook would have run too often. */
function ofCondition(eventName: HookEventName, report: Report): Report {
  // At an event without tools it never ran.
  const kind = isOfTool(eventName) ? 'unsupported' : 'value';
  return (_path, message) => report(['if'], message, kind);
}

/** At events after a tool or the model, a denial is read by the model, or withholds what was given. */
function isHeard(decision: HookDecision, eventName: HookEventName): boolean {
  if (decision === 'ask') return events[eventName].canAsk === true;
  const isOfAnswer = eventName === HookEventName.AfterModel;
  return decision === 'allow' || isOfAnswer || isBlockRead(eventName);
}

/** A rule that does something. One that keeps something from happening is a guard, unless it says otherwise. */
function readRule(
  rule: CommandHookConfig,
  eventName: HookEventName,
  report: Report,
): CommandHookConfig | undefined {
  const { decision, redact, set, onFailure } = rule;
  if (!decision && !redact && !set) {
    report([], 'a rule needs "decision", "redact" or "set"; it is ignored');
    return undefined;
  }
  if (redact && !canRedact(eventName)) {
    const message = `has nothing to replace at ${eventName}: use AfterTool, BeforeModel or AfterModel; the whole hook is ignored`;
    report(['redact'], message, 'unsupported');
    return undefined;
  }
  if (set && eventName !== HookEventName.BeforeTool) {
    const message = `is for BeforeTool, where arguments can be changed; the whole hook is ignored`;
    report(['set'], message, 'unsupported');
    return undefined;
  }
  if (decision && !isHeard(decision, eventName)) {
    report(['decision'], `${describe(decision)} has no effect at ${eventName}`, 'no-effect');
  }
  const prevents = redact !== undefined || decision === 'ask' || decision === 'deny';
  if (onFailure !== undefined || !prevents) return rule;
  const isGuard = failsClosed({ onFailure: 'deny' }, eventName);
  return isGuard ? { ...rule, onFailure: 'deny' } : rule;
}

function reject(expected: string, raw: unknown, report: Report): undefined {
  report([], `expected ${expected}, got ${describe(raw)}; it is ignored`);
}

function adviseOnFailure(hook: CommandHookConfig, eventName: HookEventName, report: Report): void {
  if (hook.onFailure !== 'deny') return;
  if (hook.type === 'prompt') {
    report(['onFailure'], `${NO_GUARD}; as it is, it denies`, 'unusable');
  }
  if (!failsClosed(hook, eventName)) {
    report(['onFailure'], `has no effect: hooks of ${eventName} cannot block`, 'no-effect');
  }
  if (hook.maxConsecutiveFailures !== undefined) {
    const message = 'has no effect beside onFailure "deny": a guard stays on';
    report(['maxConsecutiveFailures'], message, 'no-effect');
  }
}

/** Parses each item by itself, with a report for its place, and keeps the good ones. */
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
  return `unknown event, ignored; ${suggestName(name, Object.values(HookEventName))}`;
}
