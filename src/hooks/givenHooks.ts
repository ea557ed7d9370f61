import type { Extension } from './entry.js';
import type { HookDefinitions } from '../protocol/types.js';
import { formatPath, type Path } from '../util/checks.js';
import { isRecord } from '../util/records.js';
import { parseHookDefinitions, type SettingsProblem } from './hookSettings.js';

/** Definitions that a host has, from code or from settings files. */
interface GivenHooks {
  readonly hooks: HookDefinitions;
  /** Problems that no warning has reported yet. */
  readonly problems: readonly SettingsProblem[];
}

export function readGivenHooks(raw: unknown): GivenHooks {
  const { hooks, problems } = parseHookDefinitions(raw);
  return { hooks, problems: problems.filter((problem) => !isReported(raw, problem)) };
}

/**
 * Refuses definitions of which a part would be left out or have no effect: who gives them in code has nobody who reads
 * warnings. A value that is only unlikely counts as it is.
 *
 * @throws TypeError that names every problem
 */
export function requireWholeHooks(raw: unknown, extensions: readonly Extension[] = []): void {
  const faults = raw === undefined ? [] : findFaults('hooks', raw);
  for (const extension of extensions) faults.push(...faultsOf(extension));
  if (faults.length === 0) return;
  throw new TypeError(
    `Config has hooks that would not run as they are written: correct them\n${faults.join('\n')}`,
  );
}

function faultsOf(extension: Extension): string[] {
  try {
    const { name, isActive, hooks } = extension;
    return isActive && hooks ? findFaults(`extension ${name}: hooks`, hooks) : [];
  } catch {
    // Who reads the hooks says so, and reads the others.
    return [];
  }
}

function findFaults(at: string, raw: unknown): string[] {
  return [...readGivenHooks(raw).problems.filter(isFault), ...findHidden(raw)].map(
    (problem) => `- ${formatGiven(at, problem)}`,
  );
}

/** As deep as definitions are: events, groups, hooks, and the variables of one. */
const MAX_DEPTH = 7;

type Fault = Pick<SettingsProblem, 'path' | 'message'>;

/**
 * Values that code can read from the definitions and that are ignored: inherited ones, and those that are not
 * enumerable.
 */
function findHidden(raw: unknown, path: Path = []): Fault[] {
  if (typeof raw !== 'object' || raw === null || path.length > MAX_DEPTH) return [];
  try {
    const isList = Array.isArray(raw);
    const own = Object.entries(Object.getOwnPropertyDescriptors(raw));
    const message = 'is inherited, or not enumerable, and ignored; write a plain object';
    return [
      ...(isList ? [] : hiddenNames(raw).map((name) => ({ path: [...path, name], message }))),
      ...own.flatMap(([key, { value }]) =>
        findHidden(value, [...path, isList ? Number(key) : key]),
      ),
    ];
  } catch {
    // Who reads it says so.
    return [];
  }
}

/** Names of values that an object has, and does not list. Methods are no values, and all inherit from the last one. */
function hiddenNames(raw: object): string[] {
  const names = new Set<string>();
  let at: object = raw;
  for (;;) {
    const has = Object.entries(Object.getOwnPropertyDescriptors(at));
    for (const [name, { value }] of has) if (typeof value !== 'function') names.add(name);
    const above = Object.getPrototypeOf(at) as object | null;
    if (above === null || Object.getPrototypeOf(above) === null) break;
    at = above;
  }
  const listed = new Set(Object.keys(raw));
  return [...names].filter((name) => !listed.has(name));
}

/** Whether something is not as it was written. */
export function isFault({ kind }: { readonly kind?: string }): boolean {
  return kind !== 'unlikely-value';
}

/** @param at what was given */
export function formatGiven(at: string, { path, message }: Fault): string {
  return `${[at, formatPath(path)].filter(Boolean).join('.')}: ${message}`;
}

/**
 * Whether a problem was told when the settings file was read from which the group's `origin` is. That reading has left
 * out all that is wrong, and kept what is only unlikely.
 */
function isReported(raw: unknown, { path, kind }: SettingsProblem): boolean {
  if (!KEPT.has(kind)) return false;
  const [event, index] = path;
  const groups = isRecord(raw) ? raw[String(event)] : undefined;
  const group: unknown = Array.isArray(groups) ? groups[Number(index)] : undefined;
  return isRecord(group) && group['origin'] !== undefined;
}

/** Problems of these kinds leave the value as it was written. */
const KEPT: ReadonlySet<SettingsProblem['kind']> = new Set([
  'unlikely-value',
  'no-effect',
  'matcher-invalid',
  'unusable',
]);
