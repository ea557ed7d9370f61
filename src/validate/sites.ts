import { parseHookDefinitions } from '../hooks/hookSettings.js';
import { isHookEventName } from '../protocol/events.js';
import { isRecord } from '../util/records.js';
import type { CheckedFile, GroupSite, HookSite } from './types.js';

/** The groups of a file that the loader takes, each with its place. */
export function findGroups(file: CheckedFile): GroupSite[] {
  const { hooks } = file.value;
  if (!isRecord(hooks)) return [];
  return Object.entries(hooks).flatMap(([key, groups]) =>
    Array.isArray(groups)
      ? groups.flatMap((raw: unknown, index) => readGroup(file, ['hooks', key, index], raw))
      : [],
  );
}

/** The hooks of a file that the loader takes, each with its place. */
export function findHooks(file: CheckedFile): HookSite[] {
  return findGroups(file).flatMap(({ at: groupAt }) =>
    rawHooks(file, groupAt).flatMap((raw, index) => {
      const at = [...groupAt, 'hooks', index];
      return readGroup(file, at, { ...rawGroup(file, groupAt), hooks: [raw] }).flatMap((site) =>
        site.group.hooks.map((hook) => ({ ...site, hook, groupAt })),
      );
    }),
  );
}

/** Asks the loader about one entry at a time, as it does not tell where what it takes was written. */
function readGroup(file: CheckedFile, at: GroupSite['at'], raw: unknown): GroupSite[] {
  const { hooks } = parseHookDefinitions({ [String(at[1])]: [raw] }, file.source);
  return Object.entries(hooks).flatMap(([event, groups]) =>
    isHookEventName(event) ? groups.map((group) => ({ file, event, group, at })) : [],
  );
}

function rawGroup(file: CheckedFile, at: GroupSite['at']): Readonly<Record<string, unknown>> {
  let value: unknown = file.value;
  for (const step of at) value = (value as Record<string | number, unknown>)[step];
  return value as Record<string, unknown>;
}

function rawHooks(file: CheckedFile, at: GroupSite['at']): readonly unknown[] {
  const { hooks } = rawGroup(file, at);
  return Array.isArray(hooks) ? hooks : [];
}
