import type { JsonEdit } from '../shared/editJson.js';
import { isRecord } from '../../util/records.js';
import { areOwnHooks, isOwnHook, readOwnCommand, type OwnCommand } from '../shared/ownHook.js';

/** The hook that runs all others. */
export interface OwnEntry {
  readonly type: 'command';
  readonly name?: string;
  readonly command: string;
  /** In the unit of the agent. */
  readonly timeout: number;
}

type Settings = Readonly<Record<string, unknown>>;

/** Adds the entry to each event that lacks it, and renews what it starts. What users have added to it stays. */
export function additions(
  settings: Settings,
  events: readonly string[],
  entry: OwnEntry,
): JsonEdit[] {
  return events.flatMap((event): JsonEdit[] => {
    const found = [...ownHooks(settings, event)];
    const renewals = found.flatMap(({ group, at, hook, own }) => {
      const renewed = { command: renew(own, entry), timeout: hook['timeout'] ?? entry.timeout };
      return (['command', 'timeout'] as const).flatMap((key) =>
        hook[key] === renewed[key]
          ? []
          : [{ path: ['hooks', event, group, 'hooks', at, key], value: renewed[key] }],
      );
    });
    if (found.some(({ isForAll }) => isForAll)) return renewals;
    const added = { path: ['hooks', event, -1], value: { hooks: [entry] }, isInsertion: true };
    return [...renewals, added];
  });
}

function renew({ variables, rest }: OwnCommand, { command }: OwnEntry): string {
  const [start = '', end] = command.split(' || ');
  return `${variables}${start}${rest}${end === undefined || rest.includes('||') ? '' : ` || ${end}`}`;
}

/** Events whose hooks run for a part of them only, such as for one tool. */
export function partialEvents(settings: Settings, events: readonly string[]): string[] {
  return events.filter((event) => {
    const found = [...ownHooks(settings, event)];
    return found.length > 0 && !found.some(({ isForAll }) => isForAll);
  });
}

/** Commands that start ours, and something else as well: nobody but the user knows what they are for. */
export function mixedCommands({ hooks }: Settings): string[] {
  const groups = isRecord(hooks) ? Object.values(hooks).flatMap(listOf) : [];
  const inside = groups.flatMap((group) => (isRecord(group) ? listOf(group['hooks']) : []));
  const commands = inside.filter(isRecord).flatMap((hook) => {
    const { command } = hook;
    const isMixed = typeof command === 'string' && MENTION.test(command) && !isOwnHook(hook);
    return isMixed ? [command] : [];
  });
  return [...new Set(commands)];
}

const MENTION = /\b(?:hookstack|cli\.c?js)["']?\s+hook\b/;

/** Takes the entry out of all events, and what is empty then. From the end, as each edit moves what comes after it. */
export function removals(settings: Settings): JsonEdit[] {
  const { hooks } = settings;
  if (!isRecord(hooks)) return [];
  const names = Object.keys(hooks);
  const isOwn = (event: string) => areOwnHooks(hooks[event]);
  if (names.length > 0 && names.every(isOwn)) return [{ path: ['hooks'], value: undefined }];
  return names.flatMap((event) => {
    if (isOwn(event)) return [{ path: ['hooks', event], value: undefined }];
    const groups = listOf(hooks[event]);
    return [...ownHooks(settings, event)].toReversed().flatMap(({ group, at }) => {
      if (!areOwnHooks([groups[group]])) {
        return [{ path: ['hooks', event, group, 'hooks', at], value: undefined }];
      }
      return at === 0 ? [{ path: ['hooks', event, group], value: undefined }] : [];
    });
  });
}

function* ownHooks({ hooks }: Settings, event: string) {
  const groups = isRecord(hooks) ? listOf(hooks[event]) : [];
  for (const [group, raw] of groups.entries()) {
    const inside = isRecord(raw) ? listOf(raw['hooks']) : [];
    for (const [at, hook] of inside.entries()) {
      const own = isRecord(hook) ? readOwnCommand(hook) : undefined;
      if (!own || !isRecord(raw) || !isRecord(hook)) continue;
      yield { group, at, hook, own, isForAll: countsForAll(raw, hook) };
    }
  }
}

/** What an agent does not wait for, or runs for some calls only, is no way to ask guards about all of them. */
function countsForAll({ matcher = '' }: Settings, hook: Settings): boolean {
  const isLess = ['if', 'async', 'asyncRewake', 'once'].some((key) => Boolean(hook[key]));
  return !isLess && hook['type'] === 'command' && (matcher === '' || matcher === '*');
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
