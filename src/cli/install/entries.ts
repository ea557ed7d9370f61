import type { JsonEdit } from '../../config/settings/editJson.js';
import { isRecord } from '../../util/records.js';
import { areOwnHooks, isOwnHook } from '../shared/ownHook.js';

/** The hook that runs all others. */
export interface OwnEntry {
  readonly type: 'command';
  readonly name?: string;
  readonly command: string;
  /** In the unit of the agent. */
  readonly timeout: number;
}

type Settings = Readonly<Record<string, unknown>>;

/** Adds the entry to each event that lacks it, and renews it where it is another one. */
export function additions(
  settings: Settings,
  events: readonly string[],
  entry: OwnEntry,
): JsonEdit[] {
  return events.flatMap((event): JsonEdit[] => {
    const found = [...ownHooks(settings, event)];
    if (found.length === 0) {
      return [{ path: ['hooks', event, -1], value: { hooks: [entry] }, isInsertion: true }];
    }
    return found.flatMap(({ group, at, hook }) =>
      (['command', 'timeout'] as const).flatMap((key) =>
        hook[key] === entry[key]
          ? []
          : [{ path: ['hooks', event, group, 'hooks', at, key], value: entry[key] }],
      ),
    );
  });
}

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
      if (isRecord(hook) && isOwnHook(hook)) yield { group, at, hook };
    }
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
